"""Refresh of one source: read its map, plan, ask, learn what the signals were worth, write the balance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import uuid4

from psycopg import AsyncConnection

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.acquisition.traps import count_patterns, find_trap, url_pattern
from webrag_core.acquisition.urls import page_key
from webrag_core.config import Settings
from webrag_core.corpus import documents, sections, sources
from webrag_core.corpus.bounded_gather import take_all
from webrag_core.corpus.documents import FetchRecord
from webrag_core.corpus.revisit import KnownPage, plan_refresh
from webrag_core.corpus.shards import Shard
from webrag_core.corpus.sources import RefreshCounts, Source
from webrag_core.errors import FetchError, Reason
from webrag_core.store.database import Database

_MAP_PAYS_FROM = 10
"""Known pages from which on a map (a handful of requests) is cheaper than asking them one by one."""
_NO_MAP_FOR = timedelta(days=7)
"""A source that had no map is not asked for one again before that."""


class Taken(Protocol):
    """What taking in a page gives: an IngestOutcome or an AddedDocument."""

    @property
    def outcome(self) -> str: ...


Take = Callable[[str, str], Awaitable[Taken]]
"""(URL, id of the refresh for the ledger) -> what it gave. Raises FetchError with the failure recorded."""


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """What became of a source. `failed` maps URLs to reasons, `changed` lists the URLs with a new text.

    `transient` are those of the failed that may answer when they are asked again soon. `empty` is set when the source
    is attached and holds no page at all of its section: what failed there, or where its start page is instead.
    """

    source: str
    run_id: str
    counts: RefreshCounts
    map_entries: int | None
    """Entries of the map that was read; None when none was asked for."""
    changed: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    transient: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    empty: Mapping[str, str] | None = None


class SourceRefresh:
    """Refreshes sources. `take` fetches one page and stores it (and indexes it, if its caller wants that)."""

    def __init__(self, database: Database, acquirer: Acquirer, settings: Settings, take: Take) -> None:
        self._database = database
        self._acquirer = acquirer
        self._settings = settings
        self._take = take

    async def run(
        self,
        key: str,
        *,
        run_id: str | None = None,
        due_only: bool = False,
        limit: int | None = None,
        shard: Shard = Shard(),  # noqa: B008 (frozen)
        advance: Callable[[str], None] = lambda url: None,
    ) -> RefreshReport:
        """Ask the site for its pages: all known ones, or (`due_only`) those that are due, at most `limit`.

        Only pages of `shard` are asked, known and new ones.

        A source without pages begins with its first one. An attached source asks for its start page until it holds it,
        and takes in new pages that its map and its pages name, up to its page limit. Pages that fail are in the report;
        what was stored of them stays.

        Raises InvalidInputError for an unknown source.
        """
        run_id = run_id or f"refresh-{uuid4().hex[:12]}"
        started = datetime.now(UTC)
        async with self._database.connection() as connection:
            source = await sources.find_source(connection, key)
        warnings, map_entries = await self._read_map(source, due_only=due_only)
        async with self._database.connection() as connection:
            pages = await sources.known_pages(connection, source)
            records = await sources.signal_records(connection, source)
            wanted = not pages or (bool(source.page_limit) and not await sections.start_is_held(connection, source))
        interval = timedelta(days=self._settings.webrag_revisit_days)
        known = [page for page in at_cadence(pages, source, interval) if shard.holds(page.url)]
        plan = plan_refresh(known, records, started, interval, everything=not due_only, limit=limit)
        walk = _Walk(self._take, run_id, advance)
        first = [source.start_url] if wanted and shard.holds(source.start_url) else []
        await walk.ask(list(dict.fromkeys([*first, *plan.asked]))[:limit])
        skipped = await self._take_new(source, shard, [page.url for page in known], walk, limit, run_id)
        found = Counter(walk.outcomes.values())
        counts = RefreshCounts(
            fetched=found["fetched"],
            unchanged=found["unchanged"],
            failed=found["failed"],
            skipped=skipped,
            not_due=sum(page.url not in walk.outcomes for page in known),
        )
        async with self._database.transaction() as connection:
            await sources.record_signals(connection, source.id, _learned(known, walk))
            part = shard.index if shard.count > 1 else sources.WHOLE
            await sources.record_refresh(connection, source, run_id, started, counts, warnings, part)
            empty = await _nothing_held(connection, source, shard, walk)
        failed = {url: error.reason.value for url, error in sorted(walk.failed.items())}
        transient = frozenset(url for url, error in walk.failed.items() if error.transient)
        changed = tuple(sorted(walk.changed))
        return RefreshReport(key, run_id, counts, map_entries, changed, failed, transient, tuple(warnings), empty)

    async def _read_map(self, source: Source, *, due_only: bool) -> tuple[list[str], int | None]:
        """Read the site's own map where it can save or bring requests; (warnings, entries or None)."""
        now = datetime.now(UTC)
        async with self._database.connection() as connection:
            pages = len(await sources.known_pages(connection, source))
        attached = source.page_limit is not None
        if not attached and not (due_only and pages >= _MAP_PAYS_FROM):
            return [], None
        if source.map_entries == 0 and source.map_read_at is not None and now - source.map_read_at < _NO_MAP_FOR:
            return [], None
        try:
            site_map = await self._acquirer.site_map(source.start_url)
        except FetchError as error:
            return [f"the map of {source.key} could not be read: {error.message}"], None
        async with self._database.transaction() as connection:
            await sources.store_map(connection, source, site_map.entries, now)
        return list(site_map.warnings), len(site_map.entries)

    async def _take_new(
        self, source: Source, shard: Shard, held: list[str], walk: _Walk, limit: int | None, run_id: str
    ) -> int:
        """Take in pages that nobody asked for yet, wave by wave, up to the page limit; returns how many were not."""
        if source.page_limit is None:
            return 0
        page_limit = shard.share(source.page_limit)
        taken = count_patterns(held)
        pages = {page_key(url) for url in walk.seen.union(held)}
        refused: dict[str, FetchError] = {}
        while True:
            async with self._database.connection() as connection:
                named = await sources.unknown_urls(connection, source)
            unknown = [url for url in named if url not in walk.seen and shard.holds(url)]
            room = page_limit - sum(source.covers(url) for url in walk.seen.union(held))
            if limit is not None:
                room = min(room, limit - len(walk.seen))
            wave: list[str] = []
            for url in unknown:
                if url in refused or page_key(url) in pages:
                    continue
                trap = find_trap(url, taken, max_per_pattern=page_limit)
                if trap is None and len(wave) < room:
                    wave.append(url)
                    pages.add(page_key(url))
                    taken.update(filter(None, [url_pattern(url)]))
                elif trap is not None:
                    refused[url] = trap
            if not wave:
                break
            await walk.ask(wave)
        left_out = FetchError(Reason.PAGE_LIMIT, "beyond the pages that the source or this refresh may take in")
        refused |= {url: left_out for url in unknown if url not in refused and page_key(url) not in pages}
        await self._record_skipped(refused, run_id)
        return len(refused)

    async def _record_skipped(self, refused: Mapping[str, FetchError], run_id: str) -> None:
        now = datetime.now(UTC)
        async with self._database.transaction() as connection:
            for url, error in refused.items():
                record = FetchRecord(url, self._acquirer.name, "skipped", now, reason=error.reason.value, run_id=run_id)
                await documents.record_skipped(connection, record)


