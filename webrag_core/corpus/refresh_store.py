"""Tables that a refresh of a source reads and writes: site map, known and new pages, change signals, balance."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.acquisition.sitemaps.models import MapEntry, MapFile
from webrag_core.conversion.converted_page import EXTRACTOR_VERSION
from webrag_core.corpus.documents import CONFIRMATIONS, UNREADABLE, find_document
from webrag_core.corpus.revisit import KnownPage, SignalRecord
from webrag_core.corpus.sources import Source
from webrag_core.errors import FetchError, Reason
from webrag_core.result_warnings import Caution
from webrag_core.trace import current_trace_id

_DATED = {"sitemap", "feed"}
"""Lists whose dates are change signals."""
WHOLE = -1
"""Number of the shard in the balance of a refresh of the whole source."""


@dataclass(frozen=True, slots=True)
class RefreshCounts:
    """Pages of one refresh by outcome; the sum is all pages that were known of. `put_off` were to be asked, and left
    to a later refresh by its limit."""

    fetched: int = 0
    unchanged: int = 0
    failed: int = 0
    skipped: int = 0
    not_due: int = 0
    put_off: int = 0

    @property
    def discovered(self) -> int:
        """All pages that the refresh knew of."""
        return self.fetched + self.unchanged + self.failed + self.skipped + self.not_due + self.put_off


async def store_map(
    connection: AsyncConnection, source: Source, entries: Sequence[MapEntry], read_at: datetime, *, brief: bool = False
) -> None:
    """Store the entries of the source's section. A date other than the stored one is a change, seen at `read_at`.

    `brief`: some files of the site were read, so that no entry is dropped. A map that was read for another start page
    is not counted as the map of the present one.
    """
    entries = [entry for entry in entries if source.covers(entry.url)]
    await connection.execute(
        "CREATE TEMP TABLE mapped (url text, title text, description text, listed_in text, last_modified timestamptz,"
        " words text)"
        " ON COMMIT DROP"
    )
    async with connection.cursor() as cursor, cursor.copy("COPY mapped FROM STDIN") as copy:
        for entry in entries:
            await copy.write_row(
                (entry.url, entry.title, entry.description, entry.listed_in, entry.last_modified, entry.words)
            )
    await connection.execute(
        "INSERT INTO site_map_pages AS old (source_id, url, title, description, listed_in, last_modified, words,"
        " first_seen, last_seen)"
        " SELECT %(source)s, url, title, description, listed_in, last_modified, words, %(now)s, %(now)s"
        " FROM mapped WHERE NOT is_forgotten(url) ORDER BY url"
        " ON CONFLICT (source_id, url) DO UPDATE SET title = EXCLUDED.title, description = EXCLUDED.description,"
        " words = EXCLUDED.words, listed_in = EXCLUDED.listed_in, last_seen = EXCLUDED.last_seen,"
        " last_modified = EXCLUDED.last_modified,"
        " moved_at = CASE WHEN old.last_modified <> EXCLUDED.last_modified THEN %(now)s ELSE old.moved_at END",
        {"source": source.id, "now": read_at},
    )
    if brief:
        await connection.execute("UPDATE sources SET described_at = %s WHERE id = %s", (read_at, source.id))
        return
    await connection.execute(
        "DELETE FROM site_map_pages WHERE source_id = %s AND listed_in <> 'feed' AND last_seen < %s",
        (source.id, read_at),
    )
    await connection.execute(
        "UPDATE sources SET map_read_at = %s, map_entries = %s WHERE id = %s"
        " AND (seed_url, path_prefix) IS NOT DISTINCT FROM (%s, %s)",
        (read_at, len(entries), source.id, source.seed_url, source.path_prefix),
    )


async def absent_map_files(connection: AsyncConnection, source: Source, since: datetime) -> frozenset[str]:
    """Return the discovery files that did not exist when they were requested after `since`."""
    if source.map_read_at is None:  # it starts elsewhere now
        return frozenset()
    cursor = await connection.execute(
        "SELECT url FROM absent_map_files WHERE source_id = %s AND requested_at > %s", (source.id, since)
    )
    return frozenset(str(row[0]) for row in await cursor.fetchall())


async def store_absent_files(
    connection: AsyncConnection, source: Source, files: Sequence[MapFile], requested_at: datetime
) -> None:
    """Store which of the requested `files` do not exist."""
    absent = [
        file.url
        for file in files
        if file.kind in ("inventory", "search_index", "sitemap", "llms_txt")
        and file.reason in (Reason.NOT_FOUND, Reason.SOFT_404)
    ]
    await connection.execute(
        "DELETE FROM absent_map_files WHERE source_id = %s AND url = ANY(%s)",
        (source.id, [file.url for file in files]),
    )
    await connection.execute(
        "INSERT INTO absent_map_files (source_id, url, requested_at) SELECT %s, u, %s FROM unnest(%s::text[]) u"
        " ON CONFLICT DO NOTHING",
        (source.id, requested_at, absent),
    )


async def known_pages(connection: AsyncConnection, source: Source) -> list[KnownPage]:
    """Pages of the source that are kept fresh: all documents but those that are gone, and those of a folder under git,
    which is read again by name.

    A text that another extractor made has no date of its next check: it is due. So is a page that another extractor
    could not read.
    """
    cursor = await connection.execute(
        "SELECT d.canonical_url, CASE WHEN coalesce(v.extractor, CASE WHEN d.reason = ANY(%s)"
        "  THEN coalesce(d.refused_by, '') ELSE %s END) = %s THEN d.next_check END, d.last_checked,"
        " m.listed_in, m.last_modified, m.moved_at FROM documents d"
        " LEFT JOIN document_versions v ON v.id = d.current_version"
        " LEFT JOIN LATERAL (SELECT * FROM site_map_pages p WHERE p.source_id = d.source_id AND p.url"
        "  IN (SELECT d.canonical_url UNION ALL SELECT a.url FROM url_aliases a WHERE a.document_id = d.id)"
        "  ORDER BY p.last_modified DESC NULLS LAST, p.url LIMIT 1) m ON true"
        " WHERE d.source_id = %s AND d.status <> 'gone' AND d.acquirer IS DISTINCT FROM 'git' ORDER BY d.canonical_url",
        ([reason.value for reason in UNREADABLE], EXTRACTOR_VERSION, EXTRACTOR_VERSION, source.id),
    )
    return [
        KnownPage(url, next_check, checked, listed if listed in _DATED and modified else None, modified, moved)
        for url, next_check, checked, listed, modified, moved in await cursor.fetchall()
    ]


async def count_pages(connection: AsyncConnection, source: Source) -> int:
    """How many pages of the source are kept fresh."""
    cursor = await connection.execute(
        "SELECT count(*) FROM documents WHERE source_id = %s AND status <> 'gone'", (source.id,)
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


@dataclass(frozen=True, slots=True)
class NewUrl:
    """A URL of the section that is not stored; `skipped` is the reason why an earlier refresh left it out.

    `was_gone`: it is known to be gone, and was named again since it was asked last.
    """

    url: str
    skipped: str | None = None
    was_gone: bool = False


async def new_urls(connection: AsyncConnection, source: Source) -> list[NewUrl]:
    """URLs of the source's section that its site map or its pages name and that are not stored, map first.

    The newest text of a page counts, current or not yet. Only URLs with the scheme of the source's start page, none of
    a section within that is another source.
    """
    cursor = await connection.execute(
        "SELECT n.url, n.skipped, known.id IS NOT NULL FROM ("
        "  SELECT u.url, bool_or(u.mapped) AS mapped, min(u.ordinal) AS ordinal, min(k.reason) AS skipped,"
        "   max(u.seen) AS seen FROM ("
        "    SELECT url, true AS mapped, 0 AS ordinal, last_seen AS seen FROM site_map_pages"
        "    WHERE source_id = %(source)s"
        "    UNION ALL SELECT l.target_url, false, l.ordinal, d.last_checked FROM documents d"
        "    JOIN link_candidates l ON l.version_id = d.newest_version"
        "    WHERE (d.source_id = %(source)s OR d.canonical_url = %(start)s) AND d.status <> 'gone' AND NOT l.nofollow"
        "   ) u LEFT JOIN skipped_urls k ON k.source_id = %(source)s AND k.url = u.url"
        "   WHERE starts_with(u.url, %(scheme)s) AND in_section(u.url, %(place)s)"
        "   AND (%(follow)s = 'links' OR u.mapped AND %(follow)s = 'map')"
        "   AND NOT EXISTS (SELECT FROM sources n WHERE n.host = %(host)s AND length(n.place) > length(%(place)s)"
        "    AND in_section(u.url, n.place))"
        "   AND NOT is_forgotten(u.url) GROUP BY u.url) n"
        " LEFT JOIN LATERAL (SELECT o.id, o.status, o.acquirer, o.last_checked FROM documents o"
        "  WHERE o.id = coalesce((SELECT a.document_id FROM url_aliases a WHERE a.url = n.url),"
        "   (SELECT c.id FROM documents c WHERE c.canonical_url = n.url))) known ON true"
        " WHERE known.id IS NULL OR (known.status = 'gone' AND known.acquirer IS DISTINCT FROM 'git'"
        "  AND n.seen > known.last_checked)"
        " ORDER BY n.mapped DESC, n.ordinal, n.url",
        {
            "source": source.id,
            "start": source.start_url,
            "scheme": source.start_url.partition("://")[0] + "://",
            "host": source.host,
            "place": source.place,
            "follow": source.follow,
        },
    )
    return [NewUrl(*row) for row in await cursor.fetchall()]


GONE_CHECKS = 6
"""Times that a page is asked for after it was confirmed as gone, though nothing names it, at growing distances."""


async def gone_pages(connection: AsyncConnection, source: Source, interval: timedelta) -> list[str]:
    """Gone pages of the source to ask again: an interval after they were asked last, then two, four and so on."""
    cursor = await connection.execute(
        "SELECT d.canonical_url FROM documents d WHERE d.source_id = %(source)s AND d.status = 'gone'"
        " AND d.acquirer IS DISTINCT FROM 'git' AND d.misses >= %(first)s AND d.misses < %(last)s"
        " AND d.last_checked + %(interval)s * 2 ^ (d.misses - %(first)s) <= now()"
        " AND NOT EXISTS (SELECT FROM url_aliases a WHERE a.url = d.canonical_url) ORDER BY d.canonical_url",
        {
            "source": source.id,
            "first": CONFIRMATIONS,
            "last": CONFIRMATIONS + GONE_CHECKS,
            "interval": max(interval, timedelta(days=1)),
        },
    )
    return [str(row[0]) for row in await cursor.fetchall()]


async def record_skipped(
    connection: AsyncConnection, source: Source, reasons: Mapping[str, str], acquirer: str, run_id: str, now: datetime
) -> None:
    """Remember URLs that were left out, by reason; the ledger gets a line for each new URL or reason."""
    await connection.execute(
        "WITH changed AS (INSERT INTO skipped_urls AS k (source_id, url, reason)"
        " SELECT %(source)s, g.url, g.reason FROM unnest(%(urls)s::text[], %(reasons)s::text[]) AS g (url, reason)"
        " ORDER BY g.url ON CONFLICT (source_id, url) DO UPDATE SET reason = EXCLUDED.reason"
        " WHERE k.reason <> EXCLUDED.reason RETURNING url, reason)"
        " INSERT INTO fetch_log (url, run_id, acquirer, outcome, reason, started_at, trace_id)"
        " SELECT url, %(run)s, %(acquirer)s, 'skipped', reason, %(now)s, %(trace_id)s FROM changed",
        {
            "source": source.id,
            "urls": list(reasons),
            "reasons": list(reasons.values()),
            "run": run_id,
            "acquirer": acquirer,
            "now": now,
            "trace_id": current_trace_id(),
        },
    )


async def start_is_stored(connection: AsyncConnection, source: Source) -> bool:
    """True when a text of the page at the source's start URL, or of the page that this redirects to, is stored."""
    document = await find_document(connection, source.start_url)
    return document is not None and document.latest_version is not None and document.status != "gone"


