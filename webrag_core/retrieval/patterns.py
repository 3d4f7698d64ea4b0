"""The retrieval patterns of specification 004 over one open snapshot: which parents are looked at, and their scores.

Every raw score lies in [0, 1] on a scale that does not move with the other candidates, so nothing is stretched between
the best and the worst of them: with min-max the best of ten bad hits would have 1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection

from webrag_core.indexing.terms import terms
from webrag_core.retrieval.bm25 import LexicalResult, search_parents
from webrag_core.retrieval.chunk_store import Child, load_children, load_parents
from webrag_core.retrieval.dense import ChildHit, search_children
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.ranking import Depths, first_look, rank_parents, to_chunk
from webrag_core.retrieval.request import Pattern
from webrag_core.retrieval.scope import Scope, ScopeSize

RRF_K = 60
"""Cormack, Clarke and Büttcher, Reciprocal Rank Fusion (2009)."""

_EVERY = 100_000


@dataclass(frozen=True, slots=True)
class Look:
    """One query as it is put to the database. `vector` has unit length; `full` = every parent of the scope is wanted,
    else the `limit` nearest children that are at least `floor` near and the `limit` best parents by BM25, of which the
    `kept` most promising are read. `ef_search` as in `search_children`."""

    query: str
    vector: NDArray[np.float32]
    model_id: int
    scope: Scope
    size: ScopeSize
    depths: Depths
    full: bool
    limit: int
    kept: int
    floor: float
    ef_search: int


@dataclass(frozen=True, slots=True)
class Found:
    """Chunks best first, ties by URL and in reading order; how many parents were candidates; weight of the terms."""

    chunks: list[RetrievedChunk]
    candidates: int
    term_idf: dict[str, float]


async def find(connection: AsyncConnection, pattern: Pattern, look: Look, alpha: float | None = None) -> Found:
    """What `pattern` finds for one query; `alpha` is the cosine's weight in a hybrid search, None = by ranks."""
    if pattern is Pattern.SEMANTIC:
        return await _semantic(connection, look)
    if pattern is Pattern.HYBRID:
        return await _hybrid(connection, look, alpha)
    return await _reranked(connection, look)


def best_of(found: Sequence[Found]) -> Found:
    """One ranking of several formulations: each chunk as the formulation has it that gives it the highest score (the
    specification's rule; the scores of one question in other words are comparable)."""
    best: dict[int, RetrievedChunk] = {}
    idf: dict[str, float] = {}
    for one in found:
        idf = one.term_idf | idf
        for chunk in one.chunks:
            known = best.get(chunk.chunk_id)
            if known is None or (chunk.relevance or 0.0, chunk.score) > (known.relevance or 0.0, known.score):
                best[chunk.chunk_id] = chunk
    return Found(_ordered(best.values()), len(best), idf)


def alpha_fusion(cosine: float, lexical: float, alpha: float) -> float:
    """alpha * cosine (negative ones count as 0) + (1 - alpha) * share of the attainable BM25 score."""
    return alpha * min(1.0, max(0.0, cosine)) + (1 - alpha) * lexical


def rank_fusion(orders: Sequence[Iterable[int]]) -> dict[int, float]:
    """Sum of 1 / (60 + rank), ranks from 1, as a share of what the first of every order would have."""
    fused: dict[int, float] = {}
    for order in orders:
        for rank, item in enumerate(order, start=1):
            fused[item] = fused.get(item, 0.0) + (RRF_K + 1) / ((RRF_K + rank) * len(orders))
    return fused


async def _semantic(connection: AsyncConnection, look: Look) -> Found:
    """P1: the cosine of a parent's nearest child, floored at 0; that child is the match. The specification wants the
    nearest, however far: there is nothing else that could find them."""
    nearest = await _nearest(connection, look, floor=-1.0)
    kept = list(nearest)[: None if look.full else look.kept]
    rows = await load_parents(connection, kept)
    chunks = []
    for row in rows:
        hit = nearest[row.id]
        chunks.append(
            to_chunk(
                row,
                match=Child(row.id, hit.start, hit.end, hit.heading_path, hit.similarity, None),
                raw_score=min(1.0, max(0.0, hit.similarity)),
                weight=look.depths.weight(row.document_id),
                similarity=hit.similarity,
                depth=look.depths.of.get(row.document_id, 0),
            )
        )
    return Found(_ordered(_not_calibrated(chunks)), len(nearest), {})


