"""What a page said on a date, all that it ever said, and what changed when.

`versions` and `page_at` take a database: they read first what an earlier version of this package left unread.
`seen_history` and `seen_at` take a connection: when pages were seen needs no such reading.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.acquisition.urls import canonicalise
from webrag_core.corpus.validity import read_missing
from webrag_core.corpus.works import load_works
from webrag_core.errors import NotStoredError
from webrag_core.history.as_of import AsOf
from webrag_core.history.latest_changes import ChangeScope
from webrag_core.history.models import (
    Certainty,
    HistoryPeriod,
    OtherVersion,
    PageAt,
    PageChange,
    PageHistory,
    TimeAxis,
)
from webrag_core.history.validity import stated_times, valid_page
from webrag_core.store.database import Database

_PERIODS = """
SELECT d.id AS document_id, d.canonical_url AS url, p.version_id, v.number AS version, v.sha256, v.title,
       p.seen_from, p.seen_last, p.seen_until, p.basis, v.cause, coalesce(v.pruned_at IS NULL, true) AS kept
FROM version_periods p JOIN documents d ON d.id = p.document_id LEFT JOIN document_versions v ON v.id = p.version_id
WHERE p.document_id = %s ORDER BY p.seen_from DESC LIMIT %s
"""


class _Row(HistoryPeriod):
    document_id: int


async def versions(database: Database, url: str, *, last: int | None = None) -> PageHistory:
    """All that is known of a page; with `last` only so many of its periods, the latest. Raises NotStoredError for a
    page of which nothing is known."""
    await read_missing(database)
    async with database.connection() as connection:
        address, documents = await _documents(connection, url)
        rows: list[_Row] = []
        for document in reversed(documents):
            rows[:0] = await _load(connection, document, None if last is None else last - len(rows))
        stated = await stated_times(connection, documents)
    works = await load_works(database, address)
    return PageHistory(
        url=address,
        periods=[_plain(row) for row in rows],
        stated=stated,
        works={work.key: [OtherVersion(**asdict(member)) for member in work.members] for work in works},
    )


async def seen_history(connection: AsyncConnection, url: str) -> PageHistory:
    """The periods of a page, without what it says of its time and its other versions. Raises NotStoredError."""
    address, timelines = await _timelines(connection, url)
    return PageHistory(url=address, periods=[_plain(row) for rows in timelines for row in rows])


async def count_periods(connection: AsyncConnection, url: str) -> int:
    """How many periods are known of a page. Raises NotStoredError for a page of which nothing is known."""
    _, documents = await _documents(connection, url)
    cursor = await connection.execute("SELECT count(*) FROM version_periods WHERE document_id = ANY(%s)", (documents,))
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def page_at(database: Database, url: str, at: AsOf, time: TimeAxis = "seen") -> PageAt:
    """What the page said at a time, or with `time` valid which of its texts holds then (on the last day of it).

    Raises NotStoredError for a page of which nothing is known.
    """
    if time == "valid":
        await read_missing(database)
    async with database.connection() as connection:
        if time == "seen":
            return await seen_at(connection, url, at)
        address, timelines = await _timelines(connection, url)
        return await valid_page(connection, address, [rows[0].document_id for rows in timelines], at)


async def seen_at(connection: AsyncConnection, url: str, at: AsOf) -> PageAt:
    """What the page said when it was seen at a time. Raises NotStoredError for a page of which nothing is known."""
    address, timelines = await _timelines(connection, url)
    answers = [_answer(address, rows, at) for rows in timelines]
    # an address that became another page's: what it said itself counts, while it did
    known = [answer for answer in answers if answer.version is not None and answer.certainty != "not_seen"]
    chosen = (known or answers)[0]
    if chosen.version_id is not None:
        cursor = await connection.execute("SELECT markdown FROM document_versions WHERE id = %s", (chosen.version_id,))
        chosen.text = (await cursor.fetchone() or (None,))[0]
        if chosen.text is None:
            chosen.note = f"{chosen.note}; its text is no longer kept"
    rows = timelines[answers.index(chosen)]
    if chosen.text is None and chosen.nearest is None:
        chosen.nearest = _nearest(rows, at)
    if rows[0].url != address:
        chosen.note = f"the address leads to {rows[0].url}; {chosen.note}"
    return chosen


async def is_stored(connection: AsyncConnection, url: str) -> bool:
    """Whether anything is known of a page. Raises FetchError for what is no URL."""
    cursor = await connection.execute(
        "SELECT EXISTS (SELECT FROM documents WHERE canonical_url = %(url)s)"
        " OR EXISTS (SELECT FROM url_aliases WHERE url = %(url)s)",
        {"url": canonicalise(url)},
    )
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


async def changes(
    connection: AsyncConnection,
    target: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[PageChange]:
    """Changes of a page (by URL) or of a source (by key) that were first seen from `since` (included) to `until`
    (excluded), oldest first; of these at most `limit` after the first `offset`. Raises NotStoredError for a page or
    source that is not stored."""
    scope = await _changes_of(connection, target, since, until)
    return await scope.load(connection, latest_first=False, limit=limit, offset=offset)


async def count_changes(
    connection: AsyncConnection, target: str, *, since: datetime | None = None, until: datetime | None = None
) -> int:
    """How many `changes` there are. Raises as that does."""
    return await (await _changes_of(connection, target, since, until)).count(connection)


async def _changes_of(
    connection: AsyncConnection, target: str, since: datetime | None, until: datetime | None
) -> ChangeScope:
    if "://" in target:
        _, documents = await _documents(connection, target)
        return ChangeScope(documents=documents, since=since, until=until)
    cursor = await connection.execute(
        "SELECT s.id FROM sources s WHERE s.key = %s AND EXISTS (SELECT FROM documents d WHERE d.source_id = s.id)",
        (target.strip(),),
    )
    row = await cursor.fetchone()
    if row is None:
        raise NotStoredError(f"nothing is stored of a source {target.strip()}; `webrag source list` shows them")
    return ChangeScope(source_id=int(row[0]), since=since, until=until)


async def _documents(connection: AsyncConnection, url: str) -> tuple[str, list[int]]:
    """The canonical address, and the page that has it or had it, then the page it leads to now; only those with
    periods. Raises NotStoredError when there is none."""
    address = canonicalise(url)
    cursor = await connection.execute(
        "SELECT n.id FROM (SELECT o.id FROM documents o WHERE o.canonical_url = %(url)s"
        " UNION ALL SELECT a.document_id FROM url_aliases a WHERE a.url = %(url)s) n"
        " WHERE EXISTS (SELECT FROM version_periods p WHERE p.document_id = n.id)",
        {"url": address},
    )
    documents = [int(row[0]) for row in await cursor.fetchall()]
    if not documents:
        raise NotStoredError(f"nothing is stored of {address}; `webrag ingest` stores a page")
    return address, documents


async def _timelines(connection: AsyncConnection, url: str) -> tuple[str, list[list[_Row]]]:
    """The canonical address, and the periods of each page that `_documents` names."""
    address, documents = await _documents(connection, url)
    return address, [await _load(connection, document) for document in documents]


async def _load(connection: AsyncConnection, document: int, last: int | None = None) -> list[_Row]:
    """The periods of a document, or the last ones of them, in order."""
    async with connection.cursor(row_factory=class_row(_Row)) as cursor:
        await cursor.execute(_PERIODS, (document, last))
        return (await cursor.fetchall())[::-1]


def _answer(url: str, rows: list[_Row], at: AsOf) -> PageAt:
    """What one document's periods say of `at`, without its text."""
    begun = [row for row in rows if row.seen_from <= at.end]
    if at.in_future or not begun:
        first, last = _day(rows[0].seen_from), _day(rows[-1].seen_last)
        note = f"the page was first seen on {first}, after {at.text}"
        if at.in_future:
            note = f"{at.text} is in the future; the page was last seen on {last}"
        near = _nearest(rows, at) or _plain(rows[-1 if at.in_future else 0])
        return PageAt(url=url, at=at.text, certainty="not_seen", nearest=near, note=note)
    place = len(begun) - 1
    row, later = begun[place], rows[place + 1] if place + 1 < len(rows) else None
    if row.seen_last >= at.start:
        certainty: Certainty = "certain"
        note = f"seen from {_time(row.seen_from)} to {_time(row.seen_last)}"
        if row.version is None:
            note = f"the page was absent, {note}"
    elif later is not None:
        certainty = "between"
        change = "it was absent" if later.version is None else f"it had version {later.version}"
        note = f"{_last(row)}; {change} on {_time(later.seen_from)} and changed in between"
    else:
        certainty, note = "between", f"{_last(row)}; not looked at since"
    return PageAt(
        url=url,
        at=at.text,
        certainty=certainty,
        version=row.version,
        version_id=row.version_id,
        sha256=row.sha256,
        title=row.title,
        seen_from=row.seen_from,
        seen_last=row.seen_last,
        seen_until=row.seen_until,
        next_version=None if later is None or certainty == "certain" else later.version,
        note=note,
    )


def _last(row: _Row) -> str:
    return (
        f"{'last seen so' if row.version is not None else 'the page was last found absent'} on {_time(row.seen_last)}"
    )


def _nearest(rows: list[_Row], at: AsOf) -> HistoryPeriod | None:
    """The period that is closest to a time, of those whose texts are kept."""
    texts = [row for row in rows if row.version is not None and row.kept]
    if not texts:
        return None
    return _plain(min(texts, key=lambda row: max(row.seen_from - at.end, at.start - row.seen_last)))


def _plain(row: _Row) -> HistoryPeriod:
    return HistoryPeriod(**row.model_dump(exclude={"document_id"}))


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d}"


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"