async def start_elsewhere(connection: AsyncConnection, source: Source) -> str | None:
    """The page that the start URL redirects to when it belongs to another source; None when it does not."""
    document = await find_document(connection, source.start_url)
    return document.canonical_url if document is not None and document.source_id != source.id else None


async def holds_pages(connection: AsyncConnection, source: Source) -> bool:
    """True when at least one text of the source is stored."""
    cursor = await connection.execute(
        "SELECT EXISTS (SELECT FROM documents d JOIN document_versions v ON v.document_id = d.id"
        " WHERE d.source_id = %s AND d.status <> 'gone')",
        (source.id,),
    )
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


async def signal_records(connection: AsyncConnection, source: Source) -> dict[str, SignalRecord]:
    """How reliable each signal of the source was so far."""
    cursor = await connection.execute(
        "SELECT signal, flagged_changed, flagged_same, silent_changed, silent_same FROM change_signals"
        " WHERE source_id = %s",
        (source.id,),
    )
    return {signal: SignalRecord(*counts) for signal, *counts in await cursor.fetchall()}


async def signal_record(connection: AsyncConnection, source_id: int, signal: str) -> SignalRecord:
    """How reliable one signal of the source was so far; all zeros when it was never seen."""
    cursor = await connection.execute(
        "SELECT flagged_changed, flagged_same, silent_changed, silent_same FROM change_signals"
        " WHERE source_id = %s AND signal = %s",
        (source_id, signal),
    )
    row = await cursor.fetchone()
    return SignalRecord(*row) if row is not None else SignalRecord()


