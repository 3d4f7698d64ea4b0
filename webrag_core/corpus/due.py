"""Which sources are due: for a refresh, and for a look at their change signals. State decides, never a clock's tick:
after any downtime every due source is found, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.corpus.refresh_store import WHOLE

APART = timedelta(hours=6)
"""Pages of a source that nobody attached fall due one by one; a refresh takes together what fell due in this time."""
WATCH_ATTACHED = timedelta(hours=1)
WATCH_OTHERS = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DueSource:
    """A part of a source whose refresh is due since `due_at`."""

    key: str
    shard: int
    shards: int
    pool: str | None
    due_at: datetime
    pages_due: int


async def due_sources(connection: AsyncConnection, revisit: timedelta) -> list[DueSource]:
    """All that are due now, the longest due first. Paused sources never are.

    An attached source is due at its cadence (`revisit` where it has none of its own) after its last refresh, at once
    when it never had one. Any source is due when one of its pages is, but not sooner than `APART` after a refresh; a
    site that nobody attached and that never gave a page (a mistyped host) is not.
    """
    async with connection.cursor(row_factory=class_row(DueSource)) as cursor:
        await cursor.execute(
            "SELECT key, shard, shards, pool, due_at, pages_due FROM ("
            "  SELECT s.key, part.shard, s.shards, s.pool, p.pages_due, least("
            "   CASE WHEN s.page_limit IS NOT NULL THEN coalesce(r.started_at +"
            "    coalesce(make_interval(secs => s.refresh_hours * 3600), %(revisit)s), s.created_at) END,"
            "   CASE WHEN p.next_check IS NOT NULL AND (s.page_limit IS NOT NULL OR EXISTS (SELECT FROM documents g"
            "    JOIN document_versions v ON v.document_id = g.id WHERE g.source_id = s.id))"
            "    THEN greatest(p.next_check, r.started_at + %(apart)s) END) AS due_at"
            "  FROM sources s CROSS JOIN LATERAL generate_series(0, s.shards - 1) part(shard)"
            "  LEFT JOIN LATERAL (SELECT max(f.started_at) AS started_at FROM refresh_runs f"
            "   WHERE f.source_id = s.id AND f.shard IN (part.shard, %(whole)s)) r ON true"
            "  LEFT JOIN LATERAL (SELECT min(d.next_check) AS next_check,"
            "   count(*) FILTER (WHERE d.next_check <= now()) AS pages_due FROM documents d"
            "   WHERE d.source_id = s.id AND d.status <> 'gone') p ON true"
            "  WHERE NOT s.paused) found"
            " WHERE due_at <= now() ORDER BY due_at, key, shard",
            {"revisit": revisit, "apart": APART, "whole": WHOLE},
        )
        return await cursor.fetchall()


async def unwatched_sources(connection: AsyncConnection, *, frozen: str | None, limit: int) -> list[str]:
    """Sources whose change signals should be looked at now, those not looked at for longest first.

    `frozen` names the snapshot of the frozen site that pages come from: looking costs nobody anything there, so every
    source is looked at as soon as the snapshot is another one. A source that holds no page has nothing to watch; one
    that was made or mapped a moment ago was looked at then.
    """
    cursor = await connection.execute(
        "SELECT s.key FROM sources s WHERE NOT s.paused"
        " AND EXISTS (SELECT FROM documents d WHERE d.source_id = s.id AND d.current_version IS NOT NULL)"
        " AND CASE WHEN %(frozen)s::text IS NOT NULL THEN s.watch_token IS DISTINCT FROM %(frozen)s"
        "  ELSE greatest(s.watched_at, s.map_read_at, s.created_at) + CASE"
        "   WHEN s.watch_minutes IS NOT NULL THEN make_interval(secs => s.watch_minutes * 60)"
        "   WHEN s.page_limit IS NOT NULL THEN %(attached)s ELSE %(others)s END <= now() END"
        " ORDER BY s.watched_at NULLS FIRST, s.key LIMIT %(limit)s",
        {"frozen": frozen, "attached": WATCH_ATTACHED, "others": WATCH_OTHERS, "limit": limit},
    )
    return [str(row[0]) for row in await cursor.fetchall()]
