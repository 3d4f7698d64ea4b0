"""Parents with their children, as the scorer and the result need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.store.vector_tables import vector_table


@dataclass(frozen=True, slots=True)
class ParentRow:
    """A parent chunk with what its page version says about it; `body` is its text."""

    id: int
    document_id: int
    version_id: int
    canonical_url: str
    title: str | None
    body: str
    heading_path: list[str]
    ordinal: int
    char_start: int
    char_end: int
    token_count: int
    flags: list[str]
    fetched_at: datetime
    sha256: str
    dated: datetime | None


@dataclass(frozen=True, slots=True)
class Child:
    """A child chunk: its span in the version's Markdown, the cosine of what was embedded for it to the query, in
    [-1, 1], and its passage as it is stored (None = it has to be cut)."""

    parent_id: int
    start: int
    end: int
    heading_path: list[str]
    similarity: float
    passage: bytes | None


_PARENTS = (
    "SELECT c.id, c.document_id, c.version_id, d.canonical_url, v.title, c.body, c.heading_path, c.ordinal,"
    " c.char_start, c.char_end, c.token_count, c.flags, v.fetched_at, v.sha256,"
    " coalesce(v.modified, v.published) AS dated"
    " FROM chunks c JOIN document_versions v ON v.id = c.version_id JOIN documents d ON d.id = c.document_id"
)


async def load_parents(connection: AsyncConnection, parent_ids: Sequence[int]) -> list[ParentRow]:
    """These parents, in no particular order."""
    async with connection.cursor(row_factory=class_row(ParentRow)) as cursor:
        await cursor.execute(_PARENTS + " WHERE c.id = ANY(%s)", (list(parent_ids),))
        return await cursor.fetchall()


async def load_siblings(connection: AsyncConnection, hits: Sequence[RetrievedChunk], radius: int) -> list[ParentRow]:
    """Parents at most `radius` positions before or after each hit, hits included, in reading order."""
    async with connection.cursor(row_factory=class_row(ParentRow)) as cursor:
        await cursor.execute(
            _PARENTS + " WHERE c.version_id = ANY(%(versions)s) AND c.level = 'parent' AND EXISTS (SELECT FROM"
            " unnest(%(versions)s::integer[], %(ordinals)s::integer[]) AS h (version, ordinal)"
            " WHERE h.version = c.version_id AND abs(h.ordinal - c.ordinal) <= %(radius)s)"
            " ORDER BY d.canonical_url, c.ordinal",
            {
                "versions": [hit.version_id for hit in hits],
                "ordinals": [hit.chunk_index for hit in hits],
                "radius": radius,
            },
        )
        return await cursor.fetchall()


async def load_children(
    connection: AsyncConnection, model_id: int, query: NDArray[np.float32], parent_ids: Sequence[int]
) -> list[Child]:
    """Every child of these parents in reading order, with its similarity to the query's vector."""
    cursor = await connection.execute(
        sql.SQL(
            "SELECT c.parent_id, c.char_start, c.char_end, c.heading_path, 1 - (e.embedding <=> %s), c.passage"
            " FROM chunks c JOIN {} e ON e.chunk_id = c.id"
            " WHERE c.parent_id = ANY(%s) ORDER BY c.parent_id, c.char_start"
        ).format(vector_table(model_id)),
        (Vector(query), list(parent_ids)),
    )
    return [Child(*row) for row in await cursor.fetchall()]
