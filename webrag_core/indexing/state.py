"""What the index has of a version and its document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from psycopg import AsyncConnection, AsyncCursor, sql

from webrag_core.indexing.unembedded import WITHOUT_VECTOR
from webrag_core.store.vector_tables import vector_table

_STATE = (
    "SELECT coalesce(c.fetched_at > v.fetched_at, false) OR d.status = 'gone'"
    " OR EXISTS (SELECT FROM url_aliases a WHERE a.url = d.canonical_url),"
    " coalesce(d.current_version = v.id AND d.status = 'ready' AND v.chunker = %(chunker)s"
    "  AND v.child_count = (SELECT count(*) FROM {vectors} e WHERE e.document_id = d.id) + {without}, false),"
    " EXISTS (SELECT FROM url_aliases a JOIN documents o ON o.canonical_url = a.url WHERE a.document_id = d.id"
    "  AND o.id <> d.id AND o.status <> 'gone'),"
    " d.current_version IS NULL AND NOT EXISTS (SELECT FROM chunks n WHERE n.document_id = d.id)"
    "  AND NOT EXISTS (SELECT FROM {vectors} e WHERE e.document_id = d.id)"
    "  AND NOT EXISTS (SELECT FROM lexical_postings l WHERE l.document_id = d.id)"
    "  AND NOT EXISTS (SELECT FROM graph_documents g WHERE g.document_id = d.id)"
    "  AND NOT EXISTS (SELECT FROM document_versions o WHERE o.document_id = d.id AND o.id <> v.id),"
    " v.document_id, v.detected_language IS NOT NULL, v.id"
    " FROM document_versions v JOIN documents d ON d.id = v.document_id"
    " LEFT JOIN document_versions c ON c.id = d.current_version WHERE v.id = {versions}"
)


@dataclass(frozen=True, slots=True)
class IndexState:
    """`settled`: the version is current and complete, or must not become current. `is_empty`: it is the only one of its
    document, and the index has nothing of it. `document_id`: None for a version that was removed. `has_language`: its
    language was looked for."""

    settled: bool
    is_empty: bool
    document_id: int | None
    has_language: bool


REMOVED = IndexState(settled=True, is_empty=False, document_id=None, has_language=False)
"""State of a version that was removed on request meanwhile."""


async def read_states(cursor: AsyncCursor) -> dict[int, IndexState]:
    """Read what `ask_states` asked: the states of the versions that there are, by id."""
    return {
        int(version): IndexState(overtaken or (complete and not moved), empty and not moved, document_id, has_language)
        for overtaken, complete, moved, empty, document_id, has_language, version in await cursor.fetchall()
    }


async def read_state(cursor: AsyncCursor) -> IndexState:
    """Read what `ask_states` asked of one version."""
    return next(iter((await read_states(cursor)).values()), REMOVED)


async def ask_states(connection: AsyncConnection, versions: Sequence[int], chunker: str, model_id: int) -> AsyncCursor:
    """Ask for the states of versions, to be chunked by `chunker`. May be part of a pipeline."""
    return await connection.execute(
        _statement(model_id, single=len(versions) == 1),
        {"versions": versions[0] if len(versions) == 1 else list(versions), "chunker": chunker, "model": model_id},
        prepare=True,
    )


@lru_cache(maxsize=8)  # to put it together takes as long as to run it
def _statement(model_id: int, *, single: bool) -> bytes:
    """For a list the server plans anew each time, which costs more than the state of one version."""
    names = {"vectors": vector_table(model_id), "without": sql.SQL(WITHOUT_VECTOR)}
    versions = sql.SQL("%(versions)s" if single else "ANY(%(versions)s)")
    return sql.SQL(_STATE).format(**names, versions=versions).as_bytes(None)
