"""Changes of a page, of a source, or of all that is stored, a part of the list at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.history.models import PageChange

ChangeKind = Literal["new", "changed", "gone", "back"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)

_BEFORE = """
LEFT JOIN LATERAL (SELECT o.document_id, o.version_id, o.seen_last FROM version_periods o
    WHERE o.document_id = p.document_id AND o.seen_from < p.seen_from ORDER BY o.seen_from DESC LIMIT 1) b ON true
"""
# in words whose rarity the planner knows
_CONDITIONS: dict[ChangeKind, str] = {
    "new": "b.document_id IS NULL",
    "changed": "p.version_id IS NOT NULL AND b.version_id IS NOT NULL",
    "gone": "p.version_id IS NULL AND b.document_id IS NOT NULL",
    "back": "p.version_id IS NOT NULL AND b.version_id IS NULL AND b.document_id IS NOT NULL",
}
_PERIODS = """
FROM version_periods p JOIN documents d ON d.id = p.document_id {before}
WHERE p.seen_from >= coalesce(%(since)s::timestamptz, '-infinity')
AND p.seen_from < coalesce(%(until)s::timestamptz, 'infinity') {conditions}
"""
# which periods first: only for those the period and the texts before are looked up
_CHANGES = """
SELECT p.url, coalesce(v.title, w.title) AS title,
       CASE WHEN b.document_id IS NULL THEN 'new' WHEN p.version_id IS NULL THEN 'gone'
                   WHEN b.version_id IS NULL THEN 'back' ELSE 'changed' END AS kind,
       w.number AS from_version, v.number AS to_version, b.seen_last AS after, p.seen_from AS "by",
       CASE WHEN p.version_id IS NOT NULL AND b.version_id IS NOT NULL THEN v.cause END AS cause
FROM (SELECT p.document_id, p.version_id, p.seen_from, d.canonical_url AS url {periods}
      ORDER BY p.seen_from {order}, d.canonical_url COLLATE "C" LIMIT %(limit)s OFFSET %(offset)s) p
{before}
LEFT JOIN document_versions v ON v.id = p.version_id LEFT JOIN document_versions w ON w.id = b.version_id
ORDER BY p.seen_from {order}, p.url COLLATE "C"
"""


@dataclass(frozen=True, slots=True)
class ChangeScope:
    """Whose changes: those of a source, of documents, or (both None) of all pages, that were first seen from `since`
    (included) to `until` (excluded); of one kind or all."""

    source_id: int | None = None
    documents: Sequence[int] | None = None
    kind: ChangeKind | None = None
    since: datetime | None = None
    until: datetime | None = None

    def _periods(self) -> str:
        conditions = [
            "" if self.source_id is None else "AND p.source_id = %(source)s",
            "" if self.documents is None else f"AND p.document_id = {self._of_documents()}",
            "" if self.kind is None else f"AND {_CONDITIONS[self.kind]}",
        ]
        return _PERIODS.format(before="" if self.kind is None else _BEFORE, conditions=" ".join(conditions))

    def _of_documents(self) -> str:
        # the periods of one page are read in the order of an index, and no more than are shown
        return "(%(documents)s::integer[])[1]" if len(self.documents or ()) == 1 else "ANY(%(documents)s)"

    def _parameters(self) -> dict[str, object]:
        return {
            "source": self.source_id,
            "documents": None if self.documents is None else list(self.documents),
            "since": self.since,
            "until": self.until,
        }

    async def load(
        self, connection: AsyncConnection, *, latest_first: bool, limit: int | None = None, offset: int = 0
    ) -> list[PageChange]:
        """A part of the list, by time, those of one moment by address; `limit` None: to its end."""
        query = _CHANGES.format(periods=self._periods(), before=_BEFORE, order="DESC" if latest_first else "ASC")
        async with connection.cursor(row_factory=class_row(PageChange)) as cursor:
            await cursor.execute(
                query.encode(), {**self._parameters(), "limit": limit, "offset": offset}, prepare=False
            )
            return await cursor.fetchall()

    async def count(self, connection: AsyncConnection) -> int:
        """The length of the whole list."""
        query = f"SELECT count(*) {self._periods()}"
        cursor = await connection.execute(query.encode(), self._parameters(), prepare=False)
        row = await cursor.fetchone()
        assert row is not None
        return int(row[0])


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
    to `until` (excluded); of one kind or all. `history.pages.changes` lists them the oldest first."""
    source_id: int | None = None
    if source is not None:
        row = await (await connection.execute("SELECT id FROM sources WHERE key = %s", (source,))).fetchone()
        if row is None:
            return []
        source_id = int(row[0])
    scope = ChangeScope(source_id=source_id, kind=kind, since=since, until=until)
    return await scope.load(connection, latest_first=True, limit=limit, offset=offset)
