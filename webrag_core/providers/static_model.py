"""The static model that ships inside the `wordllama` wheel: tokenizer and 256-dimensional token vectors, offline.

Only these two files of the wheel are used, none of its code.
Its tokenizer looks at a text as a whole. No token of its vocabulary reaches over the end of a word, a number or a run
of marks, though, so the tokens of a text are those of its pieces, which are looked up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_KINDS = {"F16": np.float16, "F32": np.float32}
_WEIGHTS = Path(__file__).with_name("token_weights.npy")
_MAX_PIECES = 100_000  # remembered: about 20 MB
_MAX_PIECE = 40  # characters of one that is remembered
# words and runs of marks, with the spaces before them (a space is the first character of a token, never a later one),
# digits, line ends; beside characters that are not ASCII all up to the next space, for there tokens mix
_PIECE = re.compile(
    r" *+[A-Za-z]++(?![^ -~\n])| *+[!-/:-@\[-`{-~]++(?![^ -~\n])|[0-9]{1,3}| ++(?=[0-9\n]|\Z)| *+[^ \n]+|\n+| +"
)
_WHOLE = re.compile("<s>|</s>|<unk>|\u2581")  # what the tokenizer takes for marks of its own
_BATCH = 256  # texts
_LEAST_LETTERS = 3  # of a token that means something by itself


def _file(*parts: str) -> str:
    """Path of a file of the wheel, which is not imported: that would set up the root logger."""
    package = find_spec("wordllama")
    assert package is not None
    assert package.origin is not None
    return str(Path(package.origin).parent.joinpath(*parts))


class _Rows:
    """Vectors of the vocabulary's 32,000 tokens, each made by `make` when it is first asked for: a command with one
    question needs hundreds of them, and all take a tenth of a second."""

    def __init__(self, make: Callable[[NDArray[np.int64]], NDArray[np.float32]]) -> None:
        self._make = make
        self._table = np.empty(_file_table().shape, dtype=np.float32)  # takes no memory where nothing is written
        self._is_made = np.zeros(len(self._table), dtype=bool)
        self._is_whole = False

    def all(self) -> NDArray[np.float32]:
        """The whole table."""
        if not self._is_whole:
            self.with_rows(np.arange(len(self._table)))
            self._is_whole = True
        return self._table

    def with_rows(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """The table, in which these rows are made; others may be anything."""
        if not self._is_whole:
            missing = np.unique(ids[~self._is_made[ids]]).astype(np.int64)
            if len(missing):
                self._table[missing] = self._make(missing)
                self._is_made[missing] = True  # after the rows: a thread that comes between makes them, too
        return self._table


@lru_cache(maxsize=1)
def _file_table() -> NDArray[np.float16]:
    """Vector of every token in the model's file, which is not read but where it is looked at."""
    file = Path(_file("weights", "l2_supercat_256.safetensors"))
    with file.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        entry = json.loads(stream.read(size))["embedding.weight"]
    begin = 8 + size + entry["data_offsets"][0]
    return np.memmap(file, dtype=_KINDS[entry["dtype"]], mode="r", offset=begin, shape=tuple(entry["shape"]))


@lru_cache(maxsize=1)
def _model_rows() -> _Rows:
    """Vectors as the model has them."""
    return _Rows(lambda ids: _file_table()[ids].astype(np.float32))


@lru_cache(maxsize=1)
def _unit_rows() -> _Rows:
    """The same at unit length."""

    def make(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        vectors = _model_rows().with_rows(ids)[ids]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-9), dtype=np.float32)

    return _Rows(make)


