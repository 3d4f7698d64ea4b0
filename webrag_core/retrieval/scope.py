"""The set of documents that a search may return, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import AsyncConnection

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.query import check_text


@dataclass(frozen=True, slots=True)
class Scope:
    """Documents by id. `depths` gives the link distance from the seed in this run (absent = 0)."""

    document_ids: tuple[int, ...]
    depths: dict[int, int]

    @classmethod
    def of(cls, depths: dict[int, int]) -> Scope:
        """The documents of a run with their link depth."""
        return cls(tuple(sorted(depths)), dict(depths))


@dataclass(frozen=True, slots=True)
class ScopeSize:
    """Searchable content of a scope: documents, parent chunks, child chunks, tokens of the parents."""

    documents: int
    parents: int
    children: int
    tokens: int


async def source_scope(connection: AsyncConnection, keys: Sequence[str] | None) -> Scope:
    """Every ready document of these sources, or of all sources for None.

    Raises InvalidInputError naming a source that does not exist.
    """
    if keys is not None:
        for key in keys:
            check_text(key, "source")
        cursor = await connection.execute("SELECT key FROM sources WHERE key = ANY(%s)", (list(keys),))
        unknown = sorted(set(keys) - {row[0] for row in await cursor.fetchall()})
        if unknown:
            raise InvalidInputError(f"no such source: {', '.join(unknown)}")
    cursor = await connection.execute(
        "SELECT d.id FROM documents d JOIN sources s ON s.id = d.source_id"
        " WHERE d.current_version IS NOT NULL AND (%(keys)s::text[] IS NULL OR s.key = ANY(%(keys)s))",
        {"keys": None if keys is None else list(keys)},
    )
    return Scope.of({int(row[0]): 0 for row in await cursor.fetchall()})


async def scope_size(connection: AsyncConnection, scope: Scope) -> ScopeSize:
    """Count what can be found in `scope`."""
    cursor = await connection.execute(
        "SELECT count(DISTINCT d.id), count(*) FILTER (WHERE c.level = 'parent'),"
        " count(*) FILTER (WHERE c.level = 'child'),"
        " coalesce(sum(c.token_count) FILTER (WHERE c.level = 'parent'), 0)"
        " FROM documents d JOIN chunks c ON c.version_id = d.current_version WHERE d.id = ANY(%s)",
        (list(scope.document_ids),),
    )
    row = await cursor.fetchone()
    assert row is not None
    return ScopeSize(*(int(value) for value in row))
