"""Dense search: cosine over the child vectors of one model, exact or by graph as the numbers of rows advise.

All figures here are from `python -m benchmarks.retrieval.vectors`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import LiteralString

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import AsyncConnection, sql

from webrag_core.indexing.embedding_models import HNSW_MIN_ROWS, graph_key
from webrag_core.retrieval.coded_vectors import CodedVectors
from webrag_core.retrieval.resident_index import ChildVectors
from webrag_core.retrieval.scope import Scope, scope_size
from webrag_core.store.database import sent_together
from webrag_core.store.id_arrays import id_array
from webrag_core.store.vector_tables import vector_table

_MAX_EF_SEARCH = 1000  # what pgvector takes
_EF_SEARCH = 400  # what .99 of the ten best take among 100,000 vectors
_EF_ROWS = 100_000
_EF_GROWTH = 0.3  # ef grows with this power of the number of rows beyond
_EF_FILTERED = 0.7  # and with this power of the rows among which one matches
_MARGIN = 1e-4  # of a cosine: the server's is computed in another order
_ROWS_PER_STEP = 10  # rows that an exact search compares in the time of one step in the graph


@dataclass(slots=True)  # as `chunk_store.ParentRow`
class ChildHit:
    """A child chunk, its span in the version's Markdown, where that stands and its cosine similarity to the query, in
    [-1, 1]."""

    parent_id: int
    start: int
    end: int
    heading_path: list[str]
    similarity: float


async def search_children(
    connection: AsyncConnection,
    model_id: int,
    query: NDArray[np.float32],
    scope: Scope,
    *,
    matching_rows: int,
    limit: int,
    ef_search: int,
    corpus_rows: int | None = None,
    held: ChildVectors | CodedVectors | None = None,
) -> list[ChildHit]:
    """The `limit` nearest children in scope, best first, equally near ones by URL and reading order; fewer only when
    the scope holds fewer. Call inside a transaction.

    Of vectors that are `held` in memory, by codes for more than 20,000 matching rows alone, the server compares those
    that may be among the nearest. Without them exact up to 20,000 matching rows and where more are wanted than the
    graph can look for; else the HNSW graph, which goes on looking until it has enough rows of the scope, and hands over
    to the exact search when that takes longer.
    Which one is decided here, from `matching_rows` (`scope_size(…).children`): left alone, the planner filters what
    the graph finds afterwards and loses most of the hits of a narrow scope. `ef_search` is the least that is used,
    `corpus_rows` the children of the whole corpus (`scope_size(…).indexes.corpus_children`; None = looked up).
    """
    if limit < 1 or matching_rows < 1 or scope.is_empty:
        return []
    if held is not None and not scope.flags and limit <= _MAX_EF_SEARCH:
        if isinstance(held, ChildVectors):
            among = held.nearest(query, scope, limit, _MARGIN)
            return await _exactly(connection, model_id, query, scope, limit, among)
        if matching_rows > HNSW_MIN_ROWS:  # which takes long enough for others to go on meanwhile
            among = await asyncio.to_thread(held.nearest, query, scope, limit, _MARGIN)
            return await _exactly(connection, model_id, query, scope, limit, among)
    if matching_rows > HNSW_MIN_ROWS:
        if limit <= _MAX_EF_SEARCH:
            if corpus_rows is None:
                corpus_rows = (await scope_size(connection, scope)).indexes.corpus_children
            rows = max(corpus_rows, matching_rows), matching_rows
            hits = await _by_graph(connection, model_id, query, scope, rows, limit, ef_search)
            if len(hits) >= min(limit, matching_rows):
                return hits
        await connection.execute("SELECT set_config('jit', 'off', true)")  # compiling takes longer than it saves
    return await _exactly(connection, model_id, query, scope, limit)


def graph_effort(total: int, matching: int, *, least: int) -> int:
    """`hnsw.ef_search` for a scope that holds `matching` (at least 1) of `total` rows; `least` to 1000."""
    effort: float = _EF_SEARCH * max(1.0, total / _EF_ROWS) ** _EF_GROWTH * (total / matching) ** _EF_FILTERED
    return min(max(least, round(effort)), _MAX_EF_SEARCH)


async def _exactly(
    connection: AsyncConnection,
    model_id: int,
    query: NDArray[np.float32],
    scope: Scope,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[ChildHit]:
    """The nearest of the scope, or of the children `among` which they are known to be."""
    inside: LiteralString
    values: dict[str, object]
    if among is not None:
        inside, values = "e.chunk_id = ANY(%(among)s::bigint[])", {"among": id_array(among)}
    else:
        inside = scope.lookup("f.document_id" if scope.flags else "e.document_id")
        values = {**scope.parameters, "flags": list(scope.flags)}
    cursor = await connection.execute(
        _exact(model_id, inside, is_flagged=bool(scope.flags)),
        {"query": Vector(query), **values, "limit": limit},
        prepare=None if among is not None else False,  # a plan for other scopes may be the wrong one
        binary=True,
    )
    return [ChildHit(*row) for row in await cursor.fetchall()]


@lru_cache(maxsize=64)
def _exact(model_id: int, inside: LiteralString, *, is_flagged: bool) -> bytes:
    """The statement of `_exactly`: ordered by the whole vectors, so that the graph, which is over another expression,
    cannot be taken for it."""
    return (
        sql.SQL(
            "SELECT c.parent_id, c.char_start, c.char_end, c.heading_path, 1 - n.distance FROM ("
            " SELECT e.chunk_id, e.embedding <=> %(query)s AS distance FROM {rows} WHERE {inside}"
            " ORDER BY distance FETCH FIRST (%(limit)s) ROWS WITH TIES"
            ") n JOIN chunks c ON c.id = n.chunk_id JOIN documents d ON d.id = c.document_id"
            " ORDER BY n.distance, d.canonical_url, c.ordinal LIMIT %(limit)s"
        )
        .format(rows=(_FLAGGED if is_flagged else _ALL).format(vector_table(model_id)), inside=sql.SQL(inside))
        .as_bytes(None)
    )


_ALL = sql.SQL("{} e")
_FLAGGED = sql.SQL(
    "(SELECT * FROM chunks WHERE level = 'child' AND flags && %(flags)s::text[]) f JOIN {} e ON e.chunk_id = f.id"
)


async def _by_graph(
    connection: AsyncConnection,
    model_id: int,
    query: NDArray[np.float32],
    scope: Scope,
    rows: tuple[int, int],
    limit: int,
    ef_search: int,
) -> list[ChildHit]:
    """`rows`: of the corpus, and of the scope."""
    total, matching_rows = rows
    whole = not scope.flags and matching_rows == total
    # the graph's order is that of half precision, and after its first round only nearly an order
    looked_at = limit + limit // 4 + 10
    ef = graph_effort(total, matching_rows, least=max(ef_search, looked_at))
    async with sent_together(connection):  # one way to the server and back for all three
        await connection.execute(
            "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', %s, true),"
            " set_config('hnsw.max_scan_tuples', %s, true), set_config('hnsw.scan_mem_multiplier', '8', true),"
            " set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)",
            # one round is enough where every row matches, and a third cheaper when no other can follow
            (str(ef), "off" if whole else "relaxed_order", str(max(ef, matching_rows // _ROWS_PER_STEP))),
        )
        condition = "" if whole else f" WHERE {scope.test('e.document_id')}{_FLAGGED_TOO if scope.flags else ''}"
        cursor = await connection.execute(
            _graph(model_id, len(query), condition, looked_at),
            {"query": Vector(query), **({} if whole else scope.parameters), "flags": list(scope.flags)},
            prepare=None if whole else False,  # a plan for other scopes may be the wrong one
            binary=True,
        )
        await connection.execute("SELECT set_config('enable_seqscan', 'on', true)")
    nearest = await cursor.fetchall()
    if scope.document_ids is not None:  # a whole corpus may hold a document more than the scope has heard of
        allowed = set(scope.document_ids)
        nearest = [row for row in nearest if row[-1] in allowed]
    return [ChildHit(*row[:-1]) for row in nearest[:limit]]


@lru_cache(maxsize=64)
def _graph(model_id: int, dimensions: int, condition: LiteralString, limit: int) -> bytes:
    """The statement of `_by_graph`. The limit stands in it: without it the planner would expect a tenth of all rows."""
    return (
        sql.SQL(
            # materialized: joined as a subquery, the planner may walk the graph once for each document
            "WITH n AS MATERIALIZED ("
            " SELECT e.chunk_id, e.embedding <=> %(query)s AS distance FROM {table} e{where}"
            " ORDER BY {key} <=> %(query)s::halfvec LIMIT {limit}"
            ") SELECT c.parent_id, c.char_start, c.char_end, c.heading_path, 1 - n.distance, c.document_id"
            " FROM n JOIN chunks c ON c.id = n.chunk_id JOIN documents d ON d.id = c.document_id"
            " ORDER BY n.distance, d.canonical_url, c.ordinal"
        )
        .format(
            table=vector_table(model_id),
            where=sql.SQL(condition),
            key=graph_key(dimensions),
            limit=sql.Literal(limit),
        )
        .as_bytes(None)
    )


_FLAGGED_TOO = " AND (SELECT f.flags && %(flags)s::text[] FROM chunks f WHERE f.id = e.chunk_id)"
