"""BM25 over the postings in memory (`resident_index`): the same parents with the same scores as the server's statement
(`bm25`), which says what is read in full, what in part, and what only for candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.indexing.lexical import FREQUENCIES
from webrag_core.retrieval.resident_index import Postings
from webrag_core.retrieval.scope import Scope

Array = NDArray[np.float64]

_DIGITS = 1e9  # scores are rounded before they are compared: sums depend on the order of their parts


@dataclass(frozen=True, slots=True)
class WordScores:
    """Parameters of BM25, with the mean length of the parents of the scope."""

    k1: float
    b: float
    mean: float

    def total(self, postings: Postings, at: NDArray[np.int64], idf: NDArray[np.float64] | NDArray[np.float32]) -> Array:
        """The score of every parent by the postings at these positions, each with the idf of its term."""
        frequency = postings.frequencies[at].astype(np.float64)
        holders = postings.holders[at]
        norm = frequency + self.k1 * ((1 - self.b) + self.b * postings.lengths[holders] / self.mean)
        parts = idf * frequency * (self.k1 + 1) / norm
        return np.asarray(np.bincount(holders, weights=parts, minlength=len(postings.lengths)), dtype=np.float64)


def count_holders(postings: Postings, ids: Sequence[int], scope: Scope) -> list[int]:
    """Number of parents of the scope that hold each term."""
    at, which = postings.of_codes(np.array(ids, dtype=np.int64) * FREQUENCIES, FREQUENCIES)
    inside = postings.parents.inside(scope)
    if inside is not None:
        which = which[inside[postings.holders[at]]]
    return [int(count) for count in np.bincount(which, minlength=len(ids))]


def within(postings: Postings, scores: Array, scope: Scope) -> Array:
    """The scores, 0 outside the scope."""
    inside = postings.parents.inside(scope)
    return scores if inside is None else np.where(inside, scores, 0.0)


def add_codes(postings: Postings, scores: WordScores, codes: Sequence[int], idf: Sequence[float]) -> Array:
    """The score of every parent by the postings of these codes."""
    at, which = postings.of_codes(np.array(codes, dtype=np.int64))
    return scores.total(postings, at, np.array(idf)[which])


def add_terms(
    postings: Postings,
    scores: WordScores,
    ids: Sequence[int],
    idf: Sequence[float],
    without: Sequence[int] = (),
    among: NDArray[np.bool_] | None = None,
) -> Array:
    """The score of every parent, 0 of those that are not `among` the wanted ones, by these terms, but for the codes
    that are counted already."""
    at, which = postings.of_codes(np.array(ids, dtype=np.int64) * FREQUENCIES, FREQUENCIES)
    if among is not None:
        held = among[postings.holders[at]]
        at, which = at[held], which[held]
    if without:
        left = ~np.isin(postings.codes[at], np.array(without, dtype=np.int32))
        at, which = at[left], which[left]
    return scores.total(postings, at, np.array(idf)[which])


def best_parents(
    postings: Postings, partial: Array, rest: Callable[..., Array] | None, *, pool: int, limit: int, also: Sequence[int]
) -> list[tuple[int, float]]:
    """Ids and scores: the `limit` best of the `pool` best by `partial`, both with those that are as good, equal ones by
    URL and in reading order; behind them those of `also`. The score is `partial` and the `rest` of those parents;
    without any there is none.
    """
    chunks = postings.parents.chunks
    others = np.array(also, dtype=np.int64)
    place = np.minimum(np.searchsorted(chunks, others), len(chunks) - 1)
    is_other = np.zeros(len(chunks), dtype=bool)
    is_other[place[chunks[place] == others]] = True
    rounded = np.rint(partial * _DIGITS)
    foremost = np.flatnonzero(partial > 0)
    if len(foremost) > pool:
        least = np.partition(rounded[foremost], -pool)[-pool]
        foremost = foremost[rounded[foremost] >= least]
    foremost = foremost[np.argsort(-rounded[foremost], kind="stable")]
    among = is_other.copy()
    among[foremost] = False
    pooled = np.concatenate([foremost, np.flatnonzero(among)])
    among[foremost] = True
    whole = partial[pooled] if rest is None else partial[pooled] + rest(among=among)[pooled]
    scores = np.rint(whole * _DIGITS) / _DIGITS
    pooled, scores = pooled[scores > 0], scores[scores > 0]
    order = np.lexsort((postings.places[pooled], -scores))
    chosen = np.concatenate([order[:limit], order[limit:][is_other[pooled[order[limit:]]]]])
    return list(zip(chunks[pooled[chosen]].tolist(), scores[chosen].tolist(), strict=True))
