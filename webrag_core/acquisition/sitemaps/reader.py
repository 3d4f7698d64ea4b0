"""Find and read the discovery files of a site, in a fixed order and within limits.

The caller supplies the function that gets one file, so the live web and a frozen site are read alike.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import ada_url

from webrag_core.acquisition.charset import decode_page
from webrag_core.acquisition.robots import MAX_ROBOTS_BYTES, RobotsRules, parse_robots
from webrag_core.acquisition.sitemaps.feeds import map_links
from webrag_core.acquisition.sitemaps.files import Scope, ScopedFile, read_map_file
from webrag_core.acquisition.sitemaps.merge import MapMerge
from webrag_core.acquisition.sitemaps.models import MAP_SECONDS, MAX_FILES, FileKind, MapBody, MapFile, Outcome, SiteMap
from webrag_core.acquisition.sitemaps.search_index import find_search_index
from webrag_core.acquisition.urls import canonicalise, source_key
from webrag_core.errors import FetchError, Reason

MAX_FOLDERS = 5
MAX_FEEDS = 5
MAX_INDEX_DEPTH = 3
AT_A_TIME = 4
BRIEF_FILES = 6

MapGet = Callable[[str, FileKind], Awaitable[MapBody]]

# after one of these the host gets no further request
_HOST_TROUBLE = frozenset(
    {
        *(Reason.BLOCKED_ADDRESS, Reason.DNS_FAILURE, Reason.CONNECT_FAILURE, Reason.TLS_FAILURE),
        *(Reason.NOT_ARCHIVED, Reason.RATE_LIMITED),
    }
)
# no warning for a guessed file that fails like this
_ABSENT = frozenset({Reason.NOT_FOUND, Reason.SOFT_404, Reason.EMPTY_PAGE, Reason.UNSUPPORTED_TYPE})


async def read_site_map(
    url: str,
    get: MapGet,
    *,
    html: str | None = None,
    robots: RobotsRules | None = None,
    absent: Collection[str] = (),
    seconds: float = MAP_SECONDS,
    brief: bool = False,
) -> SiteMap:
    """Read the pages of the host of `url` from its discovery files. `get`: canonical URL, kind → body, or FetchError.

    Order: robots.txt (unless its rules are given), the page at `url` (unless its `html` is given), the search index
    that the page's generator writes, the nearest objects.inv at or above the page, the feeds that the page names, the
    sitemaps that robots.txt and the page name, sitemap.xml or sitemap_index.xml of the root and of the page's folders,
    the children of sitemap indexes, llms.txt of the root. The small files come first, so that the limits (50 files,
    50,000 pages, `seconds`) cut the largest. Files in `absent` are requested only when another file names them.
    `brief`: only what robots.txt or the page name, six files at most; an inventory only where there is no search index.

    Raises only FetchError(INVALID_URL); other failures are in `files` and `warnings`.
    """
    reader = _Reader(canonicalise(url), get, absent, seconds, brief)
    await reader.run(html, robots)
    return reader.merge.site_map(reader.files)


@dataclass(frozen=True, slots=True)
class _FileRequest:
    """A file to request. `named` = another file of the site refers to it."""

    url: str
    kind: FileKind
    named: bool = True
    suffix: str | None = None  # of the documents of a search index


class _Reader:
    def __init__(self, url: str, get: MapGet, absent: Collection[str], seconds: float, brief: bool) -> None:
        self.files: list[MapFile] = []
        self.merge = MapMerge()
        self._url = url
        self._get = get
        self._absent = absent
        self._seconds = seconds
        self._brief = brief
        self._most = BRIEF_FILES if brief else MAX_FILES
        self._ends = time.monotonic() + seconds
        self._scope = Scope.of(url)
        self._done: dict[str, ScopedFile | None] = {}
        self._failing_hosts: set[str] = set()

    async def run(self, page: str | None, robots: RobotsRules | None) -> None:
        """Request all files in order."""
        robots_url = f"{ada_url.URL(self._url).origin}/robots.txt"
        if robots is None:
            robots = await self._robots(robots_url)
        elif robots.refusal is not None:
            self.files.append(MapFile(robots_url, "robots", "failed", robots.refusal.reason))
            self.merge.warn(robots_url, robots.refusal.message)
            return
        else:
            self.files.append(MapFile(robots_url, "robots", "read"))
        named = self._resolved(robots.sitemaps, robots_url) if robots is not None else []
        page_url = self._url
        if page is None:
            page_url, page = await self._page()
        feeds, linked = map_links(page, page_url)
        folders = [] if self._brief else _folders(page_url)
        places = folders[::-1]
        index = find_search_index(page, page_url)
        if index is not None:
            indexed = await self._read([_FileRequest(index.url, "search_index", named=False, suffix=index.suffix)])
            if index.root is not None:
                places = [] if self._brief and indexed else [index.root]  # the index has the pages of the inventory
        for folder in places:
            inventory = _FileRequest(f"{folder}objects.inv", "inventory", named=False)
            await self._read([inventory])
            if self._done.get(inventory.url) is not None:
                break
        self.merge.unread += len(feeds[MAX_FEEDS:])
        await self._read([_FileRequest(feed, "feed") for feed in feeds[:MAX_FEEDS]])
        await self._sitemaps([*named, *linked], folders)
        if not self._brief:  # last: its Markdown pages are told by the pages that are known
            await self._read([_FileRequest(f"{folders[0]}llms.txt", "llms_txt", named=False)])

    async def _sitemaps(self, named: Iterable[str], folders: Sequence[str]) -> None:
        guessed = [_FileRequest(f"{folder}sitemap.xml", "sitemap", named=False) for folder in folders]
        wave = [*(_FileRequest(url, "sitemap") for url in named), *guessed]
        files = await self._read(wave)
        wave = [
            _FileRequest(f"{folder}sitemap_index.xml", "sitemap", named=False)
            for folder, request in zip(folders, guessed, strict=True)
            if self._done.get(request.url) is None
        ]
        for _ in range(MAX_INDEX_DEPTH):
            wave += [_FileRequest(child, "sitemap") for file in files for child in file.children]
            files = await self._read(wave)
            wave = []
        self.merge.unread += sum(len(file.children) for file in files)

    async def _robots(self, url: str) -> RobotsRules | None:
        request = _FileRequest(url, "robots", named=False)
        answer = await self._fetch(request)
        if not isinstance(answer, MapBody):
            self._failed(request, answer)
            return None
        self.files.append(MapFile(url, "robots", "read", bytes_raw=answer.bytes_raw))
        return await asyncio.to_thread(parse_robots, answer.body[:MAX_ROBOTS_BYTES].decode(errors="replace"), "*")

    async def _page(self) -> tuple[str, str]:
        """Fetch the page itself; return its URL and HTML, empty on failure."""
        request = _FileRequest(self._url, "page", named=False)
        answer = await self._fetch(request)
        if not isinstance(answer, MapBody):
            self._failed(request, answer)
            return self._url, ""
        self.files.append(MapFile(self._url, "page", "read", bytes_raw=answer.bytes_raw))
        if source_key(answer.final_url) != self._scope.host:
            self.merge.warn(self._url, f"redirects to {answer.final_url}: its host is a source of its own")
            return self._url, ""
        return answer.final_url, decode_page(answer.body, None)

    async def _read(self, requests: Iterable[_FileRequest]) -> list[ScopedFile]:
        """Request the files not yet requested, a few at a time, and merge their entries in order."""
        wanted: dict[str, _FileRequest] = {}
        for request in requests:
            if request.url not in self._done and (request.named or request.url not in self._absent):
                wanted.setdefault(request.url, request)
        fresh = list(wanted.values())
        read: list[ScopedFile] = []
        for start in range(0, len(fresh), AT_A_TIME):
            room = max(0, self._most - len(self.files))
            batch = fresh[start : start + AT_A_TIME]
            self.merge.unread += len(batch[room:])
            batch = batch[:room]
            for request, answer in zip(batch, await asyncio.gather(*map(self._fetch, batch)), strict=True):
                self._done[request.url] = file = await self._take(request, answer)
                if file is not None:
                    read.append(file)
        return read

    async def _fetch(self, request: _FileRequest) -> MapBody | FetchError | None:
        """Return the file, its error, or None when it was not requested."""
        left = self._ends - time.monotonic()
        if left <= 0 or source_key(request.url) in self._failing_hosts:
            self.merge.unread += 1
            if left <= 0:
                self.merge.overtime = self._seconds
            return None
        try:
            async with asyncio.timeout(left):
                return await self._get(request.url, request.kind)
        except TimeoutError:
            self.merge.overtime = self._seconds
            return FetchError(Reason.TIMEOUT, "no time was left for this file")
        except FetchError as error:
            if error.reason in _HOST_TROUBLE or error.status == 429:
                self._failing_hosts.add(source_key(request.url))
            return error

    async def _take(self, request: _FileRequest, answer: MapBody | FetchError | None) -> ScopedFile | None:
        """Parse a file, merge its entries and record its outcome."""
        if not isinstance(answer, MapBody):
            self._failed(request, answer)
            return None
        reading = (answer.body, answer.final_url, answer.media_type, self._scope, self._ends, request.suffix)
        try:
            file = await asyncio.to_thread(read_map_file, *reading, is_llms_txt=request.kind == "llms_txt")
        except FetchError as error:
            self._failed(request, error, answer.bytes_raw)
            return None
        listing = file.listing
        self.merge.take(file)
        allowed = {self._scope.host, source_key(request.url), source_key(answer.final_url)}
        file.children = [child for child in file.children if child.split("/", 3)[2] in allowed]
        reason = Reason.BAD_RESPONSE if listing.problem else None
        if listing.problem:
            self.merge.warn(request.url, f"read in part: {listing.problem}")
        self.files.append(MapFile(request.url, listing.kind, "read", reason, len(file.pages), answer.bytes_raw))
        return file

    def _failed(self, request: _FileRequest, error: FetchError | None, bytes_raw: int = 0) -> None:
        if error is None:
            return
        status = error.status or 0
        absent = error.reason in _ABSENT or (400 <= status < 500 and status != 429)
        missing = error.reason is Reason.NOT_FOUND or (absent and not request.named)
        outcome: Outcome = "missing" if missing else "failed"
        self.files.append(MapFile(request.url, request.kind, outcome, error.reason, bytes_raw=bytes_raw))
        if request.named or not (absent or error.reason is Reason.ROBOTS_DISALLOWED):
            self.merge.warn(request.url, error.message)

    def _resolved(self, urls: Iterable[str], base: str) -> list[str]:
        resolved = []
        for url in urls:
            try:
                resolved.append(canonicalise(url, base))
            except FetchError as error:
                self.merge.warn(base, f"names a sitemap with an invalid URL: {error.message}")
        return resolved


def _folders(url: str) -> list[str]:
    """Return the first five folders above canonical `url`, from the root down."""
    parsed = ada_url.URL(url)
    *folders, _ = parsed.pathname.split("/")
    return [f"{parsed.origin}{'/'.join(folders[: depth + 1])}/" for depth in range(min(len(folders), MAX_FOLDERS))]
