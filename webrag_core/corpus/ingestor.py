"""Fetch a URL, store a document version, record every outcome in the ledger."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from psycopg import AsyncConnection

from webrag_core.acquisition.acquirer import AcquiredPage, Acquirer, RefusedAnswerError
from webrag_core.acquisition.urls import page_url
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config.fetching import FetchingSettings
from webrag_core.conversion.canonical import preferred_url
from webrag_core.conversion.converted_page import EXTRACTOR_VERSION, ConvertedPage
from webrag_core.conversion.worker import convert_in_worker
from webrag_core.corpus import documents, refresh_store
from webrag_core.corpus.acquirers import same_web
from webrag_core.corpus.audits import note_audit
from webrag_core.corpus.brake import Brake, HeldBackError, held_alone
from webrag_core.corpus.documents import FetchRecord, StoredDocument, StoredPage
from webrag_core.corpus.held_texts import change_by, is_confirmed, note_held
from webrag_core.corpus.new_documents import NewDocument, store_new
from webrag_core.corpus.page_inputs import inputs_digest
from webrag_core.corpus.periods import basis_of, newest_sighting
from webrag_core.corpus.recent_failures import recent_failure
from webrag_core.corpus.replacement import redirected_to_front_page
from webrag_core.corpus.revisit import SignalRecord
from webrag_core.corpus.stated_metadata import top_nodes
from webrag_core.corpus.unchanged import UnchangedPage, record_unchanged
from webrag_core.corpus.unforeseen import contained
from webrag_core.corpus.validity import stated, write_stated
from webrag_core.errors import FetchError, Reason
from webrag_core.language.detection import UNCLEAR, detected_page
from webrag_core.result_warnings import Caution
from webrag_core.store.database import Database
from webrag_core.text_work import beside_loop
from webrag_core.trace import span

_RETRY_AFTER = timedelta(days=1)
_DOUBLINGS = 16  # beyond any interval
_PERMANENT = frozenset(
    {
        Reason.INVALID_URL,
        Reason.BLOCKED_ADDRESS,
        Reason.TOO_LARGE,
        Reason.ROBOTS_DISALLOWED,
        Reason.CRAWLER_TRAP,
        Reason.UNSUPPORTED_TYPE,
        Reason.PARSE_FAILURE,
    }
)
_TRUST_VALIDATORS = 4
"""Intervals of its source after which a page is fetched unconditionally: some servers always answer 304."""
_LEAST_TRUST = timedelta(days=1)
_MOST_BYTES = 500_000  # of a page that waits in memory until others are stored with it


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """Outcome of one URL. `url` is the document's canonical URL after redirects."""

    url: str
    document_id: int
    version_id: int
    outcome: Literal["fetched", "unchanged", "reused"]
    warnings: tuple[Caution, ...] = ()


