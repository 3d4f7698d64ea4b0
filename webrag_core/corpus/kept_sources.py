"""Sources that are kept fresh, however they were attached: their owners, and whether their sites still answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.corpus.refresh_store import WATCH_ATTACHED

MISSED = 3
"""Intervals without an answer after which a source is stale."""
SPARE = timedelta(minutes=20)
"""For the sensor that asks for a refresh, its run, and the one that reports it."""

SILENT = timedelta(days=2)
"""Time without an answer to any look after which a source is stale, however rarely it is refreshed."""


@dataclass(frozen=True, slots=True)
class KeptSource:
    """An attached source. `every` is its interval, `hours` the same where it has one that is not the settings'.

    `answered_at` is the end of the last refresh that its site answered, None where there was none. `is_stale`: there
    was no answer for `MISSED` intervals since then, or since it is kept; or a site that answered looks before answers
    none for `SILENT`, or as many looks where they are rarer, and no refresh since. Never true of a paused source.
    """

    key: str
    start_url: str
    page_limit: int
    hours: float | None
    every: timedelta
    owners: list[str]
    declared_in: str | None
    paused: bool
    answered_at: datetime | None
    is_stale: bool


async def kept_sources(connection: AsyncConnection, revisit: timedelta) -> list[KeptSource]:
    """All that are attached, by key; `revisit` is the interval of those that have none of their own."""
    async with connection.cursor(row_factory=class_row(KeptSource)) as cursor:
        await cursor.execute(
            "SELECT key, start_url, page_limit, hours, every, owners, declared_in, paused, answered_at,"
            " NOT paused AND (heard_at + every * %(missed)s + %(spare)s < now()"
            "  OR coalesce(look_answered_at IS NOT NULL AND look_failed_since > heard_at"
            "   AND look_failed_since + greatest(%(silent)s, look_every * %(missed)s) < now(), false)) AS is_stale"
            " FROM (SELECT s.key, coalesce(s.seed_url, 'https://' || s.key || '/') AS start_url, s.page_limit,"
            "  s.refresh_hours AS hours, coalesce(make_interval(secs => s.refresh_hours * 3600), %(revisit)s) AS every,"
            "  s.owners, s.declared_in, s.paused, r.ended_at AS answered_at,"
            "  greatest(r.ended_at, s.kept_since) AS heard_at, s.look_answered_at, s.look_failed_since,"
            "  coalesce(make_interval(secs => s.watch_minutes * 60), %(look)s) AS look_every"
            "  FROM sources s LEFT JOIN LATERAL (SELECT f.ended_at FROM refresh_runs f WHERE f.source_id = s.id"
            "   AND f.answered ORDER BY f.started_at DESC LIMIT 1) r ON true"
            '  WHERE s.page_limit IS NOT NULL) kept ORDER BY key COLLATE "C"',
            {"revisit": revisit, "missed": MISSED, "spare": SPARE, "silent": SILENT, "look": WATCH_ATTACHED},
        )
        return await cursor.fetchall()


async def owners_of(connection: AsyncConnection, keys: Sequence[str]) -> dict[str, list[str]]:
    """The owners of those of these sources that have any, by key."""
    cursor = await connection.execute(
        "SELECT key, owners FROM sources WHERE key = ANY(%s) AND owners <> '{}' ORDER BY key", (list(keys),)
    )
    return {str(key): list(owners) for key, owners in await cursor.fetchall()}
