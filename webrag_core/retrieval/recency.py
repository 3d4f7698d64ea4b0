"""Dates of pages in a search: a hard filter when dates or years are asked for, else a small boost for recent ones.

Specification 003: years come from the caller and filter; without them "a small recency boost" is applied after
reranking. Its formula is that project's, with the newest date of the pages that are searched in place of a fixed year:

    tier  = max(0, window - (latest year - year of the page)) / window      1 for the latest year, then .8, .6, .4, .2
    score = score of the reranker * (1 + boost * tier) / (1 + boost)

The last division changes no order and keeps the score in [0, 1]. It is applied once, to the final score; raw scores
stay. A page without a date, or with one after the moment at which it was fetched, has tier 0: it is ranked as an old
page and never left out. Where no page has a date nothing changes at all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from psycopg import AsyncConnection
from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.scope import DateRange, Scope

_IN_RANGES = """
SELECT coalesce(array_agg(d.id ORDER BY d.id) FILTER (WHERE t.dated <@ %(ranges)s::tstzmultirange), '{}'),
       count(*) FILTER (WHERE t.dated IS NULL)
FROM documents d JOIN document_versions v ON v.id = d.current_version,
LATERAL (SELECT coalesce(v.modified, v.published) AS dated) t
WHERE d.id = ANY(%(documents)s::integer[])
"""

_LATEST = """
SELECT max(t.dated) FROM documents d JOIN document_versions v ON v.id = d.current_version,
LATERAL (SELECT coalesce(v.modified, v.published) AS dated) t
WHERE d.id = ANY(%(documents)s::integer[]) AND t.dated <= v.fetched_at
"""


@dataclass(frozen=True, slots=True)
class Recency:
    """How much recent pages gain: `boost` in [0, 1], `window` in years, the latest date among the pages searched."""

    boost: float
    window: int
    latest: datetime

    def weight(self, dated: datetime | None, fetched_at: datetime) -> float:
        """What the score of a page is multiplied by, in (0, 1]: 1 for the latest year, 1 / (1 + boost) for a page
        that is older than the window or undated."""
        return (1 + self.boost * self.tier(dated, fetched_at)) / (1 + self.boost)

    def tier(self, dated: datetime | None, fetched_at: datetime) -> float:
        """In [0, 1]; see above."""
        if dated is None or dated > fetched_at:
            return 0.0
        age = self.latest.astimezone(UTC).year - dated.astimezone(UTC).year
        return min(1.0, max(0, self.window - age) / self.window)


async def within_dates(
    connection: AsyncConnection, scope: Scope, ranges: Sequence[Sequence[DateRange]]
) -> tuple[Scope, int]:
    """The documents of `scope` whose date lies in one range of each list, and how many have no date (none of which is
    among them).

    Raises InvalidInputError for a date without time zone and a range that ends before it begins.
    """
    undated = 0
    for alternatives in ranges:
        spans = Multirange([_range(span) for span in alternatives])
        cursor = await connection.execute(_IN_RANGES, {"ranges": spans, "documents": scope.id_array}, prepare=False)
        row = await cursor.fetchone()
        assert row is not None
        undated = max(undated, int(row[1]))  # the first filter has sorted them out for the next
        scope = replace(scope, document_ids=tuple(row[0]))  # depths of others do no harm
    return scope, undated


async def latest_date(connection: AsyncConnection, scope: Scope) -> datetime | None:
    """The newest date that a page of the scope states (not later than it was fetched); None when none states any."""
    cursor = await connection.execute(_LATEST, {"documents": scope.id_array}, prepare=False)
    row = await cursor.fetchone()
    latest: datetime | None = row[0] if row else None
    return latest


def names_years(texts: Iterable[str]) -> bool:
    """True when one of the texts holds a number from 1900 to 2099, in whatever decimal digits."""
    for text in texts:
        plain = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else " " for sign in text)
        if any(len(number) == 4 and 1900 <= int(number) < 2100 for number in plain.split()):
            return True
    return False


def _range(span: DateRange) -> Range[datetime]:
    for moment in (span.start, span.end):
        if moment is not None and moment.tzinfo is None:
            raise InvalidInputError(f"the date {moment.isoformat()} has no time zone")
    if span.start is not None and span.end is not None and span.end < span.start:
        raise InvalidInputError(f"a range of dates ends before it begins, {span.start.isoformat()}")
    return Range(span.start, span.end)
