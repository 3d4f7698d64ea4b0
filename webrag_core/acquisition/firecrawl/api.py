"""Calls to Firecrawl's API v2 through its SDK, with our own time limits, retries and reading of failures.

Exercised against local servers that speak the wire format only: no real Firecrawl was ever called, so what the service
does beyond its documentation is not known from here.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx
from pydantic import ValidationError

from webrag_core.acquisition.firecrawl.wire import Scraped, ScrapeFailure, failure_of, status_failure
from webrag_core.config.fetching import FetchingSettings
from webrag_core.errors import Reason
from webrag_core.providers.endpoint import trust_store
from webrag_core.providers.retry import Failure, RetryingEndpoint
from webrag_core.store.breakers import Breakers, spending_of
from webrag_core.store.spending import Amounts

if TYPE_CHECKING:
    from firecrawl import AsyncFirecrawl

logger = logging.getLogger(__name__)

T = TypeVar("T")

_CLOUD = "https://api.firecrawl.dev"
_REFUSALS = frozenset({401, 402, 403})
_ORIGIN = "webrag"  # the SDK would send the name of the package that calls it
_ATTEMPTS = 3
_RECENT_MS = 120_000
_CANCEL_S = 5.0
_FORMATS = ["markdown", "html", "links"]
_NO_REPLY = ScrapeFailure("Firecrawl answered something that is no reply of its API")


@dataclass(frozen=True, slots=True)
class BatchPage:
    """One page of a batch job's results. `next` is where the following page is."""

    status: str
    next: str | None
    documents: tuple[Scraped, ...]

    @property
    def over(self) -> bool:
        """True when the job will deliver nothing more."""
        return self.status in ("completed", "failed", "cancelled")