async def _hybrid(connection: AsyncConnection, look: Look, alpha: float | None) -> Found:
    """P2: cosine and BM25, fused by weight (scores) or by ranks; the child nearest to the query is the match."""
    nearest = await _nearest(connection, look, look.floor)
    lexical = await _lexical(connection, look, also=nearest)
    words = {hit.parent_id: hit.relative for hit in lexical.hits}
    # those beyond the limit came with the nearest: they have scores but no rank
    ranks = rank_fusion([list(nearest), list(words)[: None if look.full else look.limit]])
    promise = ranks
    if alpha is not None:
        near = {parent_id: hit.similarity for parent_id, hit in nearest.items()}
        promise = {one: alpha_fusion(near.get(one, 0.0), words.get(one, 0.0), alpha) for one in ranks}
    kept = sorted(promise, key=lambda one: -promise[one])[: None if look.full else look.kept]
    children = await load_children(connection, look.model_id, look.vector, sorted(kept))
    rows = await load_parents(connection, kept)
    best: dict[int, Child] = {}
    for child in children:
        known = best.get(child.parent_id)
        if known is None or child.similarity > known.similarity:
            best[child.parent_id] = child
    chunks = []
    for row in rows:
        match = best.get(row.id)
        cosine = match.similarity if match else 0.0
        share = words.get(row.id, 0.0)
        chunks.append(
            to_chunk(
                row,
                match=match,
                raw_score=ranks[row.id] if alpha is None else alpha_fusion(cosine, share, alpha),
                weight=look.depths.weight(row.document_id),
                similarity=cosine,
                lexical=share,
                depth=look.depths.of.get(row.document_id, 0),
            )
        )
    return Found(_ordered(_not_calibrated(chunks)), len(promise), lexical.idf)


async def _reranked(connection: AsyncConnection, look: Look) -> Found:
    """P4 (and P3): candidates of both, scored anew by `retrieval.scoring`."""
    nearest = await _nearest(connection, look, look.floor)
    lexical = await _lexical(connection, look, also=nearest)
    near = {parent_id: hit.similarity for parent_id, hit in nearest.items()}
    wanted = first_look(near, lexical, None if look.full else look.kept)
    children = await load_children(connection, look.model_id, look.vector, wanted)
    parents = await load_parents(connection, wanted)
    # in a thread: it takes longer than other queries may wait for the event loop
    chunks = await asyncio.to_thread(rank_parents, look.query, parents, children, lexical, look.depths)
    return Found(chunks, len(near.keys() | {hit.parent_id for hit in lexical.hits}), lexical.idf)


async def _nearest(connection: AsyncConnection, look: Look, floor: float) -> dict[int, ChildHit]:
    """The nearest child of each parent, nearest parent first; none below `floor`, unless every parent is wanted."""
    if not look.size.children:
        return {}
    hits = await search_children(
        connection,
        look.model_id,
        look.vector,
        look.scope,
        matching_rows=look.size.children,
        limit=look.size.children if look.full else min(look.limit, look.size.children),
        ef_search=look.ef_search,
    )
    nearest: dict[int, ChildHit] = {}
    for hit in hits:  # best first
        if look.full or hit.similarity >= floor:
            nearest.setdefault(hit.parent_id, hit)
    return nearest


async def _lexical(connection: AsyncConnection, look: Look, also: Mapping[int, ChildHit]) -> LexicalResult:
    flags = list(look.scope.flags)
    limit = look.size.parents if look.full else min(look.limit, look.size.parents)
    if not flags or not limit:
        return await search_parents(connection, terms(look.query), look.scope, limit=limit, also=sorted(also))
    # the postings know documents, not flags: take all that hold a word, then those that carry a flag
    found = await search_parents(connection, terms(look.query), look.scope, limit=_EVERY, also=sorted(also))
    cursor = await connection.execute(
        "SELECT id FROM chunks WHERE id = ANY(%s) AND flags && %s", ([hit.parent_id for hit in found.hits], flags)
    )
    flagged = {row[0] for row in await cursor.fetchall()}
    hits = [hit for hit in found.hits if hit.parent_id in flagged]
    return LexicalResult([*hits[:limit], *(hit for hit in hits[limit:] if hit.parent_id in also)], found.idf)


def _not_calibrated(chunks: Iterable[RetrievedChunk]) -> list[RetrievedChunk]:
    return [chunk.model_copy(update={"relevance": None}) for chunk in chunks]


def _ordered(chunks: Iterable[RetrievedChunk]) -> list[RetrievedChunk]:
    return sorted(chunks, key=lambda chunk: (-chunk.score, chunk.source_url, chunk.chunk_index))
