"""Scorer features of a text, stored with every child chunk: terms in order and distinct tokens.

Terms are 32-bit hashes, so that a query is compared with thousands of passages in one array operation. A collision
(1 in 4,000 million pairs) raises a score slightly.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.errors import IntegrityError
from webrag_core.indexing.terms import terms
from webrag_core.providers.static_model import token_ids

PASSAGES_VERSION = 1
"""Version of the stored form; the terms in it have one of their own (`TERMS_VERSION`)."""

_COUNT = np.dtype("<u4")
_CODE = np.dtype("<u4")
_TOKEN = np.dtype("<u2")


@dataclass(slots=True)  # a frozen one takes three times as long to make, and a search makes hundreds
class Passage:
    """Codes of the terms in order (with duplicates) and the distinct token ids, ascending."""

    terms: NDArray[np.uint32]
    tokens: NDArray[np.uint16]

    def packed(self) -> bytes:
        """Serialise: number of terms, terms, tokens, all little-endian."""
        count = np.array([len(self.terms)], dtype=_COUNT)
        return count.tobytes() + self.terms.astype(_CODE).tobytes() + self.tokens.astype(_TOKEN).tobytes()

    @classmethod
    def unpacked(cls, stored: bytes) -> Passage:
        """Parse the output of `packed`. Raises IntegrityError for invalid bytes."""
        head = _COUNT.itemsize
        count = int.from_bytes(stored[:head], "little")
        middle = head + count * _CODE.itemsize
        if len(stored) < max(head, middle) or (len(stored) - middle) % _TOKEN.itemsize:
            raise IntegrityError(f"a stored passage of {len(stored)} bytes is truncated")
        return cls(np.frombuffer(stored, _CODE, count, head), np.frombuffer(stored, _TOKEN, offset=middle))


def term_codes(words: Iterable[str]) -> NDArray[np.uint32]:
    """Hash each term, in order; stable across processes."""
    return np.fromiter(map(zlib.crc32, map(str.encode, words)), dtype=np.uint32)


def extract_passages(
    texts: Sequence[str], language: str | None = None, ids: Sequence[NDArray[np.uint16]] | None = None
) -> list[Passage]:
    """Extract features of plain texts in a language (None = not clear), whose `token_ids` may be known; an empty text
    gives an empty passage."""
    ids = token_ids(texts) if ids is None else ids
    return [
        Passage(term_codes(terms(text, language)), np.unique(tokens)) for text, tokens in zip(texts, ids, strict=True)
    ]
