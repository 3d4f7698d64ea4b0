"""Refresh of one source: read its sitemap, plan, fetch, update signal reliability, write the balance."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol
from uuid import uuid4

from psycopg import AsyncConnection

from webrag_core.acquisition.acquirer import Acquirer, BatchAcquirer
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.acquisition.traps import count_patterns, find_trap
from webrag_core.acquisition.urls import page_key
from webrag_core.acquisition.variants import is_unread_file
from webrag_core.config.fetching import FetchingSettings
from webrag_core.corpus import refresh_store as store
from webrag_core.corpus import sources
from webrag_core.corpus.audits import choose_audits
from webrag_core.corpus.brake import Brake, Held, HeldBackError, held_warnings
from webrag_core.corpus.documents import ABSENT
from webrag_core.corpus.inventory import store_symbols
from webrag_core.corpus.page_batches import CONCURRENT_PAGES, gather_bounded
from webrag_core.corpus.refresh_store import RefreshCounts
from webrag_core.corpus.revisit import KnownPage, plan_refresh
from webrag_core.corpus.sources import Shard, Source
from webrag_core.errors import FetchError, Reason
from webrag_core.result_warnings import Caution
from webrag_core.store.database import Database

_MAP_PAYS_FROM = 10
"""From this many known pages, reading the sitemap is cheaper than checking each page."""
_PROBES = 3
"""Pages asked besides when none of the due ones answered: do they fail, or does the site?"""
NO_MAP_FOR = timedelta(days=7)
"""Wait before requesting a sitemap or inventory again that did not exist."""


class StoreResult(Protocol):
    """Result of storing a page: an IngestOutcome or an AddedDocument."""

    @property
    def outcome(self) -> str: ...


StorePage = Callable[[str, str, Brake], Awaitable[StoreResult]]
"""(URL, refresh id for the ledger, brake of the refresh) -> result. Raises FetchError after recording the failure, and
HeldBackError without recording it for a page that waits for the verdict."""


@dataclass(frozen=True, slots=True)
class PageStep:
    """A page of a refresh: it is read now (`outcome` None), or what came of it. `error` says why it has no new text."""

    url: str
    outcome: Literal["fetched", "unchanged", "failed"] | None = None
    error: FetchError | None = None


Advance = Callable[[PageStep], None]
"""Callback for each page: when it is begun, and when it is done."""


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """Result of a refresh. `failed` maps URLs to reasons, `changed` lists the URLs with a new text.

    `counts` are those of this attempt; `failed` and `answered` (at least one page answered) those of the whole run.
    `transient` holds the failed URLs worth an early retry. `empty` is set for an attached source without any page: its
    failures, or the location of its start page. `held` are those of the failed whose new texts are held back.
    `still_gone` are pages that were gone before and were asked again in vain: they are none of the failed.
    """

    source: str
    run_id: str
    counts: RefreshCounts
    map_entries: int | None
    """Entries of the sitemap; None when it was not read."""
    changed: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    transient: frozenset[str] = frozenset()
    warnings: tuple[Caution, ...] = ()
    empty: Mapping[str, str] | None = None
    held: Mapping[str, Held] = field(default_factory=dict)
    still_gone: tuple[str, ...] = ()
    answered: bool = False

    @property
    def silent(self) -> bool:
        """True when pages were asked and none answered, whatever the reason: the source failed, not a page."""
        return bool(self.failed) and not self.answered

    @property
    def braked(self) -> bool:
        """True when the site as a whole seems to have lost its texts."""
        return any(held.of_source for held in self.held.values())


class SourceRefresh:
    """Refresh sources. `store_page` fetches and stores one page, for `pages` at a time; the caller may index it too."""

    def __init__(
        self,
        database: Database,
        acquirer: Acquirer,
        settings: FetchingSettings,
        store_page: StorePage,
        *,
        pages: int = CONCURRENT_PAGES,
    ) -> None:
        self._database = database
        self._acquirer = acquirer
        self._settings = settings
        self._store_page = store_page
        self._pages = pages

    async def run(
        self,
        key: str,
        *,
        run_id: str | None = None,
        due_only: bool = False,
        limit: int | None = None,
        shard: Shard = Shard(),  # noqa: B008 (frozen)
        accept: bool = False,
        earlier: Sequence[str] = (),
        advance: Advance = lambda step: None,
        mapped: Callable[[int], None] = lambda pages: None,
    ) -> RefreshReport:
        """Refresh the known pages of `shard`: all, or (`due_only`) the due ones, at most `limit`.

        A source without pages begins with its start page. An attached source fetches its start page until it is
        stored, and adds new pages from its sitemap and links, up to its page limit. Failed pages are reported; their
        stored versions stay, as do those of new texts that are held back, unless they are to `accept`.

        `earlier` are the refresh ids of attempts that this run repeats: what failed in them belongs to the report, and
        is asked again, due or not, where that may help. When no page answers, a few that are not due are asked too.
        `advance` gets each step, `mapped` the number of pages in the site's own map once that is read.

        Raises InvalidInputError for an unknown source.
        """
        run_id = run_id or f"refresh-{uuid4().hex[:12]}"
        started = datetime.now(UTC)
        async with self._database.connection() as connection:
            source = await sources.find_source(connection, key)
        interval = timedelta(days=self._settings.webrag_revisit_days)
        warnings, map_entries = await self._read_map(source, due_only=due_only)
        if map_entries is not None:
            mapped(map_entries)
        async with self._database.connection() as connection:
            pages = await store.known_pages(connection, source)
            records = await store.signal_records(connection, source)
            before = await store.earlier_attempts(connection, earlier)
            gone = await store.gone_pages(connection, source, cadence(source, interval))
            with_start = not pages or (bool(source.page_limit) and not await store.start_is_stored(connection, source))
        known = [page for page in at_cadence(pages, source, interval) if shard.holds(page.url)]
        plan = plan_refresh(known, records, started, interval, everything=not due_only)
        crawl = _Crawl(self._acquirer, self._store_page, self._pages, run_id, advance, Brake(accept))
        first = [source.start_url] if with_start and shard.holds(source.start_url) else []
        again = [url for url, error in before.failed.items() if error.transient and shard.holds(url)]
        wanted = list(dict.fromkeys([*first, *again, *plan]))
        requests = wanted[:limit]
        async with self._database.transaction() as connection:
            audits = await choose_audits(connection, source.id, requests, run_id)
        await crawl.fetch(audits)  # before the others: one lie, and they are asked whole too
        await crawl.fetch(requests)
        if crawl.requests and not crawl.answered and limit is None:
            await crawl.fetch(_probes(source, known, crawl.requests))
        await crawl.settle()
        once_more = [url for url in gone if shard.holds(url)]
        crawl.were_gone.update(once_more)
        await crawl.fetch(once_more[: None if limit is None else max(0, limit - len(crawl.outcomes))])
        skipped = await self._add_new(source, shard, [page.url for page in known], crawl, limit)
        outcomes = Counter(crawl.outcomes.values())
        put_off = {*wanted[len(requests) :]} - crawl.outcomes.keys()
        warnings += map(Caution, held_warnings(source.key, crawl.held.values()))
        counts = RefreshCounts(
            fetched=outcomes["fetched"],
            unchanged=outcomes["unchanged"],
            failed=outcomes["failed"],
            skipped=skipped,
            not_due=sum(page.url not in crawl.outcomes and page.url not in put_off for page in known),
            put_off=sum(page.url in put_off for page in known),
        )
        async with self._database.transaction() as connection:
            await store.record_signals(connection, source.id, _signal_checks(known, crawl))
            part = shard.index if shard.count > 1 else store.WHOLE
            await store.record_refresh(connection, source, run_id, started, counts, map_entries, warnings, part)
            empty = await _why_empty(connection, source, shard, crawl)
        if not source.attached and not pages:
            async with self._database.transaction() as connection:
                await sources.lock_host(connection, source.host)
                await sources.drop_empty_sources(connection, source.host)
        errors = {url: error for url, error in before.failed.items() if url not in crawl.outcomes} | crawl.failed
        still_gone = [url for url, error in errors.items() if url in crawl.were_gone and error.reason in ABSENT]
        return RefreshReport(
            source=key,
            run_id=run_id,
            counts=counts,
            map_entries=map_entries,
            changed=tuple(sorted(crawl.changed)),
            failed={url: error.reason.value for url, error in sorted(errors.items()) if url not in still_gone},
            transient=frozenset(url for url, error in errors.items() if error.transient),
            warnings=tuple(warnings),
            empty=empty,
            held=dict(sorted(crawl.held.items())),
            still_gone=tuple(sorted(still_gone)),
            answered=before.answered or crawl.answered,
        )

    async def _read_map(self, source: Source, *, due_only: bool) -> tuple[list[Caution], int | None]:
        """Read the sitemap where it saves requests or adds pages; return (warnings, entries or None)."""
        now = datetime.now(UTC)
        if not source.attached:
            async with self._database.connection() as connection:
                if not due_only or await store.count_pages(connection, source) < _MAP_PAYS_FROM:
                    return [], None
        if source.map_entries == 0 and source.map_read_at is not None and now - source.map_read_at < NO_MAP_FOR:
            return [], None
        try:
            site_map = await read_map(self._database, self._acquirer, source, source.start_url, now)
        except FetchError as error:
            return [Caution(f"the sitemap of {source.key} could not be read: {error.message}")], None
        return list(site_map.warnings), sum(source.covers(entry.url) for entry in site_map.entries)

    async def _add_new(
        self, source: Source, shard: Shard, known: Sequence[str], crawl: _Crawl, limit: int | None
    ) -> int:
        """Add new pages, wave by wave, up to the page limit; return the number of skipped URLs."""
        if source.page_limit is None:
            return 0
        selection = PageSelection(source, shard.share(source.page_limit), [*known, *crawl.outcomes])
        while True:
            async with self._database.connection() as connection:
                discovered = await store.new_urls(connection, source)
            unseen = [new for new in discovered if new.url not in crawl.outcomes and shard.holds(new.url)]
            candidates = {new.url: new.skipped for new in unseen}
            crawl.were_gone.update(new.url for new in unseen if new.was_gone)
            wave = selection.choose(candidates, None if limit is None else limit - len(crawl.outcomes))
            if not wave:
                break
            await crawl.fetch(wave)
        refused = selection.refused(candidates)
        unrecorded = {url: reason for url, reason in refused.items() if reason != candidates[url]}
        if unrecorded:
            async with self._database.transaction() as connection:
                await store.record_skipped(
                    connection, source, unrecorded, self._acquirer.name, crawl.run_id, datetime.now(UTC)
                )
        return len(refused)


async def read_map(
    database: Database, acquirer: Acquirer, source: Source, url: str, now: datetime, html: str | None = None
) -> SiteMap:
    """Read and store the site map of `source` from `url`; see `Acquirer.site_map`. Raises FetchError."""
    async with database.connection() as connection:
        absent = await store.absent_map_files(connection, source, now - NO_MAP_FOR)
    site_map = await acquirer.site_map(url, html=html, absent=absent)
    async with database.transaction() as connection:
        await store.store_map(connection, source, site_map.entries, now)
        await store_symbols(connection, source, site_map)
        await store.store_absent_files(connection, source, site_map.files, now)
    return site_map


async def describe_site(
    database: Database, acquirer: Acquirer, url: str, *, seconds: float, anew: bool
) -> SiteMap | None:
    """Read and store what robots.txt and the page at canonical `url` name of the site's own description of its pages.

    For a run that waits: six files at most, within `seconds`. None when a map of the source is stored that is younger
    than a week, unless `anew`, and for a source that is not stored. Raises FetchError(TIMEOUT).
    """
    now = datetime.now(UTC)
    async with database.connection() as connection:
        keys = await sources.sources_of_urls(connection, [url])
        if not keys:
            return None
        source = await sources.find_source(connection, keys[0][0])
    read_at = max(filter(None, (source.map_read_at, source.described_at)), default=None)
    if read_at is not None and now - read_at < NO_MAP_FOR and not anew:
        return None
    try:
        async with asyncio.timeout(seconds):
            site_map = await acquirer.site_map(url, brief=True)
    except TimeoutError:
        raise FetchError(Reason.TIMEOUT, f"the site's description was not read within {seconds:.0f} s") from None
    async with database.transaction() as connection:
        await store.store_map(connection, source, site_map.entries, now, brief=True)
        await store_symbols(connection, source, site_map)
    return site_map


class PageSelection:
    """Chooses new pages of a source: up to its page limit, no crawler traps, no pictures and other files without text,
    no second spelling of a page. Pure.

    Cost per wave is linear in the candidates.
    """

    def __init__(self, source: Source, page_limit: int, known: Iterable[str]) -> None:
        urls = list(dict.fromkeys(known))
        self._page_limit = page_limit
        self._pages = {page_key(url) for url in urls}
        self._patterns = count_patterns(urls)
        self._room = page_limit - sum(source.covers(url) for url in urls)
        self._traps: set[str] = set()

    def choose(self, candidates: Iterable[str], limit: int | None = None) -> list[str]:
        """Choose at most `limit` pages and count them against the page limit."""
        room = self._room if limit is None else min(self._room, limit)
        wave: list[str] = []
        for url in candidates:
            if url in self._traps or page_key(url) in self._pages or is_unread_file(url):
                continue
            if find_trap(url, self._patterns, max_per_pattern=self._page_limit) is not None:
                self._traps.add(url)
            elif len(wave) < room:
                wave.append(url)
                self._pages.add(page_key(url))
                self._patterns.update(count_patterns([url]))
        self._room -= len(wave)
        return wave

    def refused(self, candidates: Iterable[str]) -> dict[str, str]:
        """Return rejected candidates with the reason, without other spellings of chosen pages."""
        return {
            url: self._why(url).value for url in candidates if url in self._traps or page_key(url) not in self._pages
        }

    def _why(self, url: str) -> Reason:
        if is_unread_file(url):
            return Reason.UNSUPPORTED_TYPE
        return Reason.CRAWLER_TRAP if url in self._traps else Reason.PAGE_LIMIT


class _Crawl:
    """Outcomes of the pages fetched by one refresh."""

    def __init__(
        self,
        acquirer: Acquirer,
        store_page: StorePage,
        pages: int,
        run_id: str,
        advance: Advance,
        brake: Brake,
    ) -> None:
        self.run_id = run_id
        self._brake = brake
        self._acquirer = acquirer
        self._store_page = store_page
        self._pages = pages
        self._advance = advance
        self.outcomes: dict[str, str] = {}
        self.failed: dict[str, FetchError] = {}
        self.held: dict[str, Held] = {}
        self.were_gone: set[str] = set()

    @property
    def changed(self) -> list[str]:
        return [url for url, outcome in self.outcomes.items() if outcome == "fetched"]

    @property
    def requests(self) -> set[str]:
        """URLs asked so far, those that wait for the verdict included."""
        return self.outcomes.keys() | self._brake.waiting.keys()

    @property
    def answered(self) -> bool:
        """True when at least one page answered with a text that is taken, or with none that is new."""
        return any(outcome != "failed" for outcome in self.outcomes.values())

    async def fetch(self, urls: Iterable[str]) -> None:
        """Fetch these pages, except those fetched before."""
        unknown = [url for url in urls if url not in self.outcomes]
        if not isinstance(self._acquirer, BatchAcquirer):
            await gather_bounded(unknown, self._fetch, self._done, pages=self._pages)
            return
        for first in range(0, len(unknown), self._acquirer.at_a_time):
            batch = unknown[first : first + self._acquirer.at_a_time]
            async with self._acquirer.announced(batch):
                await gather_bounded(batch, self._fetch, self._done, pages=self._pages)

    async def settle(self) -> None:
        """Give the verdict on the pages that wait, now that all known ones were asked, and store or refuse them."""
        answered = sum(outcome != "failed" for outcome in self.outcomes.values())
        await gather_bounded(
            self._brake.decide(answered + len(self._brake.waiting)), self._fetch, self._done, pages=self._pages
        )

    async def _fetch(self, url: str) -> StoreResult:
        self._advance(PageStep(url))
        return await self._store_page(url, self.run_id, self._brake)

    def _done(self, url: str, result: StoreResult | FetchError) -> None:
        if isinstance(result, FetchError) and result.reason is Reason.FORGOTTEN:
            return  # removed on request during the refresh: the ledger must not name it
        if isinstance(result, HeldBackError):
            if result.held is None:
                return  # it waits for the verdict
            self.held[url] = result.held
        if isinstance(result, FetchError):
            self.failed[url] = result
            self.outcomes[url] = "failed"
            self._advance(PageStep(url, "failed", result))
        else:
            self.outcomes[url] = result.outcome
            self._advance(PageStep(url, "unchanged" if result.outcome == "unchanged" else "fetched"))


def _probes(source: Source, known: Iterable[KnownPage], requests: Collection[str]) -> list[str]:
    """Pages that were not asked: the start page, then those that were checked last."""
    newest_first = sorted(
        known, key=lambda page: page.last_checked.timestamp() if page.last_checked else 0, reverse=True
    )
    newest_first.sort(key=lambda page: page.url != source.start_url)
    return [page.url for page in newest_first if page.url not in requests][:_PROBES]


async def _why_empty(connection: AsyncConnection, source: Source, shard: Shard, crawl: _Crawl) -> dict[str, str] | None:
    """Explain why an attached source has no page, or None. Only the shard with the start page decides."""
    if not source.page_limit or not shard.holds(source.start_url) or await store.holds_pages(connection, source):
        return None
    failed = {url: error.reason.value for url, error in sorted(crawl.failed.items())}
    elsewhere = await store.start_elsewhere(connection, source)
    return failed or {source.start_url: f"it is a page of another source, {elsewhere}" if elsewhere else "not fetched"}


def cadence(source: Source, interval: timedelta) -> timedelta:
    """Time between refreshes of a source: `interval` where it has none of its own."""
    return interval if source.refresh_hours is None else timedelta(hours=source.refresh_hours)


def at_cadence(pages: Iterable[KnownPage], source: Source, interval: timedelta) -> list[KnownPage]:
    """Return the pages with their next check at the source's own cadence, if it has one.

    Only the regular interval is replaced: failed pages are retried on time. The cadence is shortened by a tenth, since
    a page is checked some time after its refresh began.
    """
    if source.refresh_hours is None:
        return list(pages)
    interval_of_source = timedelta(hours=source.refresh_hours * 0.9)
    return [
        replace(page, next_check=page.last_checked + interval_of_source)
        if page.last_checked
        and page.next_check
        and page.next_check - page.last_checked >= min(interval, interval_of_source)
        else page
        for page in pages
    ]


def _signal_checks(known: Iterable[KnownPage], crawl: _Crawl) -> Counter[tuple[str, bool, bool]]:
    """Count the answered pages by (signal, flagged, changed)."""
    return Counter(
        (page.signal, page.flagged, crawl.outcomes[page.url] == "fetched")
        for page in known
        if page.signal is not None and crawl.outcomes.get(page.url) in ("fetched", "unchanged")
    )