async def record_signals(
    connection: AsyncConnection, source_id: int, checks: Mapping[tuple[str, bool, bool], int]
) -> None:
    """Add counts of checked pages by (signal, it was flagged, it had changed)."""
    for (signal, flagged, changed), count in sorted(checks.items()):
        column = sql.Identifier(f"{'flagged' if flagged else 'silent'}_{'changed' if changed else 'same'}")
        await connection.execute(
            sql.SQL(
                "INSERT INTO change_signals AS s (source_id, signal, {0}) VALUES (%s, %s, %s)"
                " ON CONFLICT (source_id, signal) DO UPDATE SET {0} = s.{0} + EXCLUDED.{0}"
            ).format(column),
            (source_id, signal, count),
        )


async def record_refresh(
    connection: AsyncConnection,
    source: Source,
    run_id: str,
    started: datetime,
    counts: RefreshCounts,
    map_entries: int | None,
    warnings: Sequence[Caution],
    shard: int = WHOLE,
) -> None:
    """Write the balance of one refresh, of one shard or of the whole source. `map_entries`: None = no map was read."""
    await connection.execute(
        "INSERT INTO refresh_runs (source_id, run_id, shard, started_at, discovered, fetched, unchanged, failed,"
        " skipped, not_due, put_off, map_entries, warnings)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            source.id,
            run_id,
            shard,
            started,
            counts.discovered,
            counts.fetched,
            counts.unchanged,
            counts.failed,
            counts.skipped,
            counts.not_due,
            counts.put_off,
            map_entries,
            json.dumps([warning.stored for warning in warnings]),
        ),
    )


