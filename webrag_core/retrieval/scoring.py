"""One absolute score for how well a passage answers a query: words, neighbouring words, meanings of words, direction.

Every part lies in [0, 1] by itself, so that a query without any good hit gets low scores: nothing is stretched to the
range of the candidates. The weights are few, fixed and round; fitted ones do not carry over to other texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.indexing.passages import Passage, term_codes
from webrag_core.providers.static_model import token_ids, token_vectors, token_weights
from webrag_core.retrieval.bm25 import K1

Array = NDArray[np.float32]

LEXICAL_SHARE = 0.30
"""Share of the attainable BM25 score, of the parent."""
COVERAGE_SHARE = 0.20
"""IDF-weighted share of the query's terms that the passage holds."""
MEANING_SHARE = 0.15
"""Weighted mean, over the query's tokens, of the best cosine with a token of the passage."""
FAMILY_SHARE = 0.10
"""The same over all passages of one family: the children of one parent."""
PAIRS_SHARE = 0.10
"""Weighted share of the query's neighbouring terms that stand close together in the passage."""
COSINE_SHARE = 0.15
"""Cosine of the embeddings of query and passage, floored at 0."""

_NEAR = 3  # positions between two terms that count as neighbours
_SMALL_PRODUCT = 2**18  # multiplications
_MAX_TOKENS = 256  # of a query; the weightiest are kept, more would cost without telling more


@dataclass(frozen=True, slots=True)
class QueryProfile:
    """A query as the scorer reads it.

    `codes` (ascending) and `weights` (idf) run parallel; `pairs` holds neighbouring terms as positions in `codes`
    and `pair_weights` the lesser idf of each two. `tokens` are unit vectors, shape (n, 256), `token_weights` sum to 1.
    All may be empty.
    """

    codes: NDArray[np.uint32]
    weights: Array
    pairs: NDArray[np.int64]
    pair_weights: Array
    tokens: Array
    token_weights: Array


def profile(query: str, idf: Mapping[str, float]) -> QueryProfile:
    """The query, with the `idf` of its terms in the query's order."""
    codes = term_codes(idf)
    order = np.argsort(codes, kind="stable")
    position = np.argsort(order, kind="stable")
    weights = np.array(list(idf.values()), dtype=np.float32)
    pairs = np.stack([position[:-1], position[1:]], axis=1) if len(codes) > 1 else np.empty((0, 2), dtype=np.int64)
    ids, counts = np.unique(token_ids([query])[0], return_counts=True)
    share = token_weights()[ids] * counts
    kept = np.sort(np.argsort(-share, kind="stable")[:_MAX_TOKENS])
    kept = kept[share[kept] > 0]
    ids, share = ids[kept], share[kept]
    return QueryProfile(
        codes=codes[order],
        weights=weights[order],
        pairs=pairs,
        pair_weights=np.minimum(weights[:-1], weights[1:]) if len(codes) > 1 else np.empty(0, dtype=np.float32),
        tokens=token_vectors()[ids],
        token_weights=share / share.sum() if len(share) else share,
    )


@dataclass(frozen=True, slots=True)
class PassageScores:
    """Of each passage, in [0, 1]: coverage of terms, of neighbouring terms, of meanings, of those in its family."""

    coverage: Array
    pairs: Array
    meaning: Array
    family: Array

    def joined(self, cosine: Array) -> Array:
        """The passage's own part of the score, in [0, 1 - LEXICAL_SHARE]; `cosine` per passage."""
        return np.asarray(sum(self._weighed(cosine)), dtype=np.float32)

    def joined_by_family(self, cosine: Array, families: Sequence[int]) -> Array:
        """The same for families (members side by side), in their order: each part from the member that is best at it,
        for what answers a question may stand in two neighbouring passages."""
        starts = family_starts(families)
        parts = [np.maximum.reduceat(part, starts) if len(starts) else part for part in self._weighed(cosine)]
        return np.asarray(sum(parts), dtype=np.float32)

    def _weighed(self, cosine: Array) -> list[Array]:
        return [
            COVERAGE_SHARE * self.coverage,
            PAIRS_SHARE * self.pairs,
            MEANING_SHARE * self.meaning,
            FAMILY_SHARE * self.family,
            COSINE_SHARE * np.clip(cosine, 0, 1),
        ]


def family_starts(families: Sequence[int]) -> NDArray[np.intp]:
    """Index of the first member of each family; members stand side by side."""
    named = np.asarray(families)
    return np.flatnonzero(np.concatenate([[True], named[1:] != named[:-1]])) if len(named) else np.empty(0, np.intp)


