"""Data of discovery files: what a site says about its pages before any of them is fetched."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import Reason
from webrag_core.result_warnings import Caution

MAX_FILES = 50
MAX_ENTRIES = 50_000
MAX_FILE_BYTES = 50_000_000
"""Bytes of one file after decompression. WEBRAG_MAX_BODY_BYTES limits the transfer."""
MAX_TITLE_CHARS = 500
MAX_DESCRIPTION_CHARS = 2_000
MAP_SECONDS = 60.0

ListedIn = Literal["sitemap", "feed", "inventory", "search_index", "llms_txt", "firecrawl"]
FileKind = Literal["robots", "page", "sitemap", "feed", "inventory", "search_index", "llms_txt", "firecrawl"]
Outcome = Literal["read", "missing", "failed"]


@dataclass(frozen=True, slots=True)
class MapEntry:
    """One page that discovery files list. `url` is canonical, `last_modified` is aware and in UTC.

    `title` has at most 500 and `description` at most 2,000 characters; both are plain text on one line. A date without
    a time means midnight. `listed_in` is the first kind that lists the page, in the order of `ListedIn`. `words` are
    those that a search index has of the page: each once, lower case, whole or stemmed.
    """

    url: str
    title: str | None = None
    description: str | None = None
    last_modified: datetime | None = None
    listed_in: ListedIn = "sitemap"
    words: str = ""


@dataclass(frozen=True, slots=True)
class MapSymbol:
    """One object of an inventory: where the site documents it. Its `url` is canonical, without the fragment `anchor`.

    `name` is qualified (asyncio.Queue.get), of at most 500 characters; `role` is domain:role (py:method), `anchor` has
    at most 300 characters and is empty for a whole page.
    """

    url: str
    name: str
    role: str
    anchor: str


@dataclass(frozen=True, slots=True)
class MapFile:
    """One requested file and its outcome. `entries` counts its pages of the host.

    `reason` is set for every outcome but "read", and for a file that was read in part. `bytes_raw` counts the body as
    sent; 0 without a body, or for a robots.txt in memory.
    """

    url: str
    kind: FileKind
    outcome: Outcome
    reason: Reason | None = None
    entries: int = 0
    bytes_raw: int = 0


@dataclass(frozen=True, slots=True)
class SiteMap:
    """Pages of one host, one entry per URL, sorted by URL; every requested file; warnings; symbols of inventories."""

    entries: tuple[MapEntry, ...] = ()
    files: tuple[MapFile, ...] = ()
    warnings: tuple[Caution, ...] = ()
    symbols: tuple[MapSymbol, ...] = ()

    def under(self, prefix: str) -> SiteMap:
        """Restrict entries and symbols to pages at or below the URL `prefix`: `…/docs` has `…/docs/a`, not `…/docs2`.

        Raises FetchError(INVALID_URL) for a prefix that is no absolute http(s) URL.
        """
        root = canonicalise(prefix)
        folder = root if root.endswith("/") else f"{root}/"

        def is_below(url: str) -> bool:
            return url.startswith((folder, f"{root}?")) or url == root

        return dataclasses.replace(
            self,
            entries=tuple(entry for entry in self.entries if is_below(entry.url)),
            symbols=tuple(symbol for symbol in self.symbols if is_below(symbol.url)),
        )


@dataclass(frozen=True, slots=True)
class MapBody:
    """Body of a file: decoded (content-encoding removed), status 200-299. `final_url` is canonical."""

    final_url: str
    body: bytes
    media_type: str
    bytes_raw: int
