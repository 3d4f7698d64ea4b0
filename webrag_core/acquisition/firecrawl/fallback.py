"""Firecrawl with the HTTP acquirer as fallback: provider failures cost quality, not pages."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager

from webrag_core.acquisition.acquirer import FETCHED_DIRECTLY, AcquiredPage, Acquirer
from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.errors import FetchError, Reason
from webrag_core.result_warnings import Caution

logger = logging.getLogger(__name__)

_PROVIDER_REASONS = frozenset({Reason.PROVIDER_FAILED, Reason.RATE_LIMITED, Reason.TIMEOUT})


class FallbackAcquirer:
    """Fetch through Firecrawl; on provider failures fetch the page by `second`, with a warning.

    Failures of the page itself (gone, blocked, empty) are final.
    """

    name = FirecrawlAcquirer.name
    frozen = False
    metered = True
    at_a_time = FirecrawlAcquirer.at_a_time

    def __init__(self, firecrawl: FirecrawlAcquirer, second: Acquirer) -> None:
        self.firecrawl = firecrawl
        self._second = second
        self._logged: set[str] = set()

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """See `Acquirer`. A page of `second` carries its name and a warning. Raises FetchError."""
        try:
            return await self.firecrawl.fetch(url, etag=etag, last_modified=last_modified)
        except FetchError as error:
            if error.reason not in _PROVIDER_REASONS:
                raise
            problem = error.message
        if problem not in self._logged:  # log once per problem; every page carries its own warning
            self._logged.add(problem)
            logger.warning("%s; pages are fetched directly (%s) where that happens", problem, self._second.name)
        try:
            page = await self._second.fetch(url, etag=etag, last_modified=last_modified)
        except FetchError as error:
            message = f"{error.message} (fetched directly, because: {problem})"
            raise FetchError(error.reason, message, status=error.status) from None
        warning = Caution.on(page.final_url, f"{problem}; {FETCHED_DIRECTLY}")
        return dataclasses.replace(page, acquirer=self._second.name, warnings=(*page.warnings, warning))

    @property
    def limited(self) -> bool:
        """See `LimitedAcquirer`."""
        return self.firecrawl.limited

    def announced(self, urls: Sequence[str]) -> AbstractAsyncContextManager[None]:
        """See `BatchAcquirer`."""
        return self.firecrawl.announced(urls)

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """See `Acquirer`. Without entries from Firecrawl use those of `second`, with a warning. Raises FetchError."""
        mapped = await self.firecrawl.site_map(url, html=html, absent=absent, brief=brief)
        if mapped.entries:
            return mapped
        direct = await self._second.site_map(url, html=html, absent=absent, brief=brief)
        problem = "; ".join(warning.message for warning in mapped.warnings) or "Firecrawl lists no page of this host"
        warning = Caution.on(url, f"{problem}; the site's own sitemaps are read instead")
        return SiteMap(direct.entries, (*mapped.files, *direct.files), (warning, *direct.warnings))

    async def aclose(self) -> None:
        """Close both acquirers."""
        await self.firecrawl.aclose()
        await self._second.aclose()
