"""Layer 1's face: a URL in, a stored document version out, every outcome in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason
from webrag_core.ingestion import documents
from webrag_core.ingestion.acquirer import AcquiredPage, Acquirer
from webrag_core.ingestion.documents import FetchRecord, StoredDocument
from webrag_core.ingestion.gate import NetworkGate
from webrag_core.ingestion.html import EXTRACTOR_VERSION
from webrag_core.ingestion.http import HttpAcquirer
from webrag_core.ingestion.parse_worker import convert_in_worker
from webrag_core.ingestion.politeness import HostQueues
from webrag_core.ingestion.robots import ObedientGate, Robots
from webrag_core.ingestion.urls import canonicalise
from webrag_core.ingestion.warc import WarcAcquirer
from webrag_core.store.database import Database

_LIVE = frozenset({"http", "firecrawl"})


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """What became of one URL. `url` is the document's canonical URL after redirects, `warnings` what went amiss."""

    url: str
    document_id: int
    version_id: int
    outcome: Literal["fetched", "unchanged", "reused"]
    bytes_raw: int = 0
    warnings: tuple[str, ...] = ()


def make_acquirer(settings: Settings) -> Acquirer:
    """The acquirer that the settings ask for: a frozen site when WEBRAG_WARC is set, else the live web.

    The live web is fetched through Firecrawl where FIRECRAWL_API_KEY or FIRECRAWL_API_URL is set, by ourselves where
    Firecrawl fails and where neither is set. Raises InvalidInputError.
    """
    if settings.webrag_warc is not None:
        return WarcAcquirer(settings.webrag_warc)
    gate = NetworkGate(settings)
    own = _polite_acquirer(settings, gate)
    if settings.firecrawl_api_key is None and settings.firecrawl_api_url is None:
        return own
    from webrag_core.ingestion.fallback import FallbackAcquirer  # nobody else pays for its client
    from webrag_core.ingestion.firecrawl import FirecrawlAcquirer

    return FallbackAcquirer(FirecrawlAcquirer(settings, gate), own)


def _polite_acquirer(settings: Settings, gate: NetworkGate) -> HttpAcquirer:
    hosts = HostQueues(settings.webrag_host_concurrency, settings.webrag_fetch_timeout)
    if not settings.webrag_obey_robots:
        return HttpAcquirer(gate, hosts=hosts)
    robots = Robots(gate, settings.webrag_user_agent)
    return HttpAcquirer(ObedientGate(settings, robots), robots=robots, hosts=hosts)


class Ingestor:
    """Fetches pages through one acquirer and stores them as versions. Does not index, follow links or recurse."""

    def __init__(self, database: Database, acquirer: Acquirer, settings: Settings) -> None:
        self._database = database
        self.acquirer = acquirer
        self._settings = settings

    async def ingest(self, url: str, *, run_id: str | None = None, refresh: bool = False) -> IngestOutcome:
        """Store the page at `url` unless a fresh enough copy is stored already.

        `refresh` asks the site again even then (conditionally). Raises FetchError with a reason when the URL gives
        no usable page; the failure is in the ledger by then and a good version stays as it was. What is no URL at
        all is in no ledger.
        """
        url = canonicalise(url)
        async with self._database.connection() as connection:
            stored = await documents.find_document(connection, url)
        if stored is not None and not _same_web(stored.acquirer, self.acquirer.name):
            stored = None  # a frozen copy never stands in for the live page, nor the other way round
        if stored is not None and stored.latest_version is not None and not refresh and self._fresh(stored):
            return IngestOutcome(stored.canonical_url, stored.id, stored.latest_version, "reused")
        started = datetime.now(UTC)
        try:
            page = await self._fetch(url, stored)
            converted = None if page.not_modified else await convert_in_worker(page)
        except FetchError as error:
            await self._failed(url, error, started, run_id)
            raise
        if converted is None:
            return await self._unchanged(url, stored, page, started, run_id)
        async with self._database.transaction() as connection:
            document_id, version_id = await documents.store_version(
                connection, page, converted, page.acquirer or self.acquirer.name
            )
            same = stored is not None and stored.current_version == version_id
            outcome: Literal["fetched", "unchanged"] = "unchanged" if same else "fetched"
            await documents.record_fetch(connection, self._record(url, page, outcome, started, run_id))
        return IngestOutcome(page.final_url, document_id, version_id, outcome, page.bytes_raw, page.warnings)

    async def _fetch(self, url: str, stored: StoredDocument | None) -> AcquiredPage:
        """The page, or a 304 that is about the stored document. A text of another extractor is fetched anew."""
        if stored is None or stored.latest_version is None or stored.extractor != EXTRACTOR_VERSION:
            return await self.acquirer.fetch(url)
        page = await self.acquirer.fetch(url, etag=stored.etag, last_modified=stored.last_modified)
        if page.not_modified and page.final_url != stored.canonical_url:  # redirected elsewhere, to an equal validator
            return await self.acquirer.fetch(url)
        return page

    def _fresh(self, stored: StoredDocument) -> bool:
        max_age = self._settings.webrag_max_age
        if max_age is None or stored.last_checked is None:
            return max_age is None
        return datetime.now(UTC) - stored.last_checked <= timedelta(seconds=max_age)

    async def _unchanged(
        self,
        url: str,
        stored: StoredDocument | None,
        page: AcquiredPage,
        started: datetime,
        run_id: str | None,
    ) -> IngestOutcome:
        if stored is None or stored.latest_version is None:
            error = FetchError(Reason.BAD_RESPONSE, f"{url} answered 304 to an unconditional request", status=304)
            await self._failed(url, error, started, run_id)
            raise error
        async with self._database.transaction() as connection:
            await documents.touch_unchanged(connection, stored.id, page)
            await documents.record_fetch(connection, self._record(url, page, "unchanged", started, run_id))
        return IngestOutcome(
            stored.canonical_url, stored.id, stored.latest_version, "unchanged", warnings=page.warnings
        )

    async def _failed(self, url: str, error: FetchError, started: datetime, run_id: str | None) -> None:
        async with self._database.transaction() as connection:
            await documents.lock_urls(connection, url)
            await documents.record_failure(connection, url, error)
            await documents.record_fetch(
                connection,
                FetchRecord(
                    url=url,
                    acquirer=self.acquirer.name,
                    outcome="failed",
                    started_at=started,
                    reason=error.reason.value,
                    http_status=error.status,
                    run_id=run_id,
                ),
            )

    def _record(self, url: str, page: AcquiredPage, outcome: str, started: datetime, run_id: str | None) -> FetchRecord:
        return FetchRecord(
            url=url,
            acquirer=page.acquirer or self.acquirer.name,
            outcome=outcome,
            started_at=started,
            final_url=page.final_url,
            hop=len(page.redirects),
            http_status=page.status,
            bytes_raw=page.bytes_raw,
            bytes_decoded=len(page.body),
            run_id=run_id,
        )


def _same_web(stored: str | None, asked: str) -> bool:
    """True when pages of one acquirer may stand for pages of the other: both are the live web, or they are the same."""
    return stored == asked or (stored in _LIVE and asked in _LIVE)
