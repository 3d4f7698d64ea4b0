"""Check one source cheaply for changes since its pages were last fetched.

Signals are dates in its sitemap or feed, the text of its start page, and conditional requests for a few undated pages.
Unreliable signals are ignored. Flagged pages are due for the next refresh.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.acquisition.acquirer import AcquiredPage, Acquirer
from webrag_core.acquisition.charset import decode_page
from webrag_core.acquisition.urls import source_key
from webrag_core.config.fetching import FetchingSettings
from webrag_core.conversion.converted_page import EXTRACTOR_VERSION
from webrag_core.conversion.worker import convert_in_worker
from webrag_core.corpus import documents
from webrag_core.corpus import refresh_store as store
from webrag_core.corpus.documents import ABSENT, FetchRecord
from webrag_core.corpus.look_answers import CountedAnswers, record_look
from webrag_core.corpus.refresh import NO_MAP_FOR, PageSelection, at_cadence, read_map
from webrag_core.corpus.revisit import plan_refresh
from webrag_core.corpus.sources import Source
from webrag_core.corpus.unchanged import UnchangedPage, record_unchanged
from webrag_core.errors import FetchError
from webrag_core.result_warnings import Caution
from webrag_core.store.database import Database

PROBES = 5
"""Minimum conditional requests per check of a live source."""
MAX_PROBES = 20
"""Maximum per check, so that it ends in time despite crawl delays."""
CHECKS_PER_TURN = 12
"""Checks needed to cover all pages in turn, within `MAX_PROBES`."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A page reported as changed by a signal; `value` is the signal's current value."""

    url: str
    signal: str
    value: str


@dataclass(frozen=True, slots=True)
class WatchResult:
    """Result of checking one source."""

    key: str
    flags: tuple[Flag, ...] = ()
    warnings: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class _Probe:
    id: int
    canonical_url: str
    etag: str | None
    last_modified: str | None


def frozen_snapshot(settings: FetchingSettings) -> str | None:
    """Return an identifier of the WARC snapshot's state (size and mtime); None for the live web."""
    if settings.webrag_warc is None or not settings.webrag_warc.is_file():
        return None
    state = settings.webrag_warc.stat()
    return f"{state.st_size}-{state.st_mtime_ns}"


def flags_version(flags: tuple[Flag, ...], day: datetime) -> str:
    """Return a digest of the flags of a `day`, so that uncleared flags count as new on the next day."""
    lines = sorted(f"{flag.url}\x1f{flag.signal}\x1f{flag.value}" for flag in flags)
    return hashlib.sha256("\n".join((*lines, f"{day:%Y-%m-%d}")).encode()).hexdigest()


async def watch_source(
    database: Database, acquirer: Acquirer, settings: FetchingSettings, source: Source
) -> WatchResult:
    """Check `source` once and record the time. Pages flagged by text or conditional request become due.

    A WARC snapshot is compared page by page, and only when the file changed. Raises StoreError.
    """
    now = datetime.now(UTC)
    token = frozen_snapshot(settings)
    warnings: list[Caution] = []
    flags: list[Flag] = []
    async with database.connection() as connection:  # an interrupted check is not repeated at once
        await connection.execute("UPDATE sources SET watched_at = %s WHERE id = %s", (now, source.id))
    if token is None or token != source.watch_token:
        acquirer = answers = CountedAnswers(acquirer)
        start = await _start_page(database, acquirer, source, now)
        warnings += await _read_map(database, acquirer, source, start, now)
        flags += await _flagged_by_dates(database, settings, source, now)
        if start is not None:
            flags += await _flagged_by_text(database, acquirer, start, {flag.url for flag in flags}, now)
        if not acquirer.metered:  # it returns the site's own validators at the cost of one request
            flags += await _flagged_by_answers(database, acquirer, settings, source, {flag.url for flag in flags}, now)
        if not acquirer.frozen:
            async with database.connection() as connection:
                await record_look(connection, source.id, answers, now)
    async with database.connection() as connection:
        await connection.execute("UPDATE sources SET watch_token = %s WHERE id = %s", (token, source.id))
    return WatchResult(source.key, tuple(sorted(flags, key=lambda flag: flag.url)), tuple(warnings))


def _reads_map(source: Source, now: datetime) -> bool:
    return source.map_entries != 0 or source.map_read_at is None or now - source.map_read_at >= NO_MAP_FOR


