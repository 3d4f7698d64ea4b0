"""The files of a site map made one: an entry per URL with the best that any of them says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from webrag_core.acquisition.sitemaps.files import ScopedFile
from webrag_core.acquisition.sitemaps.listing import Listed, TitleRank
from webrag_core.acquisition.sitemaps.models import MAX_ENTRIES, MAX_FILES, ListedIn, MapEntry, MapFile, SiteMap

_ORDER: tuple[ListedIn, ...] = ("sitemap", "feed", "inventory", "firecrawl")
_MAX_WARNINGS = 20
_MAX_HOSTS_SHOWN = 3


@dataclass(slots=True)
class _Page:
    title: str | None
    rank: TitleRank
    description: str | None
    last_modified: datetime | None
    listed_in: ListedIn


class MapMerge:
    """Collects pages and what was left out. Up to 50,000 pages: of those beyond only known ones gain anything."""

    def __init__(self) -> None:
        self.invalid = 0
        self.foreign: Counter[str] = Counter()
        self.cut = False
        self.unread = 0
        self.overtime: float | None = None
        """Seconds that the map was given, once they were over."""
        self._pages: dict[str, _Page] = {}
        self._warnings: dict[str, None] = {}

    def warn(self, url: str, message: str) -> None:
        """One thing that went amiss with one file."""
        self._warnings[f"{url}: {message}"] = None

    def take(self, file: ScopedFile) -> None:
        """Everything that one file lists."""
        for url, page in file.pages:
            self._add(url, page, file.listing.kind)
        self.invalid += file.invalid
        self.foreign += file.foreign
        self.cut = self.cut or file.listing.cut

    def _add(self, url: str, page: Listed, listed_in: ListedIn) -> None:
        known = self._pages.get(url)
        if known is None:
            if len(self._pages) >= MAX_ENTRIES:
                self.cut = True
                return
            self._pages[url] = _Page(page.title, page.rank, page.description, page.last_modified, listed_in)
            return
        if page.title and (known.title is None or page.rank > known.rank):
            known.title, known.rank = page.title, page.rank
        known.description = known.description or page.description
        if page.last_modified and (known.last_modified is None or page.last_modified > known.last_modified):
            known.last_modified = page.last_modified
        known.listed_in = min(known.listed_in, listed_in, key=_ORDER.index)

    def site_map(self, files: Sequence[MapFile]) -> SiteMap:
        """What was collected."""
        entries = (
            MapEntry(url, page.title, page.description, page.last_modified, page.listed_in)
            for url, page in sorted(self._pages.items())
        )
        return SiteMap(tuple(entries), tuple(files), tuple(self._all_warnings()))

    def _all_warnings(self) -> list[str]:
        said = list(self._warnings)
        if len(said) > _MAX_WARNINGS:
            said[_MAX_WARNINGS:] = [f"site map: {len(said) - _MAX_WARNINGS} more files could not be read"]
        if self.invalid:
            said.append(f"site map: {self.invalid} listed entries name no page and are left out")
        if self.foreign:
            hosts = ", ".join(host for host, _ in self.foreign.most_common(_MAX_HOSTS_SHOWN))
            more = ", …" if len(self.foreign) > _MAX_HOSTS_SHOWN else ""
            said.append(f"site map: {self.foreign.total()} listed URLs of other hosts are left out ({hosts}{more})")
        if self.cut:
            said.append(f"site map: it lists more than {MAX_ENTRIES} pages, the others are left out")
        if self.overtime is not None:
            said.append(f"site map: not read to its end within {self.overtime:g} s")
        if self.unread:
            said.append(f"site map: {self.unread} more files are not asked for (at most {MAX_FILES} are, none in vain)")
        return said
