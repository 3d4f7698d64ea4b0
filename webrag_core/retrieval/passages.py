"""What the scorer reads of a text: its terms in order and its distinct tokens. Cut once per text and process.

Terms are kept as 32-bit codes, so that thousands of passages are compared with a query in one array operation; two
terms share a code once in 4,000 million pairs, and then a passage scores a little too well.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.indexing.static_model import token_ids
from webrag_core.indexing.terms import terms

_KEPT = 50_000  # about 1 kB each


@dataclass(frozen=True, slots=True)
class Passage:
    """Codes of the terms in order (duplicates kept) and the distinct token ids, ascending."""

    terms: NDArray[np.uint32]
    tokens: NDArray[np.uint16]


def term_codes(words: Iterable[str]) -> NDArray[np.uint32]:
    """One code per term, in order. The same in every process."""
    return np.fromiter((zlib.crc32(word.encode()) for word in words), dtype=np.uint32)


def cut_passages(texts: Sequence[str]) -> list[Passage]:
    """The passages of these texts (without Markdown marks). Raises nothing; an empty text is an empty passage."""
    return [Passage(term_codes(terms(text)), np.unique(ids)) for text, ids in zip(texts, token_ids(texts), strict=True)]


class PassageCache:
    """Passages by the digest of their text. Safe for concurrent use: what is lost is only cut again."""

    def __init__(self) -> None:
        self._known: dict[str, Passage] = {}

    def missing(self, digests: Iterable[str]) -> list[str]:
        """Those of `digests` that are not known, each once, in order."""
        return [digest for digest in dict.fromkeys(digests) if digest not in self._known]

    def get(self, digests: Sequence[str], texts: Mapping[str, str]) -> list[Passage]:
        """The passages of `digests`; `texts` must hold the text of every one that is missing."""
        found = {digest: self._known[digest] for digest in digests if digest in self._known}
        unknown = [digest for digest in dict.fromkeys(digests) if digest not in found]
        cut = dict(zip(unknown, cut_passages([texts[digest] for digest in unknown]), strict=True))
        if len(self._known) + len(cut) > _KEPT:
            self._known.clear()
        self._known.update(cut)
        found |= cut
        return [found[digest] for digest in digests]
