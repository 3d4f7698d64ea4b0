"""Dense search: cosine over the child vectors of the live model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import AsyncConnection, sql

from webrag_core.indexing.embedding_models import HNSW_MIN_ROWS, vector_table
from webrag_core.retrieval.scope import Scope

_MAX_EF_SEARCH = 1000  # what pgvector takes


@dataclass(frozen=True, slots=True)
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
) -> list[ChildHit]:
    """The `limit` nearest children in scope, best first, equally near ones by URL and reading order. Call inside a
    transaction.

    Exact below 20,000 matching rows and where more are wanted than the graph can look for; else the HNSW graph with a
    relaxed iterative scan, so that the scope cannot starve it. Which one is decided here, from the row count: left
    alone, the planner post-filters a graph scan and loses most of the hits of a narrow scope.
    """
    exact = matching_rows <= HNSW_MIN_ROWS or limit > _MAX_EF_SEARCH
    if not exact:
        await connection.execute(
            "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            (str(min(max(ef_search, limit), _MAX_EF_SEARCH)),),
        )
    # "+ 0" makes the expression unknown to the index
    order = sql.SQL("(e.embedding <=> %(query)s) + 0" if exact else "e.embedding <=> %(query)s")
    cut = sql.SQL("FETCH FIRST (%(limit)s) ROWS WITH TIES" if exact else "LIMIT %(limit)s")
    cursor = await connection.execute(
        sql.SQL(
            "SELECT c.parent_id, c.char_start, c.char_end, c.heading_path, 1 - n.distance FROM ("
            " SELECT e.chunk_id, e.embedding <=> %(query)s AS distance FROM {table} e"
            " WHERE e.document_id = ANY(%(documents)s) ORDER BY {order} {cut}"
            ") n JOIN chunks c ON c.id = n.chunk_id JOIN documents d ON d.id = c.document_id"
            " ORDER BY n.distance, d.canonical_url, c.ordinal LIMIT %(limit)s"
        ).format(table=vector_table(model_id), order=order, cut=cut),
        {"query": Vector(query), "documents": list(scope.document_ids), "limit": limit},
        prepare=False,  # a cached plan would not see the row counts that the choice above rests on
    )
    return [ChildHit(*row) for row in await cursor.fetchall()]


async def children_of(
    connection: AsyncConnection, model_id: int, query: NDArray[np.float32], parent_ids: Sequence[int]
) -> list[ChildHit]:
    """Every child of these parents with its similarity."""
    cursor = await connection.execute(
        sql.SQL(
            "SELECT c.parent_id, c.char_start, c.char_end, c.heading_path, 1 - (e.embedding <=> %s)"
            " FROM chunks c JOIN {} e ON e.chunk_id = c.id"
            " WHERE c.parent_id = ANY(%s) ORDER BY c.id"
        ).format(vector_table(model_id)),
        (Vector(query), list(parent_ids)),
    )
    return [ChildHit(*row) for row in await cursor.fetchall()]