async def _start_page(database: Database, acquirer: Acquirer, source: Source, now: datetime) -> AcquiredPage | None:
    """Fetch the start page of a live source: whole when its sitemap is due to be read, else on condition that it
    changed, if it is stored."""
    if acquirer.frozen or acquirer.metered:
        return None
    etag = last_modified = None
    if not _reads_map(source, now):
        async with database.connection() as connection:
            stored = await documents.find_document(connection, source.start_url)
        if stored is None or stored.latest_version is None:
            return None
        etag, last_modified = stored.etag, stored.last_modified
    try:
        page = await acquirer.fetch(source.start_url, etag=etag, last_modified=last_modified)
    except FetchError:
        return None
    return None if page.not_modified else page


async def _read_map(
    database: Database, acquirer: Acquirer, source: Source, start: AcquiredPage | None, now: datetime
) -> list[Caution]:
    if not _reads_map(source, now):
        return []
    url, html = source.start_url, None
    if not acquirer.frozen and not acquirer.metered:
        html = ""  # fetched already
        if start is not None and source_key(start.final_url) == source.host:
            url = start.final_url
            html = decode_page(start.body, None) if "html" in start.media_type else ""
    try:
        site_map = await read_map(database, acquirer, source, url, now, html)
    except FetchError as error:
        return [Caution(f"the sitemap of {source.key} could not be read: {error.message}")]
    return list(site_map.warnings)


async def _flagged_by_dates(
    database: Database, settings: FetchingSettings, source: Source, now: datetime
) -> list[Flag]:
    """Flag known pages dated after their last check, and new pages of the sitemap."""
    async with database.connection() as connection:
        known = await store.known_pages(connection, source)
        records = await store.signal_records(connection, source)
        unknown = await store.new_urls(connection, source) if source.attached else []
    interval = timedelta(days=settings.webrag_revisit_days)
    dated = [
        page
        for page in at_cadence(known, source, interval)
        if page.signal is None or page.signal not in records or records[page.signal].flags_reliable is not False
    ]
    plan = plan_refresh(dated, records, now, interval)
    by_url = {page.url: page for page in dated}
    flags = [
        Flag(url, by_url[url].signal or "", str(by_url[url].last_modified))
        for url, why in plan.items()
        if why == "flagged"
    ]
    selection = PageSelection(source, source.page_limit or 0, [page.url for page in known])
    # a gone page that is still named is asked with the next refresh: it is no reason for one
    return flags + [Flag(url, "new", "") for url in selection.choose(new.url for new in unknown if not new.was_gone)]


async def _flagged_by_text(
    database: Database, acquirer: Acquirer, start: AcquiredPage, flagged: set[str], now: datetime
) -> list[Flag]:
    """Flag the start page when its text differs from the stored one."""
    async with database.connection() as connection:
        stored = await documents.find_document(connection, start.final_url)
        if stored is None or stored.latest_version is None or stored.canonical_url in flagged:
            return []
        if stored.status == "gone" or (stored.acquirer, stored.extractor) != (acquirer.name, EXTRACTOR_VERSION):
            return []
        version = await documents.load_version(connection, stored.latest_version)
    try:
        converted = await convert_in_worker(start)
    except FetchError:
        return []
    digest = hashlib.sha256(converted.markdown.encode()).hexdigest()
    if version is None or digest == version.sha256:
        return []
    async with database.connection() as connection:
        await connection.execute("UPDATE documents SET next_check = %s WHERE id = %s", (now, stored.id))
    return [Flag(stored.canonical_url, "text", digest[:16])]


async def _flagged_by_answers(
    database: Database, acquirer: Acquirer, settings: FetchingSettings, source: Source, flagged: set[str], now: datetime
) -> list[Flag]:
    """Flag pages whose conditional request returns a change; of a live source a few, in turn."""
    frozen = acquirer.frozen
    async with database.connection() as connection:
        record = await store.signal_record(connection, source.id, "validator")
        if not frozen and (record.flags_reliable is False or record.misses_changes):
            return []
        pages = await _to_probe(connection, source, _snapshot_time(settings, source), frozen=frozen)
    flags: list[Flag] = []
    changed: list[int] = []
    for page in pages:
        if page.canonical_url in flagged:
            continue
        value = await _probe(database, acquirer, settings, page, now, record=not frozen)
        if value is not None:
            flags.append(Flag(page.canonical_url, "validator", value))
            changed.append(page.id)
    async with database.connection() as connection:
        await connection.execute("UPDATE documents SET next_check = %s WHERE id = ANY(%s)", (now, changed))
    return flags


