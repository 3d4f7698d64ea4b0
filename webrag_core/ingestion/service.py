"""Layer 1's face: a URL in, a stored document version out, every outcome in the ledger."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason
from webrag_core.ingestion import documents
from webrag_core.ingestion.acquirer import AcquiredPage, Acquirer
from webrag_core.ingestion.charset import decode_page
from webrag_core.ingestion.documents import FetchRecord, StoredDocument
from webrag_core.ingestion.gate import NetworkGate
from webrag_core.ingestion.html import EXTRACTOR_VERSION, ConvertedPage, convert_html
from webrag_core.ingestion.http import HttpAcquirer
from webrag_core.ingestion.links import storable
from webrag_core.ingestion.urls import canonicalise
from webrag_core.ingestion.warc import WarcAcquirer
from webrag_core.store.database import Database

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_MIN_WORDS = 3


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """What became of one URL. `url` is the document's canonical URL after redirects."""

    url: str
    document_id: int
    version_id: int
    outcome: Literal["fetched", "unchanged", "reused"]
    bytes_raw: int = 0


def make_acquirer(settings: Settings) -> Acquirer:
    """The acquirer that the settings ask for: a frozen site when WEBRAG_WARC is set, else the live web."""
    if settings.webrag_warc is not None:
        return WarcAcquirer(settings.webrag_warc)
    return HttpAcquirer(NetworkGate(settings))


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
        if stored is not None and stored.acquirer != self.acquirer.name:
            stored = None  # a frozen copy never stands in for the live page, nor the other way round
        if stored is not None and stored.latest_version is not None and not refresh and self._fresh(stored):
            return IngestOutcome(stored.canonical_url, stored.id, stored.latest_version, "reused")
        started = datetime.now(UTC)
        try:
            page = await self._fetch(url, stored)
            converted = None if page.not_modified else await asyncio.to_thread(_convert, page)
        except FetchError as error:
            await self._failed(url, error, started, run_id)
            raise
        if converted is None:
            return await self._unchanged(url, stored, page, started, run_id)
        async with self._database.transaction() as connection:
            document_id, version_id = await documents.store_version(connection, page, converted, self.acquirer.name)
            same = stored is not None and stored.current_version == version_id
            outcome: Literal["fetched", "unchanged"] = "unchanged" if same else "fetched"
            await documents.record_fetch(connection, self._record(url, page, outcome, started, run_id))
        return IngestOutcome(page.final_url, document_id, version_id, outcome, page.bytes_raw)

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
        return IngestOutcome(stored.canonical_url, stored.id, stored.latest_version, "unchanged")

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
            acquirer=self.acquirer.name,
            outcome=outcome,
            started_at=started,
            final_url=page.final_url,
            hop=len(page.redirects),
            http_status=page.status,
            bytes_raw=page.bytes_raw,
            bytes_decoded=len(page.body),
            run_id=run_id,
        )


def _convert(page: AcquiredPage) -> ConvertedPage:
    """Markdown of a page. Plain text and Markdown answers are their own Markdown.

    Raises FetchError(EMPTY_PAGE) for fewer than three words: nothing that could be evidence.
    """
    charset = _CHARSET.search(page.headers.get("content-type", ""))
    encoding = charset.group(1) if charset else None
    if page.media_type.startswith("text/") and page.media_type != "text/html":
        converted = _plain(page, encoding)
    else:
        converted = convert_html(page.body, url=page.final_url, charset=encoding)
    if len(re.findall(r"\w+", converted.markdown)) < _MIN_WORDS:
        raise FetchError(Reason.EMPTY_PAGE, f"{page.final_url} has no content to speak of")
    return converted


def _plain(page: AcquiredPage, charset: str | None) -> ConvertedPage:
    return ConvertedPage(storable(decode_page(page.body, charset)), None, None, None, None, None, ())
