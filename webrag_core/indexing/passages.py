"""What the scorer reads of a text: its terms in order and its distinct tokens. Stored beside every child chunk.

Terms are kept as 32-bit codes, so that thousands of passages are compared with a query in one array operation; two
terms share a code once in 4,000 million pairs, and then a passage scores a little too well.
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


@dataclass(frozen=True, slots=True)
class Passage:
    """Codes of the terms in order (duplicates kept) and the distinct token ids, ascending."""

    terms: NDArray[np.uint32]
    tokens: NDArray[np.uint16]

    def packed(self) -> bytes:
        """As it is stored: the number of terms, the terms, the tokens, all little-endian."""
        count = np.array([len(self.terms)], dtype=_COUNT)
        return count.tobytes() + self.terms.astype(_CODE).tobytes() + self.tokens.astype(_TOKEN).tobytes()

    @classmethod
    def unpacked(cls, stored: bytes) -> Passage:
        """The passage that `packed` gave. Raises IntegrityError for bytes that it cannot have given."""
        head = _COUNT.itemsize
        count = int.from_bytes(stored[:head], "little")
        middle = head + count * _CODE.itemsize
        if len(stored) < max(head, middle) or (len(stored) - middle) % _TOKEN.itemsize:
            raise IntegrityError(f"a stored passage of {len(stored)} bytes is cut off")
        return cls(np.frombuffer(stored, _CODE, count, head), np.frombuffer(stored, _TOKEN, offset=middle))


def term_codes(words: Iterable[str]) -> NDArray[np.uint32]:
    """One code per term, in order. The same in every process."""
    return np.fromiter((zlib.crc32(word.encode()) for word in words), dtype=np.uint32)


def cut_passages(texts: Sequence[str]) -> list[Passage]:
    """The passages of these texts (without Markdown marks). Raises nothing; an empty text is an empty passage."""
    return [Passage(term_codes(terms(text)), np.unique(ids)) for text, ids in zip(texts, token_ids(texts), strict=True)]
