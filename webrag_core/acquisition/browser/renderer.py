"""One page in a browser of its own: opened, left to settle, read, killed."""

from __future__ import annotations

import asyncio
import re
import secrets
import tempfile
import time
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Playwright, WebSocketRoute, async_playwright
from playwright.async_api import Error as BrowserError

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.browser import chromium
from webrag_core.acquisition.browser.isolated_world import IsolatedWorld
from webrag_core.acquisition.browser.requests import Fetch, PageRequests
from webrag_core.config.fetching import FetchingSettings
from webrag_core.errors import FetchError, Reason

START_SECONDS = 30.0
_LOOK_SECONDS = 0.25
_QUIET_LOOKS = 3  # in a row without a request under way or a change of the text
_NAVIGATED = re.compile("navigat|context|frame with the given id", re.IGNORECASE)  # as the browser words it
_READ_SECONDS = 5.0
_WITHOUT = "for (const name of ['RTCPeerConnection','webkitRTCPeerConnection','WebTransport','SharedWorker'])"
_SCRIPT = _WITHOUT + " { try { delete window[name]; } catch { } }"


@dataclass(frozen=True, slots=True)
class Rendered:
    """The page as its scripts made it, and what was not as it should be. `bytes_raw` counts what it asked for."""

    html: str
    bytes_raw: int
    warnings: tuple[str, ...]


class Renderer:
    """Renders pages, each in a browser process of its own. Between them only the driver stays, which opens no page."""

    def __init__(self, settings: FetchingSettings, fetch: Fetch) -> None:
        """Requests of pages go to `fetch`. Raises InvalidInputError where there is no browser."""
        self._browser = chromium.find_chromium(settings.webrag_browser)
        self._fetch = fetch
        self._seconds = settings.webrag_browser_timeout
        self._max_bytes = settings.webrag_max_body_bytes
        self._user_agent = settings.webrag_user_agent
        self._driver: Playwright | None = None
        self._guard = asyncio.Lock()

    async def render(self, page: AcquiredPage) -> Rendered:
        """Open `page` for at most WEBRAG_BROWSER_TIMEOUT, without asking for it again.

        Raises FetchError: TIMEOUT when its scripts leave no moment to read it, TOO_LARGE for a document beyond
        WEBRAG_MAX_BODY_BYTES or too much memory, PROVIDER_FAILED when the browser does not start or dies.
        """
        token = secrets.token_hex(8)
        with tempfile.TemporaryDirectory(prefix="webrag-render-", ignore_cleanup_errors=True) as folder:
            try:
                async with asyncio.timeout(self._seconds + START_SECONDS):
                    browser = await self._launch(token, Path(folder))
                    return await self._read(page, browser, token)
            except BrowserError as error:
                problem = error.message.partition("\n")[0][:200]
                raise FetchError(Reason.PROVIDER_FAILED, f"the browser failed: {problem}") from None
            except TimeoutError:
                raise FetchError(Reason.TIMEOUT, "the browser does not answer") from None
            finally:
                await asyncio.to_thread(chromium.kill, token)

    async def aclose(self) -> None:
        """End the driver."""
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.stop()

    async def _launch(self, token: str, folder: Path) -> Browser:
        async with self._guard:
            if self._driver is None:
                self._driver = await async_playwright().start()
        program = await asyncio.to_thread(chromium.without_network, self._browser, folder)
        return await self._driver.chromium.launch(
            executable_path=program,
            args=chromium.arguments(token),
            env=chromium.environment(folder),
            chromium_sandbox=chromium.has_sandbox(),
            timeout=START_SECONDS * 1_000,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def _read(self, page: AcquiredPage, browser: Browser, token: str) -> Rendered:
        requests = PageRequests(page, self._fetch)

        async def close_socket(socket: WebSocketRoute) -> None:
            requests.note("WebSockets")
            await socket.close()

        context = await browser.new_context(
            accept_downloads=False, service_workers="block", user_agent=self._user_agent, permissions=[]
        )
        await context.add_init_script(_SCRIPT)
        await context.route("**/*", requests.answer)
        await context.route_web_socket("**/*", close_socket)
        tab = await context.new_page()
        world = await IsolatedWorld.of(tab, self._max_bytes)
        tab.on("dialog", lambda dialog: asyncio.ensure_future(_quietly(dialog.dismiss())))
        context.on("page", lambda other: asyncio.ensure_future(_quietly(other.close())))
        opening = asyncio.ensure_future(_quietly(tab.goto(page.final_url, wait_until="commit", timeout=0)))
        try:
            html, warnings = await self._settled(world, requests, token)
        finally:
            opening.cancel()
        if len(html.encode("utf-8", "replace")) > self._max_bytes:
            raise FetchError(Reason.TOO_LARGE, f"the page has more than {self._max_bytes} bytes")
        return Rendered(html, requests.bytes, (*warnings, *requests.refusals()))

    async def _settled(self, world: IsolatedWorld, requests: PageRequests, token: str) -> tuple[str, list[str]]:
        """(the document, warnings) when nothing moves any more, or at the time limit."""
        ends = time.monotonic() + self._seconds
        html, size, quiet = "", -1, 0
        while quiet < _QUIET_LOOKS:
            if time.monotonic() > ends:
                if not html:
                    raise FetchError(Reason.TIMEOUT, f"the page showed nothing in {self._seconds:g} s")
                return html, [f"it did not settle in {self._seconds:g} s: what it showed then is stored"]
            await asyncio.sleep(_LOOK_SECONDS)
            if await asyncio.to_thread(chromium.memory, token) > chromium.MAX_MEMORY_BYTES:
                raise FetchError(Reason.TOO_LARGE, "the page needs too much memory in the browser")
            try:
                async with asyncio.timeout(_READ_SECONDS):
                    now = await world.size() if requests.opened else -1
                    if now != size or (requests.opened and not html):
                        html = await world.markup() or html
            except BrowserError as error:
                if not _NAVIGATED.search(error.message):
                    raise
                now = -1  # it went elsewhere while it was read
            except TimeoutError:
                if not html:
                    raise FetchError(Reason.TIMEOUT, "the page's scripts leave no moment to read it") from None
                return html, ["its scripts stopped answering: what it showed before is stored"]
            quiet = quiet + 1 if now >= 0 and now == size and requests.under_way == 0 else 0
            size = now
        return html, []


async def _quietly(work: Awaitable[object]) -> None:
    """Await what may fail because the page is gone."""
    with suppress(BrowserError):
        await work