def score_passages(
    query: QueryProfile, passages: Sequence[Passage], families: Sequence[int] | None = None
) -> PassageScores:
    """Compare every passage with the query; arrays in the order of `passages`. `families` names the family of each,
    members side by side; None = every passage is its own."""
    lengths = np.array([len(passage.terms) for passage in passages], dtype=np.int64)
    every = np.concatenate([passage.terms for passage in passages]) if passages else np.empty(0, dtype=np.uint32)
    owner = np.repeat(np.arange(len(passages)), lengths)
    coverage = np.zeros(len(passages), dtype=np.float32)
    pairs = np.zeros(len(passages), dtype=np.float32)
    if len(query.codes) and len(every):
        slot = np.minimum(np.searchsorted(query.codes, every), len(query.codes) - 1)
        at = np.flatnonzero(query.codes[slot] == every)
        slot, owner = slot[at], owner[at]
        held = np.zeros((len(passages), len(query.codes)), dtype=bool)
        held[owner, slot] = True
        if query.weights.sum() > 0:
            coverage = held @ query.weights / query.weights.sum()
        pairs = _pairs(query, len(passages), at, slot, owner)
    best = best_cosines(query, passages)
    meaning = np.clip(query.token_weights @ best, 0, 1)
    return PassageScores(coverage, pairs, meaning, _family_meaning(query, best, families) if families else meaning)


def _pairs(
    query: QueryProfile, count: int, at: NDArray[np.int64], slot: NDArray[np.int64], owner: NDArray[np.int64]
) -> Array:
    """`at`: positions of query terms in all passages, one after the other; `slot`, `owner`: which term, whose."""
    total = query.pair_weights.sum()
    if not len(query.pairs) or total <= 0 or len(at) < 2:
        return np.zeros(count, dtype=np.float32)
    near = (np.diff(at) <= _NEAR) & (owner[:-1] == owner[1:])
    left, right, where = slot[:-1][near], slot[1:][near], owner[:-1][near]
    size = len(query.codes)
    wanted = query.pairs.min(axis=1) * size + query.pairs.max(axis=1)
    order = np.argsort(wanted, kind="stable")
    met = np.minimum(left, right) * size + np.maximum(left, right)
    index = np.minimum(np.searchsorted(wanted[order], met), len(wanted) - 1)
    hit = wanted[order][index] == met
    held = np.zeros((count, len(wanted)), dtype=bool)
    held[where[hit], order[index[hit]]] = True
    return np.asarray(held @ query.pair_weights / total, dtype=np.float32)


def best_cosines(query: QueryProfile, passages: Sequence[Passage]) -> Array:
    """Of each token of the query with each passage's closest token, shape (tokens, passages); 0 for an empty one."""
    best = np.zeros((len(query.tokens), len(passages)), dtype=np.float32)
    filled = [index for index, passage in enumerate(passages) if len(passage.tokens)]
    if not filled or not len(query.tokens):
        return best
    every = np.concatenate([passages[index].tokens for index in filled])
    vectors = token_vectors()
    place = np.zeros(len(vectors), dtype=np.int32)  # a table beats sorting tens of thousands of ids
    place[every] = 1
    distinct = np.flatnonzero(place)
    place[distinct] = np.arange(len(distinct))
    similar = _products(query.tokens, vectors, distinct)
    starts = np.cumsum([0, *(len(passages[index].tokens) for index in filled[:-1])])
    best[:, filled] = np.maximum.reduceat(similar[:, place[every]], starts, axis=1)
    return best


def _products(rows: Array, vectors: Array, chosen: NDArray[np.int64]) -> Array:
    """Dot products of `rows` with the chosen vectors, shape (rows, chosen).

    In parts too small for the linear algebra library to start threads, which on a busy machine wait for each other ten
    times longer than all of it takes.
    """
    found = np.empty((len(rows), len(chosen)), dtype=np.float32)
    step = max(1, _SMALL_PRODUCT // rows.size)
    for at in range(0, len(chosen), step):
        found[:, at : at + step] = rows @ vectors[chosen[at : at + step]].T
    return found


def _family_meaning(query: QueryProfile, best: Array, families: Sequence[int]) -> Array:
    starts = family_starts(families)
    together = np.clip(query.token_weights @ np.maximum.reduceat(best, starts, axis=1), 0, 1)
    return np.repeat(together, np.diff([*starts, len(families)]))


def lexical_share(query: QueryProfile, passages: Sequence[Passage]) -> Array:
    """Share of the attainable BM25 score of passages that are taken to be of mean length, in [0, 1]."""
    total = query.weights.sum()
    if total <= 0:
        return np.zeros(len(passages), dtype=np.float32)
    frequency = np.array(
        [[np.count_nonzero(passage.terms == code) for code in query.codes] for passage in passages], dtype=np.float32
    ).reshape(len(passages), len(query.codes))
    return np.asarray(frequency / (frequency + K1) @ query.weights / total, dtype=np.float32)
