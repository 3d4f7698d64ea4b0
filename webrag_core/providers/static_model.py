"""The static model that ships inside the `wordllama` wheel: tokenizer and 256-dimensional token vectors, offline."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from wordllama.inference import WordLlamaInference

_WEIGHTS = Path(__file__).with_name("token_weights.npy")
_BATCH = 256  # texts
_LEAST_LETTERS = 3  # of a token that means something by itself


@lru_cache(maxsize=1)
def static_model() -> WordLlamaInference:
    """Load once per process (0.3 s, about 120 MB)."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    import wordllama

    root.handlers[:], root.level = handlers, level  # its import configures the root logger
    # the wheel ships `tokenizers/` but looks in `tokenizer/`: pointing the cache at the package finds both
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    # a copy without padding, so that lengths are lengths
    tokenizer = Tokenizer.from_str(static_model().tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def count_tokens(texts: list[str]) -> list[int]:
    """Tokens of each text in the Llama-2 vocabulary (32,000), without start or end marks."""
    encodings = _tokenizer().encode_batch_fast(texts, add_special_tokens=False)
    return [len(encoding.ids) for encoding in encodings]


def token_ids(texts: Sequence[str]) -> list[NDArray[np.uint16]]:
    """Token ids of each text in order, without start or end marks; each below 32,000."""
    return [
        np.array(encoding.ids, dtype=np.uint16)
        for first in range(0, len(texts), _BATCH)  # a token takes 60 bytes until its id is copied
        for encoding in _tokenizer().encode_batch_fast(list(texts[first : first + _BATCH]), add_special_tokens=False)
    ]


def word_rarities(words: Sequence[str]) -> list[float]:
    """Rarity in general language of each word: the largest weight of its tokens (`token_weights`), 0 for none."""
    weights = token_weights()
    return [float(max(weights[ids], default=0.0)) for ids in token_ids([f" {word}" for word in words])]


def known_letters(text: str) -> float:
    """Share of the letters of `text` that stand in tokens of at least three letters, in [0, 1]: how far the vocabulary,
    made of English for the most part, has its words. 1 without letters."""
    letters = sum(map(str.isalpha, text))
    lengths = _letters_of_tokens()[token_ids([text])[0]]
    return min(1.0, float(lengths[lengths >= _LEAST_LETTERS].sum()) / letters) if letters else 1.0


@lru_cache(maxsize=1)
def _letters_of_tokens() -> NDArray[np.int32]:
    return np.array(
        [0 if token.startswith("<0x") else sum(map(str.isalpha, token)) for token in token_texts()], dtype=np.int32
    )


def token_texts() -> list[str]:
    """Text of every token by id, with `▁` for a space."""
    vocabulary = _tokenizer().get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


@lru_cache(maxsize=1)
def token_vectors() -> NDArray[np.float32]:
    """Unit-length vector of every token, shape (32000, 256)."""
    vectors = np.asarray(static_model().embedding, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), dtype=np.float32)


@lru_cache(maxsize=1)
def token_weights() -> NDArray[np.float32]:
    """Inverse document frequency of every token in general language, shape (32000,), 0 upwards.

    From word frequencies of the `wordfreq` package, no website; made by `python -m evals.fitting.token_weights`.
    """
    return np.asarray(np.load(_WEIGHTS), dtype=np.float32)