class FirecrawlApi:
    """The calls that the acquirer needs. Every one returns a ScrapeFailure instead of raising."""

    def __init__(self, settings: FetchingSettings, breakers: Breakers | None = None) -> None:
        """Opens nothing."""
        import firecrawl  # noqa: F401  takes seconds, which must not go off the time for the first page

        self.seconds = settings.firecrawl_timeout
        self._url = settings.firecrawl_api_url or _CLOUD
        breaker = None if breakers is None else breakers.of("firecrawl", self._url)
        self._endpoint = RetryingEndpoint((None,), attempts=_ATTEMPTS, breaker=breaker)
        self._key = settings.firecrawl_api_key
        self._spending = spending_of(breakers)
        self._pause = settings.breaker_seconds
        self._refused: tuple[ScrapeFailure, float] | None = None  # and until when nothing is asked
        self.limited = False
        self._max_age_ms = round(settings.firecrawl_max_age * 1000)
        self._opened: AsyncFirecrawl | None = None

    async def patiently(self, ask: Callable[[float], Awaitable[T | ScrapeFailure]]) -> T | ScrapeFailure:
        """`ask`, given the seconds left, until it succeeds, fails for good or FIRECRAWL_TIMEOUT is over.

        Who is refused (HTTP 401, 402, 403) asks nothing more for BREAKER_SECONDS. While the server limits requests
        (HTTP 429) one caller waits and asks again, the others give up.
        """
        clock = asyncio.get_running_loop().time
        ends = clock() + self.seconds
        if self._refused is not None and clock() < self._refused[1]:
            return self._refused[0]

        waits = False  # this caller is the one that asks again

        async def once(_: None) -> T | ScrapeFailure:
            nonlocal waits
            status = await ask(ends - clock())
            if not isinstance(status, ScrapeFailure):
                self.limited = False
            elif status.status == 429:
                waits = waits or not self.limited
                self.limited = True
                return status if waits else dataclasses.replace(status, again=False)
            return status

        answer = await self._endpoint.ask(once, self.seconds)
        if isinstance(answer, ScrapeFailure) and answer.status in _REFUSALS:
            self._refused = dataclasses.replace(answer, asked=False), clock() + self._pause
        if isinstance(answer, Failure) and not isinstance(answer, ScrapeFailure):  # no reply at all
            code = Reason.TIMEOUT if answer.retry_at is None else Reason.PROVIDER_FAILED
            return ScrapeFailure(f"Firecrawl: {answer.reason}", code=code, retry_at=answer.retry_at)
        return answer

    async def scrape(self, url: str, left: float) -> Scraped | ScrapeFailure:
        """One page; the server is given a second less than the `left` seconds, so that its own answer comes first."""
        options = self._options(left)
        answer = await self._sdk(lambda client: client.scrape(url, **options, auto_resume=False))
        if isinstance(answer, ScrapeFailure) and answer.unreadable:
            # The page was scraped and paid for, but the SDK's model refuses a word in its metadata. Asking again
            # ourselves, and for a recent copy, gets that very page.
            body = {"url": url, "origin": _ORIGIN, **_camel(options), "maxAge": max(self._max_age_ms, _RECENT_MS)}
            raw = await self._raw("POST", f"{self._url}/v2/scrape", body)
            answer = raw if isinstance(raw, ScrapeFailure) else raw.get("data")
        scraped = answer if isinstance(answer, ScrapeFailure) else Scraped.of(answer) or _NO_REPLY
        if isinstance(scraped, Scraped):
            self.count_page()
        return scraped

    def count_page(self) -> None:
        """Count a page that was delivered."""
        self._spending.add("firecrawl", Amounts(requests=1, pages=1))

    async def map(self, url: str, search: str | None, limit: int, left: float) -> list[object] | ScrapeFailure:
        """Links of a site as Firecrawl gives them: strings, or things with url, title and description."""
        timeout = _server_ms(left)
        answer = await self._sdk(lambda client: client.map(url, search=search, limit=limit, timeout=timeout))
        if isinstance(answer, ScrapeFailure) and answer.unreadable:
            body = {"url": url, "origin": _ORIGIN, "sitemap": "include", "limit": limit, "timeout": timeout}
            body |= {"search": search} if search else {}
            raw = await self._raw("POST", f"{self._url}/v2/map", body)
            links = raw if isinstance(raw, ScrapeFailure) else raw.get("links")
        else:
            links = answer if isinstance(answer, ScrapeFailure) else getattr(answer, "links", None)
        if isinstance(links, list):
            self._spending.add("firecrawl map", Amounts(requests=1))
        return links if isinstance(links, (list, ScrapeFailure)) else _NO_REPLY

    async def start_batch(self, urls: Sequence[str], left: float) -> str | ScrapeFailure:
        """Start a job and return its id. Asked again only where nothing can have been started."""
        from firecrawl.v2.types import ScrapeOptions  # options given in any other way are dropped without a word

        options = ScrapeOptions(**self._options(left))
        answer = await self._sdk(
            lambda client: client.start_batch_scrape(list(urls), options=options, ignore_invalid_urls=True)
        )
        if isinstance(answer, ScrapeFailure):
            return dataclasses.replace(answer, again=answer.again and answer.code is Reason.RATE_LIMITED)
        job = getattr(answer, "id", None)
        return job if isinstance(job, str) and job else _NO_REPLY

    async def batch_page(self, job: str, following: str | None = None) -> BatchPage | ScrapeFailure:
        """State and results of a job, or the page of results at `following` (always on our own server)."""
        path = f"/v2/batch/scrape/{quote(job, safe='')}"
        answer = await self._sdk(lambda client: client.get_batch_scrape_status_page(following or path))
        if isinstance(answer, ScrapeFailure) and answer.unreadable:
            answer = await self._raw("GET", self._pinned(following) if following else f"{self._url}{path}")
        if isinstance(answer, ScrapeFailure):
            return answer
        fields = answer if isinstance(answer, Mapping) else vars(answer)
        data, onward = fields.get("data"), fields.get("next")
        documents = (Scraped.of(document) for document in (data if isinstance(data, list) else []))
        return BatchPage(
            status=str(fields.get("status")),
            next=onward if isinstance(onward, str) and onward else None,
            documents=tuple(document for document in documents if document is not None),
        )

    async def cancel_batch(self, job: str) -> None:
        """Stop a job that nobody waits for any more, as far as the server lets us."""
        try:
            async with asyncio.timeout(_CANCEL_S):
                await self._sdk(lambda client: client.cancel_batch_scrape(quote(job, safe="")))
        except TimeoutError:
            logger.warning("a batch of Firecrawl could not be cancelled; it ends by itself")

    def _pinned(self, url: str) -> str:
        """`url` on our server's host: the key goes nowhere else."""
        api, parts = urlsplit(self._url), urlsplit(url)
        return parts._replace(scheme=api.scheme, netloc=api.netloc, fragment="").geturl()

    def _options(self, left: float) -> dict[str, Any]:
        return {
            "formats": list(_FORMATS),
            "only_main_content": True,
            "skip_tls_verification": False,
            "max_age": self._max_age_ms,
            "timeout": _server_ms(left),
        }

    async def _sdk(self, call: Callable[[AsyncFirecrawl], Awaitable[object]]) -> Any:
        """What `call` gives, or a ScrapeFailure."""
        from firecrawl import FirecrawlError

        try:
            return await call(self._client())
        except ValidationError:
            return dataclasses.replace(_NO_REPLY, unreadable=True)
        except (FirecrawlError, httpx.HTTPError, httpx.InvalidURL) as error:
            return failure_of(error)
        except (ValueError, TypeError, AttributeError):
            return _NO_REPLY  # no JSON, or JSON of another shape, on which the SDK stumbles

    async def _raw(self, method: str, url: str, body: object = None) -> dict[str, Any] | ScrapeFailure:
        """The JSON of a successful reply, asked for without the SDK."""
        headers = {"authorization": f"Bearer {self._key.get_secret_value()}"} if self._key else {}
        try:
            async with httpx.AsyncClient(timeout=self.seconds + 1, verify=trust_store("httpx")) as client:
                reply = await client.request(method, url, json=body, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return failure_of(error)
        try:
            fields = reply.json()
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            return _NO_REPLY if reply.status_code < 400 else status_failure(reply.status_code, None, reply.headers)
        if reply.status_code >= 400 or not fields.get("success"):
            return status_failure(reply.status_code, fields.get("code"), reply.headers)
        return fields

    def _client(self) -> AsyncFirecrawl:
        if self._opened is None:
            from firecrawl import AsyncFirecrawl

            self._opened = AsyncFirecrawl(
                api_key=self._key.get_secret_value() if self._key else "",  # None would be looked up elsewhere
                api_url=self._url,
                timeout=self.seconds + 1,  # ours comes first; without one it waits for ever
                max_retries=0,
                origin=_ORIGIN,
            )
        return self._opened


def _server_ms(left: float) -> int:
    return round(max(1.0, left - 1) * 1000)


def _camel(options: Mapping[str, Any]) -> dict[str, Any]:
    words = {name: name.split("_") for name in options}
    return {first + "".join(map(str.capitalize, rest)): options[name] for name, (first, *rest) in words.items()}