def _snapshot_time(settings: FetchingSettings, source: Source) -> datetime | None:
    """Return the snapshot's time for a source never checked: pages read later are current."""
    if settings.webrag_warc is None or source.watch_token is not None:
        return None
    return datetime.fromtimestamp(settings.webrag_warc.stat().st_mtime, UTC)


async def _to_probe(
    connection: AsyncConnection, source: Source, checked_before: datetime | None, *, frozen: bool
) -> list[_Probe]:
    """Select pages to probe: all of a snapshot, of the live web a few that are neither due nor dated."""
    pages = await store.count_pages(connection, source)
    async with connection.cursor(row_factory=class_row(_Probe)) as cursor:
        await cursor.execute(
            "SELECT d.id, d.canonical_url, d.etag, d.last_modified FROM documents d WHERE d.source_id = %(source)s"
            " AND d.current_version IS NOT NULL AND d.acquirer = ANY(%(acquirers)s)"
            " AND (%(before)s::timestamptz IS NULL OR d.last_checked < %(before)s)"
            " AND (%(frozen)s OR ((d.etag IS NOT NULL OR d.last_modified IS NOT NULL) AND d.next_check > now()"
            "  AND NOT EXISTS (SELECT FROM site_map_pages m WHERE m.source_id = d.source_id"
            "   AND m.url = d.canonical_url AND m.last_modified IS NOT NULL AND m.listed_in IN ('sitemap', 'feed'))))"
            " ORDER BY d.last_checked, d.canonical_url LIMIT %(limit)s",
            {
                "source": source.id,
                "acquirers": ["warc"] if frozen else ["http", "firecrawl"],
                "before": checked_before,
                "frozen": frozen,
                "limit": None if frozen else min(MAX_PROBES, max(PROBES, -(-pages // CHECKS_PER_TURN))),
            },
        )
        return await cursor.fetchall()


async def _probe(
    database: Database, acquirer: Acquirer, settings: FetchingSettings, page: _Probe, now: datetime, *, record: bool
) -> str | None:
    """Return the evidence of a change, or None. With `record`, an unchanged answer counts as a check."""
    try:
        answer = await acquirer.fetch(page.canonical_url, etag=page.etag, last_modified=page.last_modified)
    except FetchError as error:
        return error.reason.value if error.reason in ABSENT else None
    if not (answer.not_modified or _same_validators(page, answer)):
        validators = (answer.headers.get("etag"), answer.headers.get("last-modified"))
        return " ".join(filter(None, validators)) or hashlib.sha256(answer.body).hexdigest()
    if record:
        async with database.transaction() as connection:
            await documents.lock_urls(connection, page.canonical_url)
            document = await documents.find_document(connection, page.canonical_url)
            if document is None or document.id != page.id or document.latest_version is None:
                return None  # removed on request or moved meanwhile
            if (document.etag, document.last_modified) != (page.etag, page.last_modified):
                return None  # fetched meanwhile: the answer is about another version
            name, version = answer.acquirer or acquirer.name, document.latest_version
            next_check = now + timedelta(days=settings.webrag_revisit_days)
            line = FetchRecord(
                url=page.canonical_url,
                acquirer=name,
                outcome="unchanged",
                started_at=now,
                final_url=answer.final_url,
                hop=len(answer.redirects),
                http_status=answer.status,
                bytes_raw=answer.bytes_raw,
                version_id=version,
                seen_at=answer.fetched_at,
            )
            unchanged = UnchangedPage(
                page.id,
                page.canonical_url,
                line,
                answer.checked_at,
                next_check,
                answer.headers.get("etag"),
                answer.headers.get("last-modified"),
            )
            await record_unchanged(connection, [unchanged])
    return None


def _same_validators(page: _Probe, answer: AcquiredPage) -> bool:
    """True for a full response (from a server that ignores conditions) with the stored validators."""
    validators = (answer.headers.get("etag"), answer.headers.get("last-modified"))
    return validators == (page.etag, page.last_modified) and validators != (None, None)
