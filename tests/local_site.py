"""A site held in memory, behind the same protocol as the web: for graphs no real site has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.acquisition.urls import canonicalise
from webrag_core.config import Settings
from webrag_core.errors import FetchError, Reason
from webrag_core.indexing.pipeline import Corpus

SITE = "https://site.example"


def page(title: str, body: str, links: Mapping[str, str] | None = None) -> str:
    """One small HTML page; `links` maps a path to its anchor text."""
    anchors = "".join(f'<p>See <a href="{path}">{text}</a> for more.</p>' for path, text in (links or {}).items())
    main = f"<main><h1>{title}</h1><p>{body}</p>{anchors}</main>"
    return f"<html><head><title>{title}</title></head><body>{main}</body></html>"


@dataclass(slots=True)
class LocalSite:
    """Serves `pages` (path -> HTML), `redirects` (path -> path); everything else is 404. Counts requests."""

    pages: dict[str, str]
    redirects: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    name: str = "local"
    frozen: bool = False
    metered: bool = False

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says; follows at most five redirects."""
        asked = canonicalise(url)
        self.requests.append(asked)
        current, passed = asked, []
        for _ in range(6):
            path = current.removeprefix(SITE)
            if path in self.pages:
                body = self.pages[path].encode()
                return AcquiredPage(
                    url=asked,
                    final_url=current,
                    status=200,
                    headers={"content-type": "text/html; charset=utf-8"},
                    body=body,
                    fetched_at=datetime.now(UTC),
                    bytes_raw=len(body),
                    redirects=tuple(passed),
                )
            if path not in self.redirects:
                raise FetchError(Reason.NOT_FOUND, f"{current} is not there", status=404)
            passed.append(current)
            current = canonicalise(self.redirects[path], current)
        raise FetchError(Reason.TOO_MANY_REDIRECTS, f"{asked} redirects too often")

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """It has none."""
        return SiteMap()

    async def aclose(self) -> None:
        """Nothing to release."""


def over_pages(settings: Settings, pages: Mapping[str, str], work: Callable[[Corpus], Awaitable[None]]) -> None:
    """Do `work` over a corpus that holds these pages (path -> HTML)."""

    async def run() -> None:
        async with Corpus.open(settings, LocalSite(dict(pages))) as corpus:
            for path in pages:
                await corpus.add(SITE + path)
            await work(corpus)

    asyncio.run(run())