def _read_tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(_file("tokenizers", "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()  # lengths are lengths
    tokenizer.no_truncation()
    return tokenizer


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    """Of whole texts, which few need."""
    return _read_tokenizer()


class _Pieces(dict[str, bytes]):
    """Piece of a text -> its token ids, two bytes each."""

    def __init__(self) -> None:
        super().__init__()
        from tokenizers import normalizers

        self.tokenizer = _read_tokenizer()
        self.tokenizer.normalizer = normalizers.Replace(" ", "\u2581")  # without the space before a whole text

    def __missing__(self, piece: str) -> bytes:
        ids = np.array(self.tokenizer.encode(piece, add_special_tokens=False).ids, dtype=np.uint16).tobytes()
        if len(piece) <= _MAX_PIECE:
            if len(self) >= _MAX_PIECES:
                self.clear()
            self[piece] = ids
        return ids


@lru_cache(maxsize=1)
def _pieces() -> _Pieces:
    return _Pieces()


def _packed_ids(text: str) -> bytes:
    """Token ids of a text, two bytes each, without start or end marks."""
    if not text:
        return b""
    if _WHOLE.search(text):
        ids = _tokenizer().encode_batch_fast([text], add_special_tokens=False)[0].ids
        return np.array(ids, dtype=np.uint16).tobytes()
    return b"".join(map(_pieces().__getitem__, _PIECE.findall(" " + text)))


def load(*, whole: bool = True) -> None:
    """Read the model's files, which else its first use does: a fifth of a second. Not `whole` = without the vectors of
    tokens that no text has yet, for a process that ends soon: half of it."""
    _pieces()
    token_weights()
    if whole:
        token_vectors()


def count_tokens(texts: list[str]) -> list[int]:
    """Tokens of each text in the Llama-2 vocabulary (32,000), without start or end marks."""
    return [len(_packed_ids(text)) // 2 for text in texts]


def token_ids(texts: Sequence[str]) -> list[NDArray[np.uint16]]:
    """Token ids of each text in order, without start or end marks; each below 32,000."""
    return [np.frombuffer(_packed_ids(text), dtype=np.uint16) for text in texts]


def text_vectors(ids: Sequence[NDArray[np.uint16]]) -> NDArray[np.float32]:
    """Unit-length mean of the token vectors of each text, by its `token_ids`; NaN for a text without tokens."""
    rows = _model_rows()
    means = np.empty((len(ids), _file_table().shape[1]), dtype=np.float32)
    for row, tokens in enumerate(ids):
        table = rows.with_rows(tokens)
        np.sum(table[tokens], axis=0, dtype=np.float32, out=means[row])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means


def word_rarities(words: Sequence[str]) -> list[float]:
    """Rarity in general language of each word: the largest weight of its tokens (`token_weights`), 0 for none."""
    weights = token_weights()
    return [float(max(weights[ids], default=0.0)) for ids in token_ids([f" {word}" for word in words])]


def known_letters(text: str) -> float:
    """Share of the letters of `text` that stand in tokens of at least three letters, in [0, 1]: how far the vocabulary,
    made of English for the most part, has its words. 1 without letters."""
    letters = sum(map(str.isalpha, text))
    lengths = map(_letters_of_token, token_ids([text])[0].tolist())
    return min(1.0, sum(length for length in lengths if length >= _LEAST_LETTERS) / letters) if letters else 1.0


@lru_cache(maxsize=4096)  # those of a few hundred questions; to count those of all tokens takes a tenth of a second
def _letters_of_token(token_id: int) -> int:
    token = _pieces().tokenizer.id_to_token(token_id)
    return 0 if token is None or token.startswith("<0x") else sum(map(str.isalpha, token))


def token_texts() -> list[str]:
    """Text of every token by id, with `▁` for a space."""
    vocabulary = _pieces().tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


def token_vectors(ids: NDArray[np.integer] | None = None) -> NDArray[np.float32]:
    """Unit-length vector of every token, shape (32000, 256); with `ids` the others may be anything."""
    return _unit_rows().all() if ids is None else _unit_rows().with_rows(ids)


@lru_cache(maxsize=1)
def token_weights() -> NDArray[np.float32]:
    """Inverse document frequency of every token in general language, shape (32000,), 0 upwards.

    From word frequencies of the `wordfreq` package, no website; made by `python -m evals.fitting.token_weights`.
    """
    return np.asarray(np.load(_WEIGHTS), dtype=np.float32)
