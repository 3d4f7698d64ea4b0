"""Whether a site answers the looks for changes of its pages."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from psycopg import AsyncConnection

from webrag_core.acquisition.acquirer import AcquiredPage, Acquirer
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.errors import FetchError


class CountedAnswers:
    """An acquirer that counts which requests for pages were answered, and which failed. A site map with entries is an
    answer; a site without a map has not failed."""

    def __init__(self, acquirer: Acquirer) -> None:
        self._acquirer = acquirer
        self.name, self.frozen, self.metered = acquirer.name, acquirer.frozen, acquirer.metered
        self.answered = 0
        self.failed = 0

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the acquirer."""
        try:
            page = await self._acquirer.fetch(url, etag=etag, last_modified=last_modified)
        except FetchError:
            self.failed += 1
            raise
        self.answered += 1
        return page

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """As the acquirer."""
        site_map = await self._acquirer.site_map(url, html=html, absent=absent, brief=brief)
        self.answered += bool(site_map.entries)
        return site_map

    async def aclose(self) -> None:
        """As the acquirer."""
        await self._acquirer.aclose()


async def record_look(connection: AsyncConnection, source_id: int, answers: CountedAnswers, at: datetime) -> None:
    """Store whether a look was answered. One that asked nothing says nothing."""
    if answers.answered:
        await connection.execute(
            "UPDATE sources SET look_answered_at = %s, look_failed_since = NULL WHERE id = %s", (at, source_id)
        )
    elif answers.failed:
        await connection.execute(
            "UPDATE sources SET look_failed_since = coalesce(look_failed_since, %s) WHERE id = %s", (at, source_id)
        )
