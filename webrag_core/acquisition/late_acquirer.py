"""An acquirer of live pages that is made when the first page is fetched: its client of HTTP takes long to import, and
who only asks what is stored has no use for it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import SiteMap

if TYPE_CHECKING:
    from webrag_core.acquisition.http import HttpAcquirer
    from webrag_core.acquisition.robots import RobotsRules


class LateHttpAcquirer:
    """The acquirer `http`, made by `make` on first use: whatever that raises is raised then. Implements `Acquirer` and
    `ObedientAcquirer`."""

    name = "http"
    frozen = False
    metered = False

    def __init__(self, make: Callable[[], HttpAcquirer]) -> None:
        self._make = make
        self._made: HttpAcquirer | None = None

    def _acquirer(self) -> HttpAcquirer:
        if self._made is None:
            self._made = self._make()
        return self._made

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As `HttpAcquirer`."""
        return await self._acquirer().fetch(url, etag=etag, last_modified=last_modified)

    async def rules(self, url: str) -> RobotsRules | None:
        """As `HttpAcquirer`."""
        return await self._acquirer().rules(url)

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """As `HttpAcquirer`."""
        return await self._acquirer().site_map(url, html=html, absent=absent, brief=brief)

    async def aclose(self) -> None:
        """Release connections, if there are any."""
        if self._made is not None:
            await self._made.aclose()