class _Walk:
    """Pages of one refresh as they come in."""

    def __init__(self, take: Take, run_id: str, advance: Callable[[str], None]) -> None:
        self._take = take
        self._run_id = run_id
        self._advance = advance
        self.outcomes: dict[str, str] = {}
        self.failed: dict[str, FetchError] = {}

    @property
    def seen(self) -> set[str]:
        return set(self.outcomes)

    @property
    def changed(self) -> list[str]:
        return [url for url, outcome in self.outcomes.items() if outcome == "fetched"]

    async def ask(self, urls: Iterable[str]) -> None:
        """Take these pages."""
        await take_all([url for url in urls if url not in self.outcomes], self._one, self._done)

    async def _one(self, url: str) -> Taken:
        return await self._take(url, self._run_id)

    def _done(self, url: str, result: Taken | FetchError) -> None:
        if isinstance(result, FetchError) and result.reason is Reason.FORGOTTEN:
            return  # removed on request while the refresh ran: no ledger may name it
        if isinstance(result, FetchError):
            self.failed[url] = result
        self.outcomes[url] = "failed" if isinstance(result, FetchError) else result.outcome
        self._advance(url)


async def _nothing_held(
    connection: AsyncConnection, source: Source, shard: Shard, walk: _Walk
) -> dict[str, str] | None:
    """Why an attached source holds no page; None where it does. Only the part with the start page can tell."""
    if not source.page_limit or not shard.holds(source.start_url) or await sections.holds_pages(connection, source):
        return None
    failed = {url: error.reason.value for url, error in sorted(walk.failed.items()) if source.covers(url)}
    elsewhere = await sections.start_elsewhere(connection, source)
    return failed or {source.start_url: f"it is a page of another source, {elsewhere}" if elsewhere else "not asked"}


def at_cadence(pages: Iterable[KnownPage], source: Source, interval: timedelta) -> list[KnownPage]:
    """The pages with the next check that the source's own cadence asks for, where it has one.

    Only the ordinary interval is replaced: a page that failed is looked at as soon as it was said. A page checked a
    little after its refresh began is due with the next one all the same.
    """
    if source.refresh_hours is None:
        return list(pages)
    own = timedelta(hours=source.refresh_hours * 0.9)
    return [
        replace(page, next_check=page.last_checked + own)
        if page.last_checked and page.next_check and page.next_check - page.last_checked >= min(interval, own)
        else page
        for page in pages
    ]


def _learned(known: Iterable[KnownPage], walk: _Walk) -> Counter[tuple[str, bool, bool]]:
    """(signal, flagged, changed) of the known pages that gave an answer."""
    return Counter(
        (page.signal, page.flagged, walk.outcomes[page.url] == "fetched")
        for page in known
        if page.signal is not None and walk.outcomes.get(page.url) in ("fetched", "unchanged")
    )
