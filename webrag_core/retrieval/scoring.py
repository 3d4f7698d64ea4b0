"""One absolute score for how well a passage answers a query.

    score(parent) = .30 BM25 share of the parent
                  + max over its children of each of
                    .20 term coverage        IDF-weighted share of the query's terms that the passage holds
                    .10 term proximity       weighted share of the query's neighbouring terms that stand close together
                    .15 soft token match     MaxSim: mean, over the query's tokens, of the best cosine with a token
                    .10 sibling evidence     the same over all children of the parent together
                    .15 cosine               of the embeddings of query and passage, floored at 0

Every part lies in [0, 1] by itself, so a query without a good hit gets low scores: nothing is stretched to the range
of the candidates. The weights are few and round; ones fitted on other texts do not carry over. `weights` says how an
operator may move them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.indexing.passages import Passage, term_codes
from webrag_core.providers.static_model import token_ids, token_vectors, token_weights
from webrag_core.retrieval.bm25 import K1, Word
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights

Array = NDArray[np.float32]

_NEAR = 3  # positions between two terms that still stand close together
_SMALL_PRODUCT = 2**18  # multiplications
_MAX_TOKENS = 256  # of a query; the rest, with the least weight, is ignored


@dataclass(frozen=True, slots=True)
class QueryProfile:
    """A query prepared for scoring.

    `codes` (ascending) are hashes of its terms and `slots` the word of each, a position in `weights` (idf): a word may
    have several terms. `pairs` holds neighbouring words as such positions. `tokens` are unit vectors, shape (n, 256);
    `token_weights` sum to 1. All may be empty.
    """

    codes: NDArray[np.uint32]
    slots: NDArray[np.int64]
    weights: Array
    pairs: NDArray[np.int64]
    tokens: Array
    token_weights: Array


def profile(query: str, idf: Mapping[str, float], words: Sequence[Word] = ()) -> QueryProfile:
    """Prepare a query; `idf` holds its terms in the query's order, `words` says which of them belong to one word (empty
    = each stands for itself)."""
    words = words or [(term,) for term in idf]
    slot_of = {term: slot for slot, word in enumerate(words) for term in word}
    codes = term_codes(slot_of)
    order = np.argsort(codes, kind="stable")
    slots = np.fromiter(slot_of.values(), dtype=np.int64, count=len(slot_of))
    weights = word_weights(idf, words)
    position = np.arange(len(words), dtype=np.int64)
    pairs = np.stack([position[:-1], position[1:]], axis=1) if len(words) > 1 else np.empty((0, 2), dtype=np.int64)
    ids, counts = np.unique(token_ids([query])[0], return_counts=True)
    share = token_weights()[ids] * counts
    top = np.sort(np.argsort(-share, kind="stable")[:_MAX_TOKENS])
    top = top[share[top] > 0]
    ids, share = ids[top], share[top]
    return QueryProfile(
        codes=codes[order],
        slots=slots[order],
        weights=weights,
        pairs=pairs,
        tokens=token_vectors(ids)[ids],
        token_weights=share / share.sum() if len(share) else share,
    )


def word_weights(idf: Mapping[str, float], words: Sequence[Word] = ()) -> Array:
    """What each word of a query weighs: the most of its terms; `words` as in `profile`."""
    return np.array([max(map(idf.__getitem__, word)) for word in words or zip(idf)], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class PassageScores:
    """Scores of each passage, in [0, 1]; see the formula above."""

    coverage: Array
    proximity: Array
    token_match: Array
    sibling: Array

    def total(self, cosine: Array, weights: ScoreWeights = SHIPPED) -> Array:
        """The weighted sum for each passage, in [0, 1 - weights.lexical]; `cosine` per passage."""
        return _weighted(self._parts(cosine), weights)

    def total_by_parent(self, cosine: Array, parent_ids: Sequence[int], weights: ScoreWeights = SHIPPED) -> Array:
        """The weighted sum for each parent, in order: every part from the child that is best at it, because the answer
        may stand in two neighbouring passages. Passages are grouped by parent."""
        return _weighted(self.parts_by_parent(cosine, parent_ids), weights)

    def parts_by_parent(self, cosine: Array, parent_ids: Sequence[int]) -> list[Array]:
        """Coverage, proximity, token match, sibling evidence and cosine of each parent, each from the child that is
        best at it."""
        starts = group_starts(parent_ids)
        return [np.maximum.reduceat(part, starts) if len(starts) else part for part in self._parts(cosine)]

    def _parts(self, cosine: Array) -> list[Array]:
        return [self.coverage, self.proximity, self.token_match, self.sibling, np.clip(cosine, 0, 1)]


def _weighted(parts: Sequence[Array], weights: ScoreWeights) -> Array:
    shares = (weights.coverage, weights.proximity, weights.token_match, weights.sibling, weights.cosine)
    return np.asarray(sum(share * part for share, part in zip(shares, parts, strict=True)), dtype=np.float32)


def group_starts(parent_ids: Sequence[int]) -> NDArray[np.intp]:
    """Index of the first passage of each parent; passages are grouped by parent."""
    ids = np.asarray(parent_ids)
    return np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])) if len(ids) else np.empty(0, np.intp)


@dataclass(frozen=True, slots=True)
class Matches:
    """What passages hold of a query, whatever its words weigh: its words, shape (passages, words); its pairs of
    neighbouring words close together; and the soft token match of each passage and of its siblings together."""

    words: NDArray[np.bool_]
    pairs: NDArray[np.bool_]
    token_match: Array
    sibling: Array

    def scores(self, weights: Array) -> PassageScores:
        """The scores with the `word_weights` of the query; a pair weighs as much as the lesser of its words."""
        pair_weights = np.minimum(weights[:-1], weights[1:])
        return PassageScores(
            _share(self.words, weights), _share(self.pairs, pair_weights), self.token_match, self.sibling
        )


def _share(held: NDArray[np.bool_], weights: Array) -> Array:
    total = weights.sum()
    return np.asarray(held @ weights / total if total > 0 else np.zeros(len(held)), dtype=np.float32)


def score_passages(
    query: QueryProfile, passages: Sequence[Passage], parent_ids: Sequence[int] | None = None
) -> PassageScores:
    """Score every passage, in order. `parent_ids` groups them (None = every passage is its own parent)."""
    return match_passages(query, passages, parent_ids).scores(query.weights)


def match_passages(
    query: QueryProfile, passages: Sequence[Passage], parent_ids: Sequence[int] | None = None
) -> Matches:
    """What every passage holds, in order; `parent_ids` as in `score_passages`."""
    all_terms = np.concatenate([passage.terms for passage in passages]) if passages else np.empty(0, dtype=np.uint32)
    words = np.zeros((len(passages), len(query.weights)), dtype=bool)
    pairs = np.zeros((len(passages), len(query.pairs)), dtype=bool)
    if len(query.codes) and len(all_terms):
        place = np.minimum(np.searchsorted(query.codes, all_terms), len(query.codes) - 1)
        positions = np.flatnonzero(query.codes[place] == all_terms)
        ends = np.cumsum([len(passage.terms) for passage in passages])
        slot, owner = query.slots[place[positions]], np.searchsorted(ends, positions, side="right")
        words[owner, slot] = True
        _mark_pairs(pairs, query, positions, slot, owner)
    cosines = best_cosines(query, passages)
    token_match = np.clip(query.token_weights @ cosines, 0, 1)
    sibling = _sibling_evidence(query, cosines, parent_ids) if parent_ids else token_match
    return Matches(words, pairs, token_match, sibling)


def _mark_pairs(
    held: NDArray[np.bool_],
    query: QueryProfile,
    positions: NDArray[np.int64],
    slot: NDArray[np.int64],
    owner: NDArray[np.int64],
) -> None:
    """Mark which of the query's pairs of words each passage has close together.

    `positions` are those of query terms in all passages laid end to end, `slot` which word, `owner` which passage.
    """
    if not len(query.pairs) or len(positions) < 2:
        return
    close = (np.diff(positions) <= _NEAR) & (owner[:-1] == owner[1:])
    left, right, passage = slot[:-1][close], slot[1:][close], owner[:-1][close]
    # a pair of terms as one number, whatever its order
    size = len(query.weights)
    query_pairs = query.pairs.min(axis=1) * size + query.pairs.max(axis=1)
    order = np.argsort(query_pairs, kind="stable")
    pairs = np.minimum(left, right) * size + np.maximum(left, right)
    index = np.minimum(np.searchsorted(query_pairs[order], pairs), len(query_pairs) - 1)
    match = query_pairs[order][index] == pairs
    held[passage[match], order[index[match]]] = True


def best_cosines(query: QueryProfile, passages: Sequence[Passage]) -> Array:
    """Cosine of each query token with each passage's closest token, shape (tokens, passages); 0 for an empty one."""
    best = np.zeros((len(query.tokens), len(passages)), dtype=np.float32)
    filled = [index for index, passage in enumerate(passages) if len(passage.tokens)]
    if not filled or not len(query.tokens):
        return best
    all_tokens = np.concatenate([passages[index].tokens for index in filled])
    vectors = token_vectors(all_tokens)
    place = np.zeros(len(vectors), dtype=np.int32)  # a table beats sorting tens of thousands of ids
    place[all_tokens] = 1
    distinct = np.flatnonzero(place)
    place[distinct] = np.arange(len(distinct))
    cosines = products(query.tokens, vectors, distinct)
    starts = np.cumsum([0, *(len(passages[index].tokens) for index in filled[:-1])])
    best[:, filled] = np.maximum.reduceat(cosines.take(place[all_tokens], axis=1), starts, axis=1)
    return best


