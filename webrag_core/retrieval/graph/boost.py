"""P6: the results of P4, with candidates and a bounded bonus from the graph.

    score = (raw + BONUS * g * (1 - raw)) * depth weight

g in [0, 1] is the closeness of the chunk's page (`reach`): the strength of a path times the share of the query in its
anchor and the page's title, beside the best such path. The bonus leaves the raw score alone and never reaches beyond 1.
Pages that the graph reaches and P4 has not read bring their passages nearest to the query, scored as any other.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from psycopg import AsyncConnection

from webrag_core.retrieval.bm25 import count_terms, search_parents
from webrag_core.retrieval.calibration import relevance
from webrag_core.retrieval.chunk_store import load_children, load_parents
from webrag_core.retrieval.graph.reach import Reached, reach_pages
from webrag_core.retrieval.models import GraphLift, RetrievedChunk
from webrag_core.retrieval.patterns import PatternResult, RetrievalContext, lexical_hits, nearest_children
from webrag_core.retrieval.ranking import by_score, rank_parents
from webrag_core.retrieval.scope import scope_size

BONUS = 0.1
"""Weight of the bonus. Of .1, .2 and .3 the one with the best recall@10 on questions over several pages among those
that cost other questions no more than one place among the first 1, 5 or 10 (`python -m evals.graph.boost`, fitting
sites)."""
MAX_BONUS = 0.3
MAX_CANDIDATES = 30
"""Parents that the graph may add."""

_MOST_PAGES = 30  # that they come from, the best reached ones
_OF_ONE_PAGE = 3


async def boost(connection: AsyncConnection, context: RetrievalContext, found: PatternResult) -> PatternResult:
    """Add to what P4 found for the query. Without edges at its hits the result is the same.

    Reads the snapshot of the search in 12 statements (15 by words alone), however large the graph is.
    """
    reached = await reach_pages(connection, context.query, found.term_idf, found.chunks, context.scope)
    return await lift(connection, context, found, reached)


async def lift(
    connection: AsyncConnection,
    context: RetrievalContext,
    found: PatternResult,
    reached: Mapping[int, Reached],
    *,
    bonus: float = BONUS,
    candidates: int = MAX_CANDIDATES,
) -> PatternResult:
    """The chunks found, at most `candidates` more from pages reached, and the bonus for all of them.

    Raises ValueError for a bonus outside [0, MAX_BONUS].
    """
    if not 0 <= bonus <= MAX_BONUS:
        raise ValueError(f"the bonus must lie between 0 and {MAX_BONUS}, not {bonus}")
    if not reached:
        return found
    new = [] if context.full else await _candidates(connection, context, found, reached, candidates)
    chunks = [*found.chunks, *new]
    lifted = [_lifted(context, chunk, reached.get(chunk.document_id), bonus) for chunk in chunks]
    raised = [chunk.raw_score + (chunk.graph.bonus if chunk.graph else 0.0) for chunk in lifted]
    for chunk, probability in zip(lifted, relevance(raised), strict=True):
        chunk.relevance = probability
    return PatternResult(by_score(lifted), found.candidates + len(new), found.term_idf)


def _lifted(context: RetrievalContext, chunk: RetrievedChunk, way: Reached | None, bonus: float) -> RetrievedChunk:
    """A copy of the chunk with its bonus."""
    if way is None:
        return chunk.model_copy()
    gain = bonus * way.closeness * (1 - chunk.raw_score)
    score = (chunk.raw_score + gain) * context.depths.weight(chunk.document_id)
    reason = GraphLift(bonus=gain, anchor=way.anchor, edges=list(way.edges))
    return chunk.model_copy(update={"score": score, "graph": reason})


async def _candidates(
    connection: AsyncConnection,
    context: RetrievalContext,
    found: PatternResult,
    reached: Mapping[int, Reached],
    most: int,
) -> list[RetrievedChunk]:
    """The nearest parents of the best pages reached that no chunk found is from, with their scores."""
    read = {chunk.document_id for chunk in found.chunks}
    ways = sorted(
        (item for item in reached.items() if item[0] not in read),
        key=lambda item: (-item[1].closeness, -item[1].strength, item[0]),
    )
    pages = sorted(document for document, _ in ways[:_MOST_PAGES])
    if not pages or not most:
        return []
    scope = context.scope.only(pages)
    inside = replace(context, scope=scope, size=await scope_size(connection, scope), limit=_OF_ONE_PAGE * most)
    nearest = await nearest_children(connection, inside, floor=-1.0)
    # without a vector by words
    parents = list(nearest) or [hit.parent_id for hit in (await lexical_hits(connection, inside, also={})).hits]
    rows = {row.id: row for row in await load_parents(connection, parents)}
    chosen: list[int] = []
    taken: Counter[int] = Counter()
    for parent in parents:
        document = rows[parent].document_id
        if taken[document] < _OF_ONE_PAGE and len(chosen) < most:
            taken[document] += 1
            chosen.append(parent)
    if not chosen:
        return []
    # the same scores as P4's need the same idf: of the whole scope
    counted = await count_terms(connection, context.words, context.scope, context.size.indexes)
    lexical = await search_parents(connection, context.words, context.scope, limit=1, also=chosen, counted=counted)
    children = await load_children(connection, context.model_id, context.vector, sorted(chosen))
    own = [rows[parent] for parent in chosen]
    return await asyncio.to_thread(rank_parents, context.query, own, children, lexical, context.depths, context.weights)
