"""Merge discovery files: one entry per URL with its best title, description and date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from webrag_core.acquisition.sitemaps.files import ScopedFile
from webrag_core.acquisition.sitemaps.listing import Listed, TitleRank
from webrag_core.acquisition.sitemaps.llms_txt import page_of_markdown
from webrag_core.acquisition.sitemaps.models import (
    MAX_ENTRIES,
    MAX_FILES,
    ListedIn,
    MapEntry,
    MapFile,
    MapSymbol,
    SiteMap,
)
from webrag_core.result_warnings import Caution

_ORDER: tuple[ListedIn, ...] = ("sitemap", "feed", "inventory", "search_index", "llms_txt", "firecrawl")
_MAX_WARNINGS = 20
_MAX_HOSTS_SHOWN = 3


@dataclass(slots=True)
class _Page:
    title: str | None
    rank: TitleRank
    description: str | None
    last_modified: datetime | None
    listed_in: ListedIn
    words: str


class MapMerge:
    """Collects up to 50,000 pages and as many symbols, and counts of what was left out."""

    def __init__(self) -> None:
        self.invalid = 0
        self.foreign: Counter[str] = Counter()
        self.cut = False
        self.symbols_cut = False
        self.unread = 0
        self.overtime: float | None = None
        """The time limit in seconds, set when it was exceeded."""
        self._pages: dict[str, _Page] = {}
        self._symbols: dict[tuple[str, str, str], MapSymbol] = {}
        self._warnings: dict[Caution, None] = {}

    def warn(self, url: str, message: str) -> None:
        """Add a warning about one file."""
        self._warnings[Caution.on(url, message)] = None

    def take(self, file: ScopedFile) -> None:
        """Add all entries of one file.

        Those of llms.txt count for the pages whose Markdown they are, where these are known; its links to other sites
        are no mistakes.
        """
        of_markdown = file.listing.kind == "llms_txt"
        for url, page in file.pages:
            self._add(page_of_markdown(url, self._pages) if of_markdown else url, page, file.listing.kind)
        for symbol in file.symbols:
            if len(self._symbols) >= MAX_ENTRIES:
                self.symbols_cut = True
                break
            self._symbols.setdefault((symbol.url, symbol.name, symbol.role), symbol)
        if not of_markdown:
            self.invalid += file.invalid
            self.foreign += file.foreign
        self.cut = self.cut or file.listing.cut
        self.symbols_cut = self.symbols_cut or file.listing.symbols_cut

    def _add(self, url: str, page: Listed, listed_in: ListedIn) -> None:
        known = self._pages.get(url)
        if known is None:
            if len(self._pages) >= MAX_ENTRIES:
                self.cut = True
                return
            self._pages[url] = _Page(page.title, page.rank, page.description, page.last_modified, listed_in, page.words)
            return
        if page.title and (known.title is None or page.rank > known.rank):
            known.title, known.rank = page.title, page.rank
        known.description = known.description or page.description
        known.words = known.words or page.words
        if page.last_modified and (known.last_modified is None or page.last_modified > known.last_modified):
            known.last_modified = page.last_modified
        known.listed_in = min(known.listed_in, listed_in, key=_ORDER.index)

    def site_map(self, files: Sequence[MapFile]) -> SiteMap:
        """Return the merged entries, sorted by URL, with all warnings."""
        entries = (
            MapEntry(url, page.title, page.description, page.last_modified, page.listed_in, page.words)
            for url, page in sorted(self._pages.items())
        )
        symbols = tuple(symbol for _, symbol in sorted(self._symbols.items()))
        return SiteMap(tuple(entries), tuple(files), tuple(self._all_warnings()), symbols)

    def _all_warnings(self) -> list[Caution]:
        return [*list(self._warnings)[:_MAX_WARNINGS], *map(Caution, self._left_out())]

    def _left_out(self) -> list[str]:
        """What is missing, in numbers."""
        warnings = []
        if len(self._warnings) > _MAX_WARNINGS:
            warnings.append(f"sitemap: {len(self._warnings) - _MAX_WARNINGS} more files could not be read")
        if self.invalid:
            warnings.append(f"sitemap: {self.invalid} entries without a valid page URL were dropped")
        if self.foreign:
            hosts = ", ".join(host for host, _ in self.foreign.most_common(_MAX_HOSTS_SHOWN))
            more = ", …" if len(self.foreign) > _MAX_HOSTS_SHOWN else ""
            warnings.append(f"sitemap: {self.foreign.total()} URLs of other hosts were dropped ({hosts}{more})")
        if self.cut:
            warnings.append(f"sitemap: only the first {MAX_ENTRIES} pages were taken")
        if self.symbols_cut:
            warnings.append(f"inventory: only the first {MAX_ENTRIES} symbols were taken")
        if self.overtime is not None:
            warnings.append(f"sitemap: reading stopped after {self.overtime:g} s")
        if self.unread:
            warnings.append(
                f"sitemap: {self.unread} files were not requested (limit: {MAX_FILES} files, none from a failing host)"
            )
        return warnings
