"""The static model that ships inside the `wordllama` wheel: tokenizer and 256-dimensional token vectors, offline."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from wordllama.inference import WordLlamaInference


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
