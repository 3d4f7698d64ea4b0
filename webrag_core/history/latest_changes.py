"""The latest changes of a source, or of all that is stored, a page of them at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, get_args

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.history.models import PageChange

ChangeKind = Literal["new", "changed", "gone", "back"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)

_CHANGES = """
SELECT url, kind, from_version, to_version, after, "by", CASE WHEN kind = 'changed' THEN cause END AS cause FROM (
    SELECT d.canonical_url AS url, v.number AS to_version, lag(v.number) OVER w AS from_version,
           lag(p.seen_last) OVER w AS after, p.seen_from AS "by", v.cause,
           CASE WHEN lag(p.document_id) OVER w IS NULL THEN 'new' WHEN p.version_id IS NULL THEN 'gone'
                WHEN lag(p.version_id) OVER w IS NULL THEN 'back' ELSE 'changed' END AS kind
    FROM version_periods p JOIN documents d ON d.id = p.document_id JOIN sources s ON s.id = d.source_id
    LEFT JOIN document_versions v ON v.id = p.version_id
    WHERE %(source)s::text IS NULL OR s.key = %(source)s
    WINDOW w AS (PARTITION BY p.document_id ORDER BY p.seen_from)
) c WHERE (%(kind)s::text IS NULL OR kind = %(kind)s)
AND (%(since)s::timestamptz IS NULL OR "by" >= %(since)s) AND (%(until)s::timestamptz IS NULL OR "by" < %(until)s)
ORDER BY "by" DESC, url COLLATE "C" LIMIT %(limit)s OFFSET %(offset)s
"""


async def latest_changes(
    connection: AsyncConnection,
    source: str | None,
    *,
    kind: ChangeKind | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int,
    offset: int = 0,
) -> list[PageChange]:
    """Changes of the pages of a source (None = of all), the latest first, that were first seen from `since` (included)
    to `until` (excluded); of one kind or all. `history.pages.changes` lists all of them, the oldest first."""
    parameters = {
        "source": source,
        "kind": kind,
        "since": since,
        "until": until,
        "limit": limit,
        "offset": offset,
    }
    async with connection.cursor(row_factory=class_row(PageChange)) as cursor:
        await cursor.execute(_CHANGES, parameters)
        return await cursor.fetchall()