class Ingestor:
    """Fetch pages through one acquirer and store them as versions. Does not index or follow links."""

    def __init__(self, database: Database, acquirer: Acquirer, settings: FetchingSettings) -> None:
        self._database = database
        self._acquirer = acquirer
        self._settings = settings

    async def ingest(
        self,
        url: str,
        *,
        run_id: str | None = None,
        refresh: bool = False,
        max_age: float | None = None,
        brake: Brake | None = None,
        all_text: bool | None = None,
        stored_page: StoredPage | None = None,
        record: Callable[[UnchangedPage], Awaitable[None]] | None = None,
        store: Callable[[NewDocument], Awaitable[tuple[int, int] | None]] | None = None,
    ) -> IngestOutcome:
        """Store the page at `url` unless a fresh copy is stored already.

        `all_text` says for this page, now and later, whether everything that it shows is kept or its content alone
        (None = as it was said before, or as its source says).

        Copies and failures older than `max_age` seconds are stale (None = the settings), counted from when the page
        answered last; `refresh` requests even a fresh page again (conditionally). `brake` is that of the refresh that
        the page is part of: HeldBackError is raised for a page that waits for its verdict, of which nothing is
        recorded. `stored_page` is what `look_up` says of the page, `record` writes that it is unchanged and `store`
        that it is new, for callers that do so for several at a time.

        Raises FetchError when the URL returns no usable page or failed recently; the failure is recorded and the good
        version stays. Invalid URLs and pages removed on request (reason `forgotten`) are not recorded.
        """
        url = page_url(url)
        if stored_page is None:
            (answer,) = await self.look_up([url])
            if isinstance(answer, FetchError):
                raise answer
            stored_page = answer
        stored, wants_all_text = stored_page.document, stored_page.all_text if all_text is None else all_text
        if stored is not None and stored.wants_all_text != wants_all_text:
            stored = replace(stored, wants_all_text=wants_all_text)
        alike = same_web(self._acquirer.name)
        if stored is not None and stored.acquirer not in alike:
            stored = None  # a snapshot copy never replaces the live page, nor vice versa
        if stored is not None and stored.latest_version is not None and not refresh and self._fresh(stored, max_age):
            return IngestOutcome(stored.canonical_url, stored.id, stored.latest_version, "reused")
        if not refresh and "http" in alike:  # a snapshot is not asked in vain: it is no network
            async with self._database.connection() as connection:
                failure = await recent_failure(connection, url, alike, self._settings, max_age)
            if failure is not None:
                raise failure
        converted: ConvertedPage | None
        waiting = None if brake is None else brake.waiting.get(url)
        started = datetime.now(UTC) if waiting is None else waiting.started
        try:
            if waiting is not None and waiting.answer is not None:
                page, converted = waiting.answer
                inputs = None  # its address may have changed since it was read: the next refresh reads it again
            else:
                with span("fetch", acquirer=self._acquirer.name), contained(url):
                    page = replace(await self._fetch(url, stored), all_text=wants_all_text)
                page_url(page.final_url)
                inputs = inputs_digest(page, stored_page.removals)
                # alone, a page is read again for the warnings of its conversion
                same = brake is not None and stored is not None and _is_as_stored(stored, page, inputs)
                converted = None if page.not_modified or same else await convert_in_worker(page)
            if converted is not None:
                with contained(url):
                    page = _under_preferred_url(page, converted)
                    await self._protect_version(url, stored, page, converted, started, brake)
        except HeldBackError as error:
            if error.held is not None:
                await self._failed(url, error, started, run_id, stored)
            raise
        except FetchError as error:
            await self._failed(url, error, started, run_id)
            raise
        try:
            with contained(url):
                if converted is None:
                    waits = record if len(page.body) <= _MOST_BYTES else None
                    return await self._unchanged(url, stored, page, started, run_id, waits)
                if store is not None and stored is None and all_text is None and _fits_with_others(page):
                    ids = await store(await self._new(url, page, converted, inputs, started, run_id))
                    if ids is not None:
                        return _outcome(page, converted, *ids, "fetched")
                return await self._kept(url, stored, page, converted, inputs, started, run_id, all_text)
        except FetchError as error:
            if error.reason is Reason.INTERNAL_ERROR:
                await self._failed(url, error, started, run_id)
            raise

    async def in_place_of(self, url: str, error: FetchError) -> IngestOutcome | None:
        """The stored text of a page that failed with `error`, with a warning that it is older than wanted. None where
        nothing is stored that would be used at any age."""
        (answer,) = await self.look_up([url])
        stored = None if isinstance(answer, FetchError) else answer.document
        if stored is None or stored.latest_version is None or stored.acquirer not in same_web(self._acquirer.name):
            return None
        if not self._fresh(stored, math.inf):
            return None
        answered = f", it answered last at {stored.last_answered:%Y-%m-%d %H:%M} UTC" if stored.last_answered else ""
        old = Caution.on(stored.canonical_url, f"older than wanted{answered}: {error.with_status}")
        return IngestOutcome(stored.canonical_url, stored.id, stored.latest_version, "reused", (old,))

    async def _kept(
        self,
        url: str,
        stored: StoredDocument | None,
        page: AcquiredPage,
        converted: ConvertedPage,
        inputs: str | None,
        started: datetime,
        run_id: str | None,
        all_text: bool | None,
    ) -> IngestOutcome:
        """Store what was fetched. Raises FetchError(FORGOTTEN), StoreError."""
        async with self._database.transaction() as connection:
            document_id, version_id = await documents.store_version(
                connection,
                page,
                converted,
                page.acquirer or self._acquirer.name,
                self._next_check(page.checked_at),
                inputs_sha256=inputs,
            )
            if all_text is not None:
                await documents.choose_all_text(connection, document_id, all_text=all_text)
            async with connection.pipeline():
                await write_stated(connection, version_id, converted.markdown, top_nodes(converted.markup))
                same = stored is not None and stored.latest_version == version_id and stored.status != "gone"
                if stored is not None and stored.id == document_id:
                    await _learn_validators(connection, stored, page, changed=stored.latest_version != version_id)
                outcome: Literal["fetched", "unchanged"] = "unchanged" if same else "fetched"
                await documents.record_fetch(connection, self._record(url, page, outcome, version_id, started, run_id))
                archived = basis_of(self._acquirer.name) == "archive"
                newest = await newest_sighting(connection, document_id) if archived else None
        past = ""
        if newest is not None and newest > page.fetched_at:
            past = f"the archive's copy is older than the stored text of {newest:%Y-%m-%d}: kept as its past"
        return _outcome(page, converted, document_id, version_id, outcome, past)

    async def _new(
        self,
        url: str,
        page: AcquiredPage,
        converted: ConvertedPage,
        inputs: str | None,
        started: datetime,
        run_id: str | None,
    ) -> NewDocument:
        """A page of which nothing is stored."""
        language = await beside_loop(detected_page, converted.markdown)
        return NewDocument(
            page,
            converted,
            language or UNCLEAR,
            await stated(converted.markdown, top_nodes(converted.markup)),
            self._record(url, page, "fetched", None, started, run_id),
            self._next_check(page.checked_at),
            inputs,
        )

    async def _fetch(self, url: str, stored: StoredDocument | None) -> AcquiredPage:
        """Fetch the page, conditionally unless another extractor produced the stored text. Raises FetchError: for an
        error with what it shows, WALL or NOTICE where that is one."""
        try:
            return await self._requested(url, stored)
        except RefusedAnswerError as refused:
            try:
                await convert_in_worker(refused.page)
            except FetchError as shown:
                if shown.reason in (Reason.WALL, Reason.NOTICE):
                    raise shown from None
            raise

    async def _requested(self, url: str, stored: StoredDocument | None) -> AcquiredPage:
        if stored is None or not self._may_ask_conditionally(stored):
            return await self._acquirer.fetch(url)
        page = await self._acquirer.fetch(url, etag=stored.etag, last_modified=stored.last_modified)
        if page.not_modified and page.final_url != stored.canonical_url:  # redirected elsewhere, to an equal validator
            return await self._acquirer.fetch(url)
        return page

    def _may_ask_conditionally(self, stored: StoredDocument) -> bool:
        if stored.fetched_at is None or stored.status == "gone" or stored.extractor != EXTRACTOR_VERSION:
            return False
        if stored.is_due:
            return False
        if not _has_validators(stored) or stored.ask_whole is not None:
            return False
        if datetime.now(UTC) - stored.fetched_at > max(_LEAST_TRUST, _TRUST_VALIDATORS * self._interval_of(stored)):
            return False
        return not SignalRecord(*(stored.validator_checks or ())).misses_changes

    async def _protect_version(
        self,
        url: str,
        stored: StoredDocument | None,
        page: AcquiredPage,
        converted: ConvertedPage,
        started: datetime,
        brake: Brake | None,
    ) -> None:
        """Raise FetchError for a response that must not replace a good version, HeldBackError for one that may once it
        is confirmed, or waits."""
        if stored is None or stored.latest_version is None or stored.status == "gone":
            return
        if redirected_to_front_page(stored.canonical_url, page.final_url):
            raise FetchError(Reason.SOFT_404, "redirected to the front page", status=page.status)
        if stored.is_due or (brake is not None and brake.accept):
            return
        async with self._database.connection() as connection:
            change = await change_by(connection, stored, page, converted)
        if change is None or not change.replaces or is_confirmed(stored, change):
            return
        if brake is not None and brake.is_open:
            brake.wait(url, change, started, page, converted)
            raise HeldBackError(None, change, status=page.status)
        held = brake.decided(url) if brake is not None and url in brake.waiting else held_alone(change)
        if held is not None:
            raise HeldBackError(held, change, status=page.status)

    @property
    def _interval(self) -> timedelta:
        return timedelta(days=self._settings.webrag_revisit_days)

    def _interval_of(self, stored: StoredDocument) -> timedelta:
        return self._interval if stored.refresh_hours is None else timedelta(hours=stored.refresh_hours)

    def _next_check(self, checked: datetime, error: FetchError | None = None) -> datetime:
        soon = error is not None and error.reason not in _PERMANENT
        return checked + (min(_RETRY_AFTER, self._interval) if soon else self._interval)

    def _fresh(self, stored: StoredDocument, max_age: float | None) -> bool:
        if stored.status == "gone" or stored.is_due:
            return False
        if isinstance(self._acquirer, WarcAcquirer) and stored.fetched_at is not None:
            copied = self._acquirer.date_of(stored.canonical_url)
            if copied is not None and copied > stored.fetched_at:
                return False  # another archive, of a later day
        max_age = self._settings.webrag_max_age if max_age is None else max_age
        answered = stored.last_answered
        age = math.inf if answered is None else (datetime.now(UTC) - answered).total_seconds()
        return max_age is None or age <= max_age

    async def look_up(self, urls: Sequence[str]) -> list[StoredPage | FetchError]:
        """What is stored of the pages at these URLs, in this order, or the error FORGOTTEN. Raises FetchError for an
        invalid URL."""
        async with self._database.connection() as connection:
            return await documents.find_pages(connection, [*map(page_url, urls)])

    async def record_unchanged(self, pages: Sequence[UnchangedPage]) -> list[FetchError | None]:
        """Write that pages are unchanged, in one transaction; errors as those of the function of this name."""
        async with self._database.transaction() as connection:
            return await record_unchanged(connection, pages)

    async def store_new(self, pages: Sequence[NewDocument]) -> list[tuple[int, int] | None]:
        """Store new pages in one transaction; results as those of the function of this name."""
        async with self._database.transaction() as connection:
            return await store_new(connection, pages)

    async def _unchanged(
        self,
        url: str,
        stored: StoredDocument | None,
        page: AcquiredPage,
        started: datetime,
        run_id: str | None,
        record: Callable[[UnchangedPage], Awaitable[None]] | None,
    ) -> IngestOutcome:
        if stored is None or stored.latest_version is None:
            error = FetchError(Reason.BAD_RESPONSE, f"{url} answered 304 to an unconditional request", status=304)
            await self._failed(url, error, started, run_id)
            raise error
        unchanged = UnchangedPage(
            stored.id,
            stored.canonical_url,
            self._record(url, page, "unchanged", stored.latest_version, started, run_id),
            page.checked_at,
            self._next_check(page.checked_at),
            page.headers.get("etag"),
            page.headers.get("last-modified"),
            whole=not page.not_modified,
            moved=None if page.not_modified else _moved(stored, page),
        )
        if record is None:
            (refusal,) = await self.record_unchanged([unchanged])
            if refusal is not None:
                raise refusal
        else:
            await record(unchanged)
        return IngestOutcome(
            stored.canonical_url, stored.id, stored.latest_version, "unchanged", warnings=page.warnings
        )

    async def _failed(
        self,
        url: str,
        error: FetchError,
        started: datetime,
        run_id: str | None,
        stored: StoredDocument | None = None,
    ) -> None:
        async with self._database.transaction() as connection:
            await documents.lock_urls(connection, url)
            await documents.refuse_forgotten(connection, url)
            if isinstance(error, HeldBackError) and error.held is not None and stored is not None:
                await note_held(connection, stored, error.held, error.change)
            now = datetime.now(UTC)
            next_check = self._next_check(now, error)
            if (
                error.reason is Reason.ROBOTS_DISALLOWED
            ):  # a rule may be a slip: it is looked at again soon, then seldom
                earlier = await documents.refusals_in_a_row(connection, url, error.reason)
                next_check = min(next_check, now + _RETRY_AFTER * 2 ** min(earlier, _DOUBLINGS))
            await documents.record_failure(connection, url, error, next_check)
            await documents.record_fetch(
                connection,
                FetchRecord(
                    url=url,
                    acquirer=self._acquirer.name,
                    outcome="failed",
                    started_at=started,
                    reason=error.reason.value,
                    http_status=error.status,
                    run_id=run_id,
                ),
            )

    def _record(
        self, url: str, page: AcquiredPage, outcome: str, version_id: int | None, started: datetime, run_id: str | None
    ) -> FetchRecord:
        return FetchRecord(
            url=url,
            acquirer=page.acquirer or self._acquirer.name,
            outcome=outcome,
            started_at=started,
            final_url=page.final_url,
            hop=len(page.redirects),
            http_status=page.status,
            bytes_raw=page.bytes_raw,
            bytes_decoded=len(page.body),
            run_id=run_id,
            version_id=version_id,
            seen_at=page.fetched_at,
        )


