"""The retrieval patterns of specification 004 over one open snapshot: candidates and their scores.

Every raw score lies in [0, 1] on a scale that does not depend on the other candidates; min-max scaling would give the
best of ten bad hits a 1. Without a query vector (the embedding endpoint is down) P2 to P5 work by words alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection

from webrag_core.indexing.terms import query_terms
from webrag_core.language.detection import detected
from webrag_core.retrieval.bm25 import Copies, CountedTerms, LexicalResult, Word, count_terms, search_parents
from webrag_core.retrieval.chunk_store import Child, load_families, load_parents, load_scope_children
from webrag_core.retrieval.dense import ChildHit, search_children
from webrag_core.retrieval.literals import find_literals, with_literals
from webrag_core.retrieval.models import MatchSpan, RetrievedChunk
from webrag_core.retrieval.ranking import (
    Candidates,
    Depths,
    by_score,
    compare,
    copies_among,
    score_parents,
    select_candidates,
    to_chunk,
    to_chunks,
)
from webrag_core.retrieval.request import Pattern
from webrag_core.retrieval.resident_index import ResidentIndex
from webrag_core.retrieval.scope import Scope, ScopeSize
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights
from webrag_core.retrieval.windows import CANDIDATES, best_windows, in_order, nearest_parents

RRF_K = 60
"""Cormack, Clarke and Büttcher, Reciprocal Rank Fusion (2009)."""

_NO_LIMIT = 100_000


@dataclass(frozen=True, slots=True)
class RetrievalContext:
    """One query and the limits of its search.

    `vector` has unit length; None = search by words only. With `full` every parent of the scope is a candidate. Else
    the candidates are the `limit` nearest children with a cosine of at least `floor` and the `limit` best parents by
    BM25, of which `max_candidates` are read. `ef_search` as in `search_children`. `weights` score what is read.
    `window` is the question's window vector; None = the scope is searched without them. `resident` is the index of the
    snapshot, where it is in memory.
    """

    query: str
    vector: NDArray[np.float32] | None
    model_id: int
    scope: Scope
    size: ScopeSize
    depths: Depths
    full: bool
    limit: int
    max_candidates: int
    floor: float
    ef_search: int
    weights: ScoreWeights = SHIPPED
    window: NDArray[np.float32] | None = None
    resident: ResidentIndex | None = None

    @property
    def words(self) -> list[Word]:
        """The words of the query with their terms, by each of the rules that pages are indexed by."""
        return query_terms(self.query, self.size.rules, detected(self.query))

    @property
    def to_read(self) -> int | None:
        """How many candidates are read; None = all."""
        return None if self.full else self.max_candidates


@dataclass(frozen=True, slots=True)
class PatternResult:
    """Chunks best first (ties by URL and in reading order), the number of candidates, the terms' idf, and by query the
    terms that no parent of the scope holds."""

    chunks: list[RetrievedChunk]
    candidates: int
    term_idf: dict[str, float]
    absent: Mapping[str, frozenset[str]] = field(default_factory=dict)


async def run_pattern(
    connection: AsyncConnection, pattern: Pattern, context: RetrievalContext, cosine_weight: float | None = None
) -> PatternResult:
    """Run `pattern` for one query; a hybrid search without `cosine_weight` fuses by rank.

    A semantic search needs a vector. P6 is `retrieval.graph.cross_modal`.
    """
    if pattern is Pattern.SEMANTIC:
        return await _semantic(connection, context)
    if pattern is Pattern.HYBRID:
        return await _hybrid(connection, context, cosine_weight)
    return await _reranked(connection, context)


def best_of(results: Sequence[PatternResult]) -> PatternResult:
    """Merge the results of several formulations: each chunk with its highest score, as the specification has it. The
    scores of one question in other words are comparable."""
    if len(results) == 1:
        return results[0]
    best: dict[int, RetrievedChunk] = {}
    idf: dict[str, float] = {}
    absent: dict[str, frozenset[str]] = {}
    for result in results:
        idf = result.term_idf | idf
        absent |= result.absent
        for chunk in result.chunks:
            known = best.get(chunk.chunk_id)
            if known is None or (chunk.relevance or 0.0, chunk.score) > (known.relevance or 0.0, known.score):
                best[chunk.chunk_id] = chunk
    return PatternResult(by_score(list(best.values())), len(best), idf, absent)


def alpha_fusion(cosine: float, lexical: float, alpha: float) -> float:
    """alpha * cosine (floored at 0) + (1 - alpha) * share of the attainable BM25 score."""
    return alpha * min(1.0, max(0.0, cosine)) + (1 - alpha) * lexical


def rank_fusion(orders: Sequence[Iterable[int]]) -> dict[int, float]:
    """Sum of 1 / (60 + rank), ranks from 1, as a share of the score of an item that leads every order."""
    fused: dict[int, float] = {}
    for order in orders:
        for rank, item in enumerate(order, start=1):
            fused[item] = fused.get(item, 0.0) + (RRF_K + 1) / ((RRF_K + rank) * len(orders))
    return fused


async def _semantic(connection: AsyncConnection, context: RetrievalContext) -> PatternResult:
    """P1: the cosine of a parent's nearest child, floored at 0; that child is the match. No similarity floor: nothing
    else could find the chunk."""
    nearest = await nearest_children(connection, context, floor=-1.0)
    rows = await load_parents(connection, list(nearest)[: context.to_read])
    chunks = []
    for row in rows:
        hit = nearest[row.id]
        chunks.append(
            to_chunk(
                row,
                matches=[MatchSpan(start=hit.start, end=hit.end, heading_path=hit.heading_path)],
                raw_score=min(1.0, max(0.0, hit.similarity)),
                weight=context.depths.weight(row.document_id),
                relevance=None,
                similarity=hit.similarity,
                depth=context.depths.of.get(row.document_id, 0),
            )
        )
    return PatternResult(by_score(chunks), len(nearest), {})


async def _hybrid(connection: AsyncConnection, context: RetrievalContext, cosine_weight: float | None) -> PatternResult:
    """P2: cosine and BM25, fused by weight (scores) or by rank; the child nearest to the query is the match."""
    counted = await counted_terms(connection, context)
    nearest = await nearest_children(connection, context, context.floor)
    lexical = await lexical_hits(connection, context, also=nearest, counted=counted)
    shares = {hit.parent_id: hit.relative for hit in lexical.hits}
    # hits beyond the limit came with the nearest: they have a score but no rank
    dense_order = list(nearest) if context.vector is not None else []
    ranks = dict.fromkeys(nearest, 0.0) | rank_fusion(
        [dense_order, list(shares)[: None if context.full else context.limit]]
    )
    fused = ranks
    if cosine_weight is not None:
        cosines = {parent_id: hit.similarity for parent_id, hit in nearest.items()}
        fused = {rank: alpha_fusion(cosines.get(rank, 0.0), shares.get(rank, 0.0), cosine_weight) for rank in ranks}
    candidates = sorted(fused, key=lambda item: -fused[item])[: context.to_read]
    rows, children = await load_families(connection, context.model_id, context.vector, sorted(candidates))
    best: dict[int, Child] = {}
    for child in children:
        known = best.get(child.parent_id)
        if known is None or child.similarity > known.similarity:
            best[child.parent_id] = child
    chunks = []
    for row in rows:
        match = best.get(row.id)
        cosine = match.similarity if match else 0.0
        share = shares.get(row.id, 0.0)
        chunks.append(
            to_chunk(
                row,
                matches=[MatchSpan(start=match.start, end=match.end, heading_path=match.heading_path)] if match else (),
                raw_score=ranks[row.id] if cosine_weight is None else alpha_fusion(cosine, share, cosine_weight),
                weight=context.depths.weight(row.document_id),
                relevance=None,
                similarity=cosine,
                lexical=share,
                depth=context.depths.of.get(row.document_id, 0),
            )
        )
    return PatternResult(by_score(chunks), len(fused), lexical.idf, {context.query: lexical.absent})


async def _reranked(connection: AsyncConnection, context: RetrievalContext) -> PatternResult:
    """P4 (and P3): the candidates of both, rescored by `retrieval.scoring`."""
    counted = await counted_terms(connection, context)
    nearest = await nearest_children(connection, context, context.floor)
    postings = None if context.resident is None else context.resident.postings
    literals = await find_literals(connection, context.query, context.scope, context.size, postings)
    also = nearest.keys() | {parent for counts in literals.values() for parent in counts}
    lexical = await lexical_hits(connection, context, also=also, counted=counted)
    lexical = with_literals(lexical, literals, context.size)
    windows = await nearest_windows(connection, context)
    similarities = {parent_id: hit.similarity for parent_id, hit in nearest.items()}
    candidates = select_candidates(similarities, lexical, context.to_read)
    candidates = sorted({*candidates, *windows})
    parents, children = await load_families(connection, context.model_id, context.vector, candidates)

    def ranked_first() -> tuple[Candidates, Copies | None, list[RetrievedChunk]]:
        compared = compare(context.query, parents, children, lexical)
        scored = score_parents(compared, lexical, context.depths, context.weights)
        copies = copies_among(scored, lexical)
        return compared, copies, to_chunks(scored, context.depths) if copies is None else []

    # in a thread: it takes longer than other queries may wait for the event loop
    compared, copies, chunks = await asyncio.to_thread(ranked_first)
    if copies is not None:
        ids = [row.id for row in parents]
        lexical = await lexical_hits(connection, context, also={*also, *ids}, counted=counted, copies=copies)
        lexical = with_literals(lexical, literals, context.size)
        scored = score_parents(compared, lexical, context.depths, context.weights)
        chunks = await asyncio.to_thread(to_chunks, scored, context.depths)
    if windows and context.window is not None:
        best = await best_windows(connection, context.window, candidates)
        chunks = in_order(chunks, best, context.weights.cosine, context.depths.weight)
    result = similarities.keys() | {hit.parent_id for hit in lexical.hits} | windows.keys()
    return PatternResult(chunks, len(result), lexical.idf, {context.query: lexical.absent})


async def nearest_windows(connection: AsyncConnection, context: RetrievalContext) -> dict[int, float]:
    """The parents nearest by their windows with their cosines, nearest first; empty where the search goes without."""
    if context.window is None:
        return {}
    return await nearest_parents(connection, context.window, context.scope, CANDIDATES)


async def nearest_children(connection: AsyncConnection, context: RetrievalContext, floor: float) -> dict[int, ChildHit]:
    """The nearest child of each parent, nearest first; none below `floor`, unless every parent is a candidate.

    Without a vector, any child of each parent when every parent is a candidate, else none.
    """
    if not context.size.children or (context.vector is None and not context.full):
        return {}
    if context.vector is None:
        children = await load_scope_children(connection, context.scope)
        return {child.parent_id: child for child in reversed(children)}
    hits = await search_children(
        connection,
        context.model_id,
        context.vector,
        context.scope,
        matching_rows=context.size.children,
        limit=context.size.children if context.full else min(context.limit, context.size.children),
        ef_search=context.ef_search,
        corpus_rows=context.size.indexes.corpus_children,
        held=None if context.resident is None else context.resident.vectors,
    )
    nearest: dict[int, ChildHit] = {}
    for hit in hits:
        if context.full or hit.similarity >= floor:
            nearest.setdefault(hit.parent_id, hit)
    return nearest


async def counted_terms(connection: AsyncConnection, context: RetrievalContext) -> CountedTerms:
    """The query's terms, which the server counts meanwhile where the connection is in a pipeline."""
    postings = None if context.resident is None else context.resident.postings
    return await count_terms(connection, context.words, context.scope, context.size.indexes, postings)


