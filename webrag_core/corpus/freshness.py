"""How fresh stored texts are: when each was seen last, when its page answered, and whether the page still has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg import AsyncConnection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Freshness:
    """Of one version, number `version` of its page. `is_current`: the page has this text, as far as is known.

    `seen_at` is its last sighting (its fetch where none is recorded); `is_due`: the page's next check has come.
    `failing` is the reason of the page's last attempt, where that failed.
    """

    version_id: int
    version: int
    is_current: bool
    is_gone: bool
    is_due: bool
    seen_at: datetime
    last_answered: datetime | None
    failing: str | None


ANSWERED_AT = """
CASE WHEN d.last_outcome IN ('fetched', 'unchanged') THEN d.last_checked ELSE
    (SELECT max(p.seen_last) FROM version_periods p WHERE p.document_id = d.id AND p.version_id IS NOT NULL) END
"""
"""When the page `documents d` answered with a text last; `last_checked` counts attempts that failed, too."""
FAILING = "CASE WHEN d.status = 'ready' AND d.last_outcome = 'failed' THEN d.last_reason END"
"""Why the last attempt at the page `documents d` failed, of which a text is stored."""
FAILED_ATTEMPT = """
LEFT JOIN LATERAL (
    SELECT max(d.last_fetch_at) AS failed_at, mode() WITHIN GROUP (ORDER BY d.last_reason) AS failing
    FROM documents d, (
        SELECT id, last_run, last_outcome FROM documents
        WHERE source_id = s.id AND status <> 'gone' AND last_fetch_at IS NOT NULL
        ORDER BY current_version IS NOT NULL DESC, last_fetch_at DESC LIMIT 1
    ) newest
    WHERE newest.last_outcome = 'failed' AND d.source_id = s.id
        AND (d.id = newest.id OR d.last_run = newest.last_run)
    HAVING bool_and(d.last_outcome = 'failed')
) attempt ON true
"""
"""The last attempt at pages of `sources s`, where none of them answered: when, and the most frequent reason. What is
linked to and never had a text says nothing of a source that has texts."""

_FRESHNESS = f"""
SELECT v.id AS version_id, v.number AS version, d.current_version IS NOT DISTINCT FROM v.id AS is_current,
       d.status = 'gone' AS is_gone, coalesce(d.status <> 'gone' AND d.next_check <= now(), false) AS is_due,
       coalesce((SELECT max(p.seen_last) FROM version_periods p WHERE p.version_id = v.id), v.fetched_at) AS seen_at,
       {ANSWERED_AT} AS last_answered, {FAILING} AS failing
FROM document_versions v JOIN documents d ON d.id = v.document_id WHERE v.id = ANY(%s)
"""  # noqa: S608


async def load_freshness(connection: AsyncConnection, versions: Sequence[int]) -> dict[int, Freshness]:
    """Freshness by version id; versions that were removed meanwhile are left out."""
    async with connection.cursor(row_factory=class_row(Freshness)) as cursor:
        await cursor.execute(_FRESHNESS, (list(versions),))
        return {row.version_id: row for row in await cursor.fetchall()}