def _outcome(
    page: AcquiredPage,
    converted: ConvertedPage,
    document_id: int,
    version_id: int,
    outcome: Literal["fetched", "unchanged"],
    *warnings: str,
) -> IngestOutcome:
    cautions = [Caution.on(page.final_url, warning) for warning in (*converted.warnings, *filter(None, warnings))]
    return IngestOutcome(page.final_url, document_id, version_id, outcome, (*page.warnings, *cautions))


def _fits_with_others(page: AcquiredPage) -> bool:
    """Whether a new page may wait for others: it is small, and no other address leads to it."""
    return len(page.body) <= _MOST_BYTES and page.url == page.final_url and not page.redirects


def _is_as_stored(stored: StoredDocument, page: AcquiredPage, inputs: str | None) -> bool:
    """Whether a whole answer would be stored as the very version that is the page's current one."""
    return (
        inputs is not None
        and inputs == stored.inputs_sha256
        and page.url == page.final_url == stored.canonical_url
        and not page.redirects
        and stored.status == "ready"
        and stored.current_version == stored.latest_version
    )


def _moved(stored: StoredDocument, page: AcquiredPage) -> bool | None:
    """Whether the validators of a whole answer are others than those stored; None where none of this text are."""
    if not _has_validators(stored) or stored.extractor != EXTRACTOR_VERSION or stored.is_due:
        return None
    return (page.headers.get("etag"), page.headers.get("last-modified")) != (stored.etag, stored.last_modified)


def _has_validators(stored: StoredDocument) -> bool:
    return bool(stored.etag or stored.last_modified)


def _under_preferred_url(page: AcquiredPage, converted: ConvertedPage) -> AcquiredPage:
    """Return the page under its own canonical URL; the fetched URL becomes an alias."""
    preferred = preferred_url(page.final_url, converted.canonical)
    if preferred == page.final_url:
        return page
    return replace(page, final_url=preferred, redirects=(*page.redirects, page.final_url))


async def _learn_validators(
    connection: AsyncConnection, stored: StoredDocument, page: AcquiredPage, *, changed: bool
) -> None:
    """Record whether the validators of a fully fetched page predicted its change, of a text made in the same way."""
    moved = _moved(stored, page)
    if moved is None:
        return
    if stored.ask_whole != "lies":  # known already: it says nothing new of the others
        await refresh_store.record_signals(connection, stored.source_id, {("validator", moved, changed): 1})
    await note_audit(connection, stored.id, moved=moved, changed=changed)
