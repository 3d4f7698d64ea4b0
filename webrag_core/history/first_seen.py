"""Since when anything is stored."""

from __future__ import annotations

from datetime import datetime

from psycopg import AsyncConnection, sql

from webrag_core.retrieval.request import ScopeFilter
from webrag_core.retrieval.scope import AT_PLACES, place_parameters

_FIRST = sql.SQL("""
SELECT min(p.seen_from) FROM version_periods p JOIN documents d ON d.id = p.document_id
WHERE p.version_id IS NOT NULL {places}
""").format(places=AT_PLACES)


async def first_seen(connection: AsyncConnection, filters: ScopeFilter) -> datetime | None:
    """When the oldest text of the scope was first seen; None when nothing is stored. Of `filters` the documents,
    sources and URLs count."""
    cursor = await connection.execute(_FIRST, place_parameters(filters), prepare=False)
    row = await cursor.fetchone()
    return None if row is None else row[0]
