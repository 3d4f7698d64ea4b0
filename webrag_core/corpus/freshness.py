"""How fresh stored texts are: when each was seen last, when its page was checked, and whether the page still has it."""

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
    """

    version_id: int
    version: int
    is_current: bool
    is_gone: bool
    is_due: bool
    seen_at: datetime
    last_checked: datetime | None


_FRESHNESS = """
SELECT v.id AS version_id, v.number AS version, d.current_version IS NOT DISTINCT FROM v.id AS is_current,
       d.status = 'gone' AS is_gone, coalesce(d.status <> 'gone' AND d.next_check <= now(), false) AS is_due,
       coalesce((SELECT max(p.seen_last) FROM version_periods p WHERE p.version_id = v.id), v.fetched_at) AS seen_at,
       d.last_checked
FROM document_versions v JOIN documents d ON d.id = v.document_id WHERE v.id = ANY(%s)
"""


async def load_freshness(connection: AsyncConnection, versions: Sequence[int]) -> dict[int, Freshness]:
    """Freshness by version id; versions that were removed meanwhile are left out."""
    async with connection.cursor(row_factory=class_row(Freshness)) as cursor:
        await cursor.execute(_FRESHNESS, (list(versions),))
        return {row.version_id: row for row in await cursor.fetchall()}