def products(rows: Array, vectors: Array, chosen: NDArray[np.int64] | None = None) -> Array:
    """Dot products of `rows` with the chosen vectors (None = all), shape (rows, chosen).

    Computed in blocks too small for BLAS to start threads, which wait for each other on a busy machine.
    """
    number = len(vectors) if chosen is None else len(chosen)
    results = np.empty((len(rows), number), dtype=np.float32)
    step = max(1, _SMALL_PRODUCT // rows.size)
    for at in range(0, number, step):
        block = vectors[at : at + step] if chosen is None else vectors.take(chosen[at : at + step], axis=0)
        np.matmul(rows, block.T, out=results[:, at : at + step])
    return results


def _sibling_evidence(query: QueryProfile, cosines: Array, parent_ids: Sequence[int]) -> Array:
    """The soft token match of each parent's children together, for every child."""
    starts = group_starts(parent_ids)
    together = np.clip(query.token_weights @ np.maximum.reduceat(cosines, starts, axis=1), 0, 1)
    return np.repeat(together, np.diff([*starts, len(parent_ids)]))


def lexical_share(query: QueryProfile, passages: Sequence[Passage]) -> Array:
    """Share of the attainable BM25 score in [0, 1], as if every passage had the mean length."""
    total = query.weights.sum()
    if total <= 0:
        return np.zeros(len(passages), dtype=np.float32)
    frequency = np.zeros((len(passages), len(query.weights)), dtype=np.float32)
    for row, passage in enumerate(passages):
        for code, slot in zip(query.codes, query.slots, strict=True):
            frequency[row, slot] += np.count_nonzero(passage.terms == code)
    return np.asarray(frequency / (frequency + K1) @ query.weights / total, dtype=np.float32)
