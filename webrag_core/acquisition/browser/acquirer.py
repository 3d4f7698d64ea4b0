"""Acquirer that renders pages: fetched as by `http`, then opened in a browser that only our gate answers."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Collection

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.browser.renderer import Renderer
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.robots import RobotsRules
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.config.fetching import FetchingSettings
from webrag_core.result_warnings import Caution

CONCURRENT_BROWSERS = 2
_MARKUP = frozenset({"text/html", "application/xhtml+xml"})


class BrowserAcquirer:
    """Renders HTML; other types are taken as they come. Implements `Acquirer`.

    Never asks conditionally: the document of a page that scripts build stays the same when its content changes.
    """

    name = "browser"
    frozen = False
    metered = False

    def __init__(self, settings: FetchingSettings, direct: HttpAcquirer) -> None:
        """`direct` fetches the page and everything that it asks for. For one event loop. Raises InvalidInputError where
        the browser is missing.
        """
        self._direct = direct
        self._places = asyncio.Semaphore(CONCURRENT_BROWSERS)
        self._renderer = Renderer(settings, direct.resource)

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """See `Acquirer`. The body is the rendered document, without validators; warnings say what was refused.

        Raises FetchError, also for a page that cannot be rendered: what is stored then stays.
        """
        page = await self._direct.fetch(url)
        if page.media_type not in _MARKUP:
            return page
        async with self._places:
            rendered = await self._renderer.render(page)
        headers = {name: value for name, value in page.headers.items() if name not in ("etag", "last-modified")}
        return dataclasses.replace(
            page,
            body=rendered.html.encode("utf-8", "replace"),
            headers={**headers, "content-type": "text/html; charset=utf-8"},
            bytes_raw=page.bytes_raw + rendered.bytes_raw,
            warnings=(
                *page.warnings,
                *(Caution.on(page.final_url, f"rendered: {warning}") for warning in rendered.warnings),
            ),
        )

    async def rules(self, url: str) -> RobotsRules | None:
        """As `ObedientAcquirer` says."""
        return await self._direct.rules(url)

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """See `Acquirer`: files of the site are not rendered."""
        return await self._direct.site_map(url, html=html, absent=absent, brief=brief)

    async def aclose(self) -> None:
        """End the driver and close what fetches; no browser outlives its page."""
        await self._renderer.aclose()
        await self._direct.aclose()
