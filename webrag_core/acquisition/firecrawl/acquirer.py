"""The `firecrawl` acquirer: pages and page lists through a Firecrawl server.

Exercised against local servers that speak the wire format only: no real Firecrawl was ever called, so what the service
does beyond its documentation is not known from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import UTC, datetime

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.firecrawl.api import FirecrawlApi
from webrag_core.acquisition.firecrawl.batches import AT_A_TIME, run_batch
from webrag_core.acquisition.firecrawl.wire import MappedPage, Scraped, ScrapeFailure, copied_at
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.sitemaps.files import Scope, in_scope
from webrag_core.acquisition.sitemaps.listing import Listed, Listing, TitleRank, plain
from webrag_core.acquisition.sitemaps.merge import MapMerge
from webrag_core.acquisition.sitemaps.models import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, MapFile, SiteMap
from webrag_core.acquisition.urls import canonicalise
from webrag_core.config.fetching import FetchingSettings
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.result_warnings import Caution
from webrag_core.store.breakers import Breakers

_CONCURRENT = 5
_MAP_LIMIT = 30_000  # as much as every version of the API is known to accept


class FirecrawlAcquirer:
    """Fetches pages through Firecrawl. Implements `Acquirer`. At most five pages at a time.

    Belongs to the event loop it is first used in.
    """

    name = "firecrawl"
    frozen = False
    metered = True
    at_a_time = AT_A_TIME

    def __init__(self, settings: FetchingSettings, gate: NetworkGate, breakers: Breakers | None = None) -> None:
        """`gate` checks every URL that goes out and comes back. Raises InvalidInputError without the SDK."""
        self._api = FirecrawlApi(settings, breakers)
        self._gate = gate
        self._max_age_s = settings.firecrawl_max_age
        self._max_bytes = settings.webrag_max_body_bytes
        self._brief_map = settings.expansion_map_limit
        self._slots = asyncio.Semaphore(_CONCURRENT)
        self._one_by_one = asyncio.Lock()
        self._announced: dict[str, asyncio.Future[Scraped | ScrapeFailure | None]] = {}

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """The page at `url` as HTML (Markdown when nothing else came), within FIRECRAWL_TIMEOUT.

        Firecrawl knows no conditional requests: `etag` and `last_modified` go nowhere, a 304 never comes back.

        Raises FetchError (PROVIDER_FAILED, RATE_LIMITED and TIMEOUT say nothing about the page), InvalidInputError
        for no URL at all.
        """
        if not url.strip():
            raise InvalidInputError("no URL given")
        announced = self._announced.get(canonicalise(url)) if self._announced else None
        delivered = None if announced is None else await asyncio.shield(announced)
        if delivered is not None:
            return await self._page(canonicalise(url), delivered)
        async with self._slots, self._one_by_one if self.limited else nullcontext():
            address = await self._admit(url)
            scraped = await self._api.patiently(lambda left: self._api.scrape(address, left))
            # raised here and not in a handler: the SDK's errors hold the request and so the key
            return await self._page(address, scraped)

    @property
    def limited(self) -> bool:
        """See `LimitedAcquirer`: pages are then asked for one by one, and not again where that is refused."""
        return self._api.limited

    @asynccontextmanager
    async def announced(self, urls: Sequence[str]) -> AsyncIterator[None]:
        """See `BatchAcquirer`. A job has half of FIRECRAWL_TIMEOUT per page: the smallest plan works on two at a time.

        Pages that the gate refuses are not sent, and fail when they are fetched. Where no job can be started each page
        is scraped by itself.
        """
        admitted: list[str] = []
        for url in urls:
            try:
                admitted.append(await self._admit(canonicalise(url)))
            except FetchError:
                continue  # its fetch says why
        admitted = list(dict.fromkeys(admitted))
        if len(admitted) < 2:
            yield
            return
        loop = asyncio.get_running_loop()
        announced: dict[str, asyncio.Future[Scraped | ScrapeFailure | None]] = {
            url: loop.create_future() for url in admitted
        }
        self._announced |= announced

        def deliver(url: str, page: Scraped | ScrapeFailure | None) -> None:
            future = announced.get(url)
            if future is not None and not future.done():
                if isinstance(page, Scraped):
                    self._api.count_page()
                future.set_result(page)

        async def work() -> None:
            failure: ScrapeFailure | None = None
            try:
                failure = await run_batch(self._api, admitted, self._api.seconds * len(admitted) / 2, deliver)
            finally:
                for url in admitted:
                    deliver(url, failure)

        task = asyncio.create_task(work())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            for url in admitted:
                self._announced.pop(url, None)

    async def map_site(self, url: str, search: str | None = None, limit: int = 5_000) -> list[MappedPage]:
        """Pages of the site at `url`, best match of `search` first; canonical, each once, http(s) only.

        Raises FetchError. The URLs have not passed the gate yet: whoever fetches one sees to that.
        """
        address = await self._admit(url)
        links = await self._api.patiently(lambda left: self._api.map(address, search, limit, left))
        if isinstance(links, ScrapeFailure):
            raise links.error()
        results: dict[str, MappedPage] = {}
        for link in links:
            fields = link if isinstance(link, dict) else {"url": link} if isinstance(link, str) else vars(link)
            given, title, description = (fields.get(name) for name in ("url", "title", "description"))
            try:
                target = canonicalise(given) if isinstance(given, str) else None
            except FetchError:
                continue
            if target is not None and target not in results:
                results[target] = MappedPage(target, _words(title), _words(description))
        return list(results.values())[:limit]

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """As the protocol says, from Firecrawl's own map of the site, in which EXPANSION_MAP_LIMIT is the most of a
        `brief` one. `html` and `absent` are not sent."""
        address = canonicalise(url)
        try:
            mapped = await self.map_site(address, limit=self._brief_map if brief else _MAP_LIMIT)
        except FetchError as error:
            failed = MapFile(address, "firecrawl", "failed", error.reason)
            return SiteMap(files=(failed,), warnings=(Caution.on(address, error.message),))
        listing = Listing("firecrawl")
        for page in mapped:
            title = plain(page.title or "", MAX_TITLE_CHARS)
            description = plain(page.description or "", MAX_DESCRIPTION_CHARS)
            listing.add(Listed(page.url, title, description, rank=TitleRank.FEED))
        file, merge = in_scope(listing, address, Scope.of(address)), MapMerge()
        merge.take(file)
        if len(mapped) >= _MAP_LIMIT:
            merge.warn(address, f"Firecrawl's map is cut after {_MAP_LIMIT} URLs")
        return merge.site_map([MapFile(address, "firecrawl", "read", entries=len(file.pages))])

    async def aclose(self) -> None:
        """Nothing to release: the SDK keeps no connection between calls."""

    async def _page(self, address: str, scraped: Scraped | ScrapeFailure) -> AcquiredPage:
        """What was scraped as a page. Raises FetchError for what is none, though the call succeeded."""
        if isinstance(scraped, ScrapeFailure):
            raise scraped.error()
        if scraped.status in (404, 410):
            raise FetchError(Reason.NOT_FOUND, "the page does not exist", status=scraped.status)
        if not 200 <= scraped.status < 300:
            raise FetchError(
                Reason.HTTP_STATUS, f"the server answered with status {scraped.status}", status=scraped.status
            )
        final = await self._final(address, scraped.meta_text("url"))
        media_type, text = scraped.content(final)
        if not text.strip():
            raise FetchError(Reason.EMPTY_PAGE, "the page is empty", status=scraped.status)
        body = text.encode("utf-8", "replace")
        if len(body) > self._max_bytes:
            raise FetchError(Reason.TOO_LARGE, f"the page has more than {self._max_bytes} bytes")
        now = datetime.now(UTC)
        made, warning = copied_at(scraped, now, self._max_age_s)
        headers = {"content-type": f"{media_type}; charset=utf-8"}
        if scraped.metadata.get("cache_state") == "hit":
            headers |= {"x-cache": "hit", "age": str(round((now - made).total_seconds()))}
        return AcquiredPage(
            url=address,
            final_url=final,
            status=scraped.status,
            headers=headers,
            body=body,
            fetched_at=made,
            bytes_raw=len(body),
            redirects=() if final == address else (address,),
            warnings=(Caution.on(final, warning),) if warning else (),
        )

    async def _final(self, address: str, reported: str) -> str:
        try:
            return address if not reported or canonicalise(reported) == address else await self._admit(reported)
        except FetchError as error:
            if error.reason is not Reason.INVALID_URL:
                raise
        raise FetchError(Reason.PROVIDER_FAILED, "Firecrawl reported a final URL that is none")

    async def _admit(self, url: str) -> str:
        try:
            async with asyncio.timeout(self._api.seconds):
                admitted = (await self._gate.admit(url)).url
        except TimeoutError:
            raise FetchError(Reason.DNS_FAILURE, "the host name could not be looked up in time") from None
        if self._gate.login_of(admitted) is not None:
            raise FetchError(Reason.PROVIDER_FAILED, "Firecrawl is not given the log-in of this site")
        return admitted


def _words(value: object) -> str | None:
    return " ".join(value.split()) or None if isinstance(value, str) else None