@dataclass(frozen=True, slots=True)
class EarlierAttempts:
    """What earlier attempts came to: URLs that failed and did not answer since, and whether any answered."""

    failed: Mapping[str, FetchError] = field(default_factory=dict)
    answered: bool = False


async def earlier_attempts(connection: AsyncConnection, run_ids: Sequence[str]) -> EarlierAttempts:
    """Read attempts from the ledger, by the ids of their refreshes."""
    if not run_ids:
        return EarlierAttempts()
    cursor = await connection.execute(
        "SELECT l.url, l.outcome, l.reason, l.http_status FROM (SELECT DISTINCT url FROM fetch_log"
        " WHERE run_id = ANY(%s)) asked CROSS JOIN LATERAL (SELECT * FROM fetch_log f WHERE f.url = asked.url"
        " AND f.outcome <> 'skipped' ORDER BY f.started_at DESC, f.id DESC LIMIT 1) l ORDER BY 1",
        (list(run_ids),),
    )
    lines = await cursor.fetchall()
    failed = {
        url: FetchError(Reason(reason), "failed in an earlier attempt", status=status)
        for url, outcome, reason, status in lines
        if outcome == "failed" and reason != Reason.FORGOTTEN
    }
    return EarlierAttempts(failed, any(outcome != "failed" for _, outcome, _, _ in lines))


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


@dataclass(frozen=True, slots=True)
class LastRefresh:
    """The newest refresh of a source in which its site answered, of any of its shards, and what is stored now.

    A site answered with a page, or, where no page failed, with its map. A refresh that asked nothing had no answer."""

    id: int
    key: str
    ended_at: datetime
    fetched: int
    unchanged: int
    failed: int
    not_due: int
    pages: int
    paused: bool
    watched_at: datetime | None
    refresh_hours: float | None


async def last_refreshes(
    connection: AsyncConnection,
    keys: Sequence[str] | None = None,
    *,
    after: int = 0,
    but: Collection[int] = (),
    limit: int | None = None,
) -> list[LastRefresh]:
    """One of each of these sources, or (None) of all that are attached, that was ever refreshed, by number: of those
    that came after number `after`, all `but` these, at most `limit`."""
    async with connection.cursor(row_factory=class_row(LastRefresh)) as cursor:
        await cursor.execute(
            "SELECT r.id, s.key, r.ended_at, r.fetched, r.unchanged, r.failed, r.not_due, s.paused, s.watched_at,"
            " s.refresh_hours,"
            " (SELECT count(*) FROM documents d WHERE d.source_id = s.id AND d.status = 'ready') AS pages"
            " FROM refresh_runs r JOIN sources s ON s.id = r.source_id"
            " WHERE r.answered AND r.id > %(after)s AND r.id <> ALL(%(but)s)"
            " AND CASE WHEN %(keys)s::text[] IS NULL THEN s.page_limit IS NOT NULL ELSE s.key = ANY(%(keys)s) END"
            " AND NOT EXISTS (SELECT FROM refresh_runs n WHERE n.source_id = r.source_id AND n.answered"
            "  AND (n.started_at, n.id) > (r.started_at, r.id))"
            " ORDER BY r.id LIMIT %(limit)s",
            {"keys": None if keys is None else list(keys), "after": after, "but": list(but), "limit": limit},
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
