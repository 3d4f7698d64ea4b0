"""Periods: when a page had which text.

A sighting says that a page had a text, or was confirmed absent, at one instant. A run of equal sightings is a period:
[seen_from, seen_last] holds its first and its last one, `seen_until` is the first sighting of something else. What the
page said between `seen_last` and `seen_until` is not known. The same sightings give the same periods in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from psycopg import AsyncConnection
from psycopg.rows import class_row

Basis = Literal["seen", "archive", "backfilled"]
"""How a period is known: `seen` live, replayed from an `archive`, or `backfilled` from the tables of an older version
of this package, which kept only the last sighting of each text."""


ARCHIVES = frozenset({"warc", "git", "memento"})
"""Acquirers that replay what was kept elsewhere."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a page was at one instant. `version_id` None = confirmed absent."""

    at: datetime
    version_id: int | None
    acquirer: str | None
    basis: Basis = "seen"


@dataclass(frozen=True, slots=True)
class Period:
    """A run of equal sightings; `acquirer` and `basis` are those of the first. `seen_until` None = open."""

    version_id: int | None
    seen_from: datetime
    seen_last: datetime
    seen_until: datetime | None
    acquirer: str | None
    basis: Basis


def basis_of(acquirer: str | None) -> Basis:
    """Basis of what `acquirer` sees."""
    return "archive" if acquirer in ARCHIVES else "seen"


def periods_of(sightings: Iterable[Sighting]) -> list[Period]:
    """The periods of one page, in order. Pure.

    Of different sightings at one instant the newest version counts, and any version rather than an absence.
    """
    at_each: dict[datetime, Sighting] = {}
    for sighting in sightings:
        known = at_each.get(sighting.at)
        if known is None or _rank(sighting) > _rank(known):
            at_each[sighting.at] = sighting
    periods: list[Period] = []
    for _, item in sorted(at_each.items()):
        if periods and periods[-1].version_id == item.version_id:
            periods[-1] = replace(periods[-1], seen_last=item.at)
            continue
        if periods:
            periods[-1] = replace(periods[-1], seen_until=item.at)
        periods.append(Period(item.version_id, item.at, item.at, None, item.acquirer, item.basis))
    return periods


def _rank(sighting: Sighting) -> tuple[int, str]:
    """What counts at one instant; of equal versions, the last acquirer by name."""
    return (sighting.version_id or 0, sighting.acquirer or "")


_PERIODS = (
    "SELECT version_id, seen_from, seen_last, seen_until, acquirer, basis FROM version_periods WHERE document_id = %s"
)
_BEGINNING = (
    "WITH latest AS (SELECT version_id, seen_from, seen_last, seen_until, acquirer, basis FROM version_periods"
    " WHERE document_id = %(document)s AND seen_until IS NULL), extension AS ("
    " UPDATE version_periods p SET seen_last = %(at)s FROM latest l WHERE p.document_id = %(document)s"
    " AND p.seen_until IS NULL AND l.version_id IS NOT DISTINCT FROM %(version)s::integer AND l.seen_from <= %(at)s"
    " AND l.seen_last < %(at)s),"
    " beginning AS (INSERT INTO version_periods (document_id, version_id, seen_from, seen_last, acquirer, basis)"
    " SELECT %(document)s, %(version)s, %(at)s, %(at)s, %(acquirer)s, %(basis)s"
    " WHERE NOT EXISTS (SELECT FROM latest)) TABLE latest"
)
"""Prolongs the latest period of a document where a sighting repeats it, and begins one where there is none. A row: the
latest period as it was."""
_LEDGER = (
    "SELECT f.seen_at, f.version_id, f.acquirer FROM fetch_log f JOIN documents d ON d.canonical_url = f.final_url"
    " JOIN document_versions v ON v.id = f.version_id AND v.document_id = d.id WHERE d.id = %s"
)


async def record_sighting(connection: AsyncConnection, document_id: int, sighting: Sighting) -> None:
    """Add a sighting to the periods of a document. Call inside a transaction that holds the lock of its URL, before or
    after the ledger has the line."""
    values = {"document": document_id, "version": sighting.version_id, "at": sighting.at}
    cursor = await connection.execute(_BEGINNING, {**values, "acquirer": sighting.acquirer, "basis": sighting.basis})
    row = await cursor.fetchone()
    if row is None:  # its first period, or the first since it ended
        return
    latest = Period(*row)
    if latest.version_id == sighting.version_id and latest.seen_from <= sighting.at:
        return
    if sighting.at > latest.seen_last:
        await connection.execute(
            "UPDATE version_periods SET seen_until = %s WHERE document_id = %s AND seen_until IS NULL",
            (sighting.at, document_id),
        )
        await _insert(connection, document_id, periods_of([sighting]))
    else:
        await _rebuild(connection, document_id, sighting)


async def newest_sighting(connection: AsyncConnection, document_id: int) -> datetime | None:
    """When the newest text of a document was last seen."""
    cursor = await connection.execute(
        "SELECT max(fetched_at) FROM document_versions WHERE document_id = %s", (document_id,)
    )
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def load_periods(connection: AsyncConnection, document_id: int) -> list[Period]:
    """The periods of a document, in order."""
    async with connection.cursor(row_factory=class_row(Period)) as cursor:
        await cursor.execute(_PERIODS + " ORDER BY seen_from", (document_id,))
        return await cursor.fetchall()


async def _rebuild(connection: AsyncConnection, document_id: int, late: Sighting) -> None:
    """Make the periods anew, with a sighting from before the last one.

    The sightings are those that begin and end periods, and the ledger's: from its pruned lines nothing is left but the
    first and the last of each period.
    """
    cursor = await connection.execute(_LEDGER, (document_id,))
    ledger = await cursor.fetchall()
    sightings = [late, *(Sighting(at, version_id, acquirer, basis_of(acquirer)) for at, version_id, acquirer in ledger)]
    exact = {sighting.at for sighting in sightings}
    for period in await load_periods(connection, document_id):
        for at in {period.seen_from, period.seen_last} - exact:
            sightings.append(Sighting(at, period.version_id, period.acquirer, period.basis))
    await connection.execute("DELETE FROM version_periods WHERE document_id = %s", (document_id,))
    await _insert(connection, document_id, periods_of(sightings))


async def _insert(connection: AsyncConnection, document_id: int, periods: Sequence[Period]) -> None:
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO version_periods (document_id, version_id, seen_from, seen_last, seen_until, acquirer, basis)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [
                (
                    document_id,
                    period.version_id,
                    period.seen_from,
                    period.seen_last,
                    period.seen_until,
                    period.acquirer,
                    period.basis,
                )
                for period in periods
            ],
        )