async def lexical_hits(
    connection: AsyncConnection,
    context: RetrievalContext,
    also: Collection[int],
    counted: CountedTerms | None = None,
    copies: Copies | None = None,
) -> LexicalResult:
    """The best parents by BM25, as many as the context wants, and those of `also` that hold a term of the query.
    `counted` are its terms (None = counted here), its weights those without the `copies`."""
    flags = list(context.scope.flags)
    limit = context.size.parents if context.full else min(context.limit, context.size.parents)
    counted = counted or await counted_terms(connection, context)
    search = partial(
        search_parents, connection, counted.words, context.scope, also=sorted(also), counted=counted, copies=copies
    )
    if not flags or not limit:
        return await search(limit=limit)
    # postings know documents, not flags: take all parents with a term, then those that carry a flag
    result = await search(limit=_NO_LIMIT)
    cursor = await connection.execute(
        "SELECT id FROM chunks WHERE id = ANY(%s) AND flags && %s", ([hit.parent_id for hit in result.hits], flags)
    )
    flagged = {row[0] for row in await cursor.fetchall()}
    hits = [hit for hit in result.hits if hit.parent_id in flagged]
    hits = [*hits[:limit], *(hit for hit in hits[limit:] if hit.parent_id in also)]
    return replace(result, hits=hits)
