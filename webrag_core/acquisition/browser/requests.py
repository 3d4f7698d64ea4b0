"""What a page in the browser asks for, and who answers: our gate, within limits, or nobody."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from playwright.async_api import Error as BrowserError
from playwright.async_api import Request, Route

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.gate import GateResponse, is_sendable
from webrag_core.errors import FetchError, InvalidInputError, Reason

logger = logging.getLogger(__name__)

MAX_REQUESTS = 200
MAX_BYTES = 30_000_000
"""Of all answers of one page, decoded."""
CONCURRENT = 6

Fetch = Callable[[str, Mapping[str, str], str], Awaitable[GateResponse]]
"""Address, headers, and the page that asks."""

_WANTED = frozenset({"script", "xhr", "fetch", "other"})
_EMPTY = {"stylesheet": "text/css"}
"""Answered with nothing: scripts wait for them, and no text is in them."""
_SENT = frozenset({"accept", "accept-language", "content-type", "origin", "rsc"})
_KEPT_FROM_BROWSER = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "set-cookie", "transfer-encoding", "alt-svc"}
)


class PageRequests:
    """Answers the requests of one page. `page` is answered from what was fetched; the rest comes through `fetch`."""

    def __init__(self, page: AcquiredPage, fetch: Fetch) -> None:
        self._page = page
        self._fetch = fetch
        self._places = asyncio.Semaphore(CONCURRENT)
        self.opened = False
        self.under_way = 0
        self.count = 0
        self.bytes = 0
        self._refused: dict[str, int] = {}

    async def answer(self, route: Route, request: Request) -> None:
        """Answer one request, whatever it is: nothing is left to the browser. For `BrowserContext.route`."""
        self.under_way += 1
        try:
            with suppress(BrowserError):  # the page is gone, and nobody waits for the answer
                try:
                    await self._answer(route, request)
                except FetchError as error:
                    self._refuse(request, error)
                    await route.abort("blockedbyclient")
        finally:
            self.under_way -= 1

    async def _answer(self, route: Route, request: Request) -> None:
        kind = request.resource_type
        if request.is_navigation_request():
            if self.opened:
                self.note("other pages: frames, windows, or where a script went")
                await route.abort("aborted")
                return
            self.opened = True
            headers = {"content-type": self._page.headers.get("content-type", "text/html")}
            await route.fulfill(status=200, headers=headers, body=self._page.body)
        elif kind in _EMPTY:
            await route.fulfill(status=200, content_type=_EMPTY[kind], body=b"")
        elif kind not in _WANTED:
            await route.abort("blockedbyclient")
        elif request.method != "GET":
            self.note(f"requests that are not GET ({request.method[:10]})")
            await route.abort("blockedbyclient")
        else:
            answer = await self._through_gate(request)
            await route.fulfill(status=answer.status, headers=_shown(answer.headers), body=answer.body)

    async def _through_gate(self, request: Request) -> GateResponse:
        self.count += 1
        if self.count > MAX_REQUESTS:
            raise FetchError(Reason.TOO_LARGE, f"more than {MAX_REQUESTS} requests")
        sent = {
            name: value
            for name, value in request.headers.items()
            if (name in _SENT or name.startswith(("x-", "next-"))) and is_sendable(value)
        }
        async with self._places:
            if self.bytes > MAX_BYTES:
                raise FetchError(Reason.TOO_LARGE, f"more than {MAX_BYTES} bytes")
            try:
                answer = await self._fetch(request.url, sent, self._page.final_url)
            except InvalidInputError as error:
                raise FetchError(Reason.INVALID_URL, error.message) from None
        self.bytes += len(answer.body)
        return answer

    def _refuse(self, request: Request, error: FetchError) -> None:
        """Log what a page asked for and did not get. Addresses that are not open count as an attempt."""
        if error.reason is Reason.BLOCKED_ADDRESS:
            logger.warning("%s asked for %.200s while it was rendered: refused", self._page.final_url, request.url)
            self.note("addresses that are not open to fetching")
        elif error.reason is Reason.TOO_LARGE:
            self.note(error.message)
        else:
            logger.info("%s lacks %.200s: %s", self._page.final_url, request.url, error.message)
            self.note("files that could not be fetched")

    def note(self, what: str) -> None:
        """Count a refusal by what it was for."""
        self._refused[what] = self._refused.get(what, 0) + 1

    def refusals(self) -> list[str]:
        """What was refused, for a person."""
        return [f"{count} × refused: {what}" for what, count in self._refused.items()]


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _KEPT_FROM_BROWSER}
