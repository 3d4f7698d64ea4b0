"""Load parent and child chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import AsyncConnection, AsyncCursor, sql

from webrag_core.retrieval.dense import ChildHit
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.scope import Scope
from webrag_core.store.id_arrays import id_array
from webrag_core.store.vector_tables import vector_table


@dataclass(slots=True)  # a frozen row takes three times as long to make, and a search makes hundreds
class ParentRow:
    """A parent chunk with the metadata of its page version; `body` is its text."""

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
    language: str | None


@dataclass(slots=True)
class Child:
    """A child chunk: its span in the version's Markdown, the cosine of its embedding to the query's in [-1, 1], and its
    stored passage (None = not stored yet)."""

    parent_id: int
    start: int
    end: int
    heading_path: list[str]
    similarity: float
    passage: bytes | None


_PARENTS = (
    "SELECT c.id, c.document_id, c.version_id, d.canonical_url, v.title, c.body, c.heading_path, c.ordinal,"
    " c.char_start, c.char_end, c.token_count, c.flags, v.fetched_at, v.sha256,"
    " coalesce(v.modified, v.published) AS dated, language_of(v.language, v.detected_language) AS language"
    " FROM chunks c JOIN document_versions v ON v.id = c.version_id JOIN documents d ON d.id = c.document_id"
)


async def load_parents(connection: AsyncConnection, parent_ids: Sequence[int]) -> list[ParentRow]:
    """These parents, in no particular order."""
    cursor = await _ask_parents(connection, parent_ids)
    return [ParentRow(*row) for row in await cursor.fetchall()]


async def _ask_parents(connection: AsyncConnection, parent_ids: Sequence[int]) -> AsyncCursor:
    return await connection.execute(_PARENTS + " WHERE c.id = ANY(%s)", (id_array(parent_ids),), binary=True)


async def load_families(
    connection: AsyncConnection, model_id: int, query: NDArray[np.float32] | None, parent_ids: Sequence[int]
) -> tuple[list[ParentRow], list[Child]]:
    """`load_parents` and `load_children`, by one way to the server and back where the connection is in a pipeline."""
    cursor = await _ask_parents(connection, parent_ids)
    children = await load_children(connection, model_id, query, parent_ids)
    return [ParentRow(*row) for row in await cursor.fetchall()], children


async def load_siblings(connection: AsyncConnection, hits: Sequence[RetrievedChunk], radius: int) -> list[ParentRow]:
    """Parents at most `radius` positions before or after each hit, hits included, in reading order."""
    cursor = await connection.execute(
        _PARENTS + " WHERE c.version_id = ANY(%(versions)s) AND c.level = 'parent' AND EXISTS (SELECT FROM"
        " unnest(%(versions)s::integer[], %(ordinals)s::integer[]) AS h (version, ordinal)"
        " WHERE h.version = c.version_id AND abs(h.ordinal - c.ordinal) <= %(radius)s)"
        " ORDER BY d.canonical_url, c.ordinal",
        {
            "versions": id_array(hit.version_id for hit in hits),
            "ordinals": id_array(hit.chunk_index for hit in hits),
            "radius": radius,
        },
        binary=True,
    )
    return [ParentRow(*row) for row in await cursor.fetchall()]


async def load_children(
    connection: AsyncConnection, model_id: int, query: NDArray[np.float32] | None, parent_ids: Sequence[int]
) -> list[Child]:
    """Every child of these parents in reading order, with its cosine to the query's vector (0 where there is none of
    the query or of the child)."""
    cursor = await connection.execute(
        _children_of(None if query is None else model_id),
        {"query": None if query is None else Vector(query), "parents": id_array(parent_ids)},
        binary=True,  # as text a passage is twice as long
    )
    return [Child(*row) for row in await cursor.fetchall()]


@lru_cache(maxsize=16)
def _children_of(model_id: int | None) -> bytes:
    """The statement of `load_children`, with the vectors of a model or without."""
    cosine: sql.Composable = sql.SQL("0")
    joined: sql.Composable = sql.SQL("")
    if model_id is not None:
        cosine = sql.SQL("coalesce(1 - (e.embedding <=> %(query)s), 0)")
        joined = sql.SQL("LEFT JOIN {} e ON e.chunk_id = c.id").format(vector_table(model_id))
    return (
        sql.SQL(
            "SELECT c.parent_id, c.char_start, c.char_end, c.heading_path, {}, c.passage FROM chunks c {}"
            " WHERE c.parent_id = ANY(%(parents)s) ORDER BY c.parent_id, c.char_start"
        )
        .format(cosine, joined)
        .as_bytes(None)
    )


async def load_scope_children(connection: AsyncConnection, scope: Scope) -> list[ChildHit]:
    """Every child of the scope in reading order, page by page, all with similarity 0."""
    cursor = await connection.execute(
        _SCOPE_CHILDREN.format(inside=scope.lookup("c.document_id")),
        {**scope.parameters, "flags": list(scope.flags)},
        prepare=False,
    )
    return [ChildHit(*row) for row in await cursor.fetchall()]


_SCOPE_CHILDREN = """
SELECT c.parent_id, c.char_start, c.char_end, c.heading_path, 0 FROM chunks c
JOIN documents d ON d.id = c.document_id AND d.current_version = c.version_id
WHERE {inside} AND c.level = 'child' AND (%(flags)s::text[] = '{{}}' OR c.flags && %(flags)s::text[])
ORDER BY d.canonical_url, c.char_start
"""
