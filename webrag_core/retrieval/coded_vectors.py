"""The vectors of a large corpus in the memory of a process, at less than their precision: 320 MB for a million.

Each vector of 256 dimensions is held twice: as the signs of what it has beyond the mean vector, 32 bytes, and as whole
numbers from -127 to 127 with a scale, 260 bytes. A search compares all signs (Hamming distance), then the whole numbers
of the nearest twentieth, and hands on what may be among the nearest; the server compares these by the whole vectors.
Figures are from `python -m benchmarks.retrieval.vector_scans`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.retrieval.held_rows import Held
from webrag_core.retrieval.scope import Scope

_LEAST = 20_000  # of them
_ROUNDING = 0.003  # of a cosine, in which whole numbers may be wrong: five standard deviations at 256 dimensions
_BLOCK = 4096  # rows that stay in a processor's cache
_SAMPLE = 50  # every such vector counts in the mean
_LARGEST = 127


@dataclass(frozen=True, slots=True)
class CodedVectors:
    """Vectors of n children, of unit length. `codes` of shape (n, dimensions) times `scales` of shape (n,) are nearly
    the vectors; `signs` of shape (words, n) has a bit for each dimension, whether it is above that of `centre`. `share`
    is that of the vectors whose whole numbers are compared."""

    children: Held
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    centre: NDArray[np.float32]
    signs: NDArray[np.uint64]
    share: float = 0.05

    def nearest(self, query: NDArray[np.float32], scope: Scope, limit: int, margin: float) -> list[int]:
        """Ids of the children of the scope that are probably among the `limit` nearest, or at most `margin` of a cosine
        behind them, in no particular order; as many as there are where these are fewer than `limit`."""
        unit = query / np.linalg.norm(query)
        rows = self._near_by_signs(unit, self.children.inside(scope))
        cosines = self._by_codes(unit, rows)
        if limit < len(rows):
            rows = rows[cosines >= np.partition(cosines, -limit)[-limit] - margin - 2 * _ROUNDING]
        return [int(chunk) for chunk in self.children.chunks[rows]]

    def _near_by_signs(self, unit: NDArray[np.float32], inside: NDArray[np.bool_] | None) -> NDArray[np.intp]:
        """Rows inside that have the most signs of the query."""
        total = len(self.scales)
        wanted = max(_LEAST, round(total * self.share))
        within = total if inside is None else int(np.count_nonzero(inside))
        if within <= wanted:
            return np.arange(total) if inside is None else np.flatnonzero(inside)
        (bits,) = _packed(unit[None] - self.centre)
        # where all 256 signs differ the sum begins again at 0: a row too many, whose whole numbers are far
        distances = np.bitwise_count(self.signs[0] ^ bits[0])
        if len(self.centre) > 256:
            distances = distances.astype(np.uint16)
        for word, bit in zip(self.signs[1:], bits[1:], strict=True):
            distances += np.bitwise_count(word ^ bit)
        counts = np.bincount(distances if inside is None else distances[inside])
        farthest = int(np.searchsorted(np.cumsum(counts), wanted))
        near = distances <= farthest
        return np.flatnonzero(near if inside is None else near & inside)

    def _by_codes(self, unit: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        cosines = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            # not by BLAS: it would start threads for it, which wait for each other on a busy machine
            cosines[start : start + _BLOCK] = np.einsum("ij,j->i", self.codes[block].astype(np.float32), unit)
        cosines *= self.scales[rows]
        return cosines


@dataclass(frozen=True, slots=True)
class CodedPart:
    """Some of the children, with `codes` and `scales` as in `CodedVectors`."""

    children: Held
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]


def code_part(children: Held, vectors: NDArray[np.float32]) -> CodedPart | None:
    """Code vectors of shape (n, dimensions) and any length. None where one has no length, and therefore no cosine."""
    lengths = np.linalg.norm(vectors, axis=1)
    if not lengths.all():
        return None
    largest = np.abs(vectors).max(axis=1)
    codes = np.rint(vectors * (_LARGEST / largest)[:, None]).astype(np.int8)
    return CodedPart(children, codes, (largest / _LARGEST / lengths).astype(np.float32))


def joined(parts: Sequence[CodedPart]) -> CodedVectors:
    """The vectors of these parts (at least one), one part behind the other."""
    codes, scales = np.concatenate([part.codes for part in parts]), np.concatenate([part.scales for part in parts])
    centre = (codes[::_SAMPLE] * scales[::_SAMPLE, None]).mean(axis=0, dtype=np.float32)
    signs = [
        _packed(codes[start : start + _BLOCK] * scales[start : start + _BLOCK, None] - centre)
        for start in range(0, len(codes), _BLOCK)
    ]
    children = Held.joined([part.children for part in parts])
    return CodedVectors(children, codes, scales, centre, np.ascontiguousarray(np.concatenate(signs).T))


def bytes_needed(rows: int, dimensions: int) -> int:
    """Of memory, for so many vectors: signs, whole numbers, scales and five ids."""
    return rows * (dimensions + dimensions // 8 + 4 + 8 + 4 * 4)


def _packed(differences: NDArray[np.float32]) -> NDArray[np.uint64]:
    """A bit for each dimension, set where it is above 0, in words of 64: shape (n, words)."""
    bits = np.packbits(differences > 0, axis=1)
    words = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : bits.shape[1]] = bits
    return words.view(np.uint64)
