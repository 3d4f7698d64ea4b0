"""An acquirer of pages that a test writes: with validators, redirects and failures, as a web server would answer."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import MapEntry, MapFile, MapSymbol, SiteMap
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError, Reason

HOME = "https://example.org/"


def html(title: str, *paragraphs: str) -> str:
    """A small page with `title` as its heading."""
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"


@dataclass(slots=True)
class ServedPages:
    """Answers from `pages` (URL -> HTML) and `redirects` (URL -> URL); everything else is a 404."""

    pages: dict[str, str] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    name: str = "served"
    frozen: bool = False
    metered: bool = False
    media_type: str = "text/html; charset=utf-8"
    etag: str | None = None
    """The validator of every page; None = a hash of the page."""
    entries: list[MapEntry] = field(default_factory=list)
    """The site's map."""
    symbols: list[MapSymbol] | None = None
    """Of the site's inventory; None = it has none."""
    map_problem: Reason | None = None
    """Why the inventory is read in part."""
    map_seconds: float = 0.0
    """What it takes to read the map."""
    answers: list[int] = field(default_factory=list)
    """Statuses in the order they were answered."""

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says."""
        asked = current = canonicalise(url)
        passed = []
        while current in self.redirects:
            passed.append(current)
            current = canonicalise(self.redirects[current])
        if current not in self.pages:
            self.answers.append(404)
            raise FetchError(Reason.NOT_FOUND, f"no page at {current}", status=404)
        body = self.pages[current].encode()
        validator = self.etag or f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        unchanged = etag == validator
        self.answers.append(304 if unchanged else 200)
        return AcquiredPage(
            url=asked,
            final_url=current,
            status=304 if unchanged else 200,
            headers={"content-type": self.media_type, "etag": validator},
            body=b"" if unchanged else body,
            fetched_at=datetime.now(UTC),
            bytes_raw=0 if unchanged else len(body),
            redirects=tuple(passed),
        )

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """As the protocol says."""
        await asyncio.sleep(self.map_seconds)
        files = [MapFile(f"{HOME}map", "sitemap", "read", bytes_raw=1)]
        if self.symbols is not None:
            files.append(MapFile(f"{HOME}objects.inv", "inventory", "read", self.map_problem, bytes_raw=1))
        return SiteMap(tuple(self.entries), tuple(files), symbols=tuple(self.symbols or ()))

    async def aclose(self) -> None:
        """Nothing is held."""
