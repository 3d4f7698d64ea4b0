"""What a site holds before it is attached: its pages by its own map or by its links, and what would be left out why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal

import ada_url

from webrag_core.acquisition.acquirer import AcquiredPage, ObedientAcquirer
from webrag_core.acquisition.charset import decode_page
from webrag_core.acquisition.robots import RobotsRules
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.acquisition.typed_address import typed_address
from webrag_core.acquisition.urls import canonicalise, page_key, source_key
from webrag_core.acquisition.variants import is_unread_file
from webrag_core.application.parameters import SectionParameters
from webrag_core.application.upkeep import closed
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.worker import convert_in_worker
from webrag_core.corpus.acquirers import acquirer_of
from webrag_core.corpus.refresh import PageSelection
from webrag_core.corpus.sources import Source, checked_prefix, find_source, section_key, section_prefix
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.page_text import one_line
from webrag_core.retrieval.models import Contract

if TYPE_CHECKING:
    from webrag_core.acquisition.acquirer import Acquirer
    from webrag_core.application.services import Services
    from webrag_core.store.database import Database

_SECONDS = 30.0
_MAP_SECONDS = 15.0
_LINK_SECONDS = 6.0
_MOST_FOLLOWED = 12
"""Pages of which the links are followed where the site has no map."""
_AT_A_TIME = 4
_EXAMPLES = 8
_LONGEST_TITLE = 200

WhyLeftOut = Literal["robots_disallowed", "unsupported_type", "crawler_trap", "page_limit", "outside"]
_REFUSED: tuple[WhyLeftOut, ...] = ("unsupported_type", "crawler_trap", "page_limit")


class LeftOutPages(Contract):
    """Pages that would not be attached: forbidden by robots.txt, of a kind that is not read, of endless addresses,
    beyond the limit of pages, or outside of the section. `example` is one of them."""

    reason: WhyLeftOut
    pages: int
    example: str


class SitePreview(Contract):
    """What a site holds. `pages` would be attached, `examples` are some of them; without `is_complete` there are more,
    since not all links were followed. `stored` counts pages of it that are stored already; `attached` and `declared`
    (in a file) say what became of it before. `crawl_delay` are seconds between requests that the site asks for."""

    source: str
    place: str
    url: str
    name: str | None
    description: str | None
    language: str | None
    pages: int
    page_limit: int
    counted_by: Literal["map", "links"]
    is_complete: bool
    examples: list[str]
    left_out: list[LeftOutPages]
    robots: Literal["allowed", "not_obeyed", "unknown"]
    crawl_delay: float
    stored: int
    attached: bool
    declared: bool
    warnings: list[str]


class PreviewSite(SectionParameters):
    """A site to look at before it is attached. Nothing is stored."""

    async def run(self, services: Services) -> SitePreview:
        """Look. Raises FetchError where the start page cannot be read, InvalidInputError for an address that is
        closed, and for a prefix that is none."""
        url = canonicalise(typed_address(self.url))
        await closed(url, services.settings)
        corpus = services.corpus
        wanted = self._source(url)
        async with (
            services.sites.looks,
            acquirer_of(wanted, corpus.acquirer, services.settings, corpus.database) as acquirer,
        ):
            try:
                async with asyncio.timeout(_SECONDS):
                    return await self._look(url, acquirer, corpus.database)
            except TimeoutError:
                raise FetchError(Reason.TIMEOUT, f"the start page was not read within {_SECONDS:.0f} s") from None

    async def _look(self, url: str, acquirer: Acquirer, database: Database) -> SitePreview:
        page = await acquirer.fetch(url)
        warnings: list[str] = []
        try:
            converted: ConvertedPage | None = await convert_in_worker(page)
        except FetchError as error:  # the others may be read all the same
            converted = None
            warnings.append(f"the start page has no text: {error.message}")
        start = url
        if ada_url.URL(page.final_url).origin != ada_url.URL(url).origin:  # the site lives there
            start = page.final_url
        source = self._source(start)
        if start != url:
            warnings.append(f"the address leads to {start}")
        robots: Literal["allowed", "not_obeyed", "unknown"] = "unknown"
        rules = None
        if isinstance(acquirer, ObedientAcquirer):
            rules = await acquirer.rules(start)
            robots = "not_obeyed" if rules is None else "allowed"
        site_map = await _site_map(acquirer, page, start, warnings)
        mapped = [entry.url for entry in site_map.entries]
        known = _Known(source, [start])
        counted_by: Literal["map", "links"] = "map"
        known.add(mapped)
        if len(known.inside) < 2:  # the start page alone is no map
            counted_by = "links"
            known.add(() if converted is None else _followed(converted))
            await known.follow(acquirer, page.final_url)
        chosen, left_out = known.balance(rules, self.pages)
        before = await _before(database, source.key)
        return SitePreview(
            source=source.key,
            place=source.place,
            url=start,
            name=None if converted is None else _shown(converted.title),
            description=None if converted is None else _shown(converted.description),
            language=None if converted is None else converted.language,
            page_limit=self.pages,
            counted_by=counted_by,
            is_complete=counted_by == "map" or known.is_complete,
            robots=robots,
            crawl_delay=0.0 if rules is None else rules.crawl_delay_s,
            warnings=warnings,
            pages=len(chosen),
            examples=chosen[:_EXAMPLES],
            left_out=left_out,
            stored=before.stored,
            attached=before.attached,
            declared=before.declared,
        )

    def _source(self, url: str) -> Source:
        prefix = checked_prefix(url, section_prefix(url) if self.prefix is None else self.prefix)
        return Source(
            id=0,
            key=section_key(url, prefix),
            seed_url=url,
            path_prefix=prefix,
            page_limit=self.pages,
            paused=False,
            map_read_at=None,
            map_entries=None,
            acquirer=self.acquirer,
        )


@dataclass(slots=True)
class _Known:
    """Addresses of the site: those of the section, and those outside of it. `read` had their links followed."""

    source: Source
    start: list[str]
    inside: dict[str, str] = field(default_factory=dict)
    outside: dict[str, None] = field(default_factory=dict)
    is_complete: bool = False

    def __post_init__(self) -> None:
        self.add(self.start)

    def add(self, urls: Iterable[str]) -> None:
        """Take canonical URLs; those of other hosts, and those with another scheme, are none of the site."""
        scheme = f"{self.source.start_url.partition('://')[0]}://"
        for url in urls:
            if source_key(url) != self.source.host or not url.startswith(scheme):
                continue
            if self.source.covers(url):
                self.inside.setdefault(page_key(url), url)
            else:
                self.outside[url] = None

    async def follow(self, acquirer: Acquirer, first: str) -> None:
        """Read pages of the section one after the other, a few at a time, and take their links, within the limits."""
        read = {page_key(first), *map(page_key, self.start)}
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINK_SECONDS):
                while len(read) <= _MOST_FOLLOWED:
                    unread = (url for key, url in self.inside.items() if key not in read and not is_unread_file(url))
                    wave = list(islice(unread, _AT_A_TIME))
                    if not wave:
                        self.is_complete = True
                        return
                    read.update(map(page_key, wave))
                    for links in await asyncio.gather(*(_links_of(acquirer, url) for url in wave)):
                        self.add(links)

    def balance(self, rules: RobotsRules | None, limit: int) -> tuple[list[str], list[LeftOutPages]]:
        """The pages that would be attached, `limit` at most, and those that would be left out."""
        left_out: dict[WhyLeftOut, list[str]] = {
            "robots_disallowed": [url for url in self.inside.values() if not _is_allowed(rules, url)]
        }
        forbidden = set(left_out["robots_disallowed"])
        candidates = [url for url in self.inside.values() if url not in forbidden]
        selection = PageSelection(self.source, limit, [])
        chosen = selection.choose(candidates)
        refused = selection.refused(candidates)
        for why in _REFUSED:
            left_out[why] = [url for url, reason in refused.items() if reason == why]
        left_out["outside"] = list(self.outside)
        return chosen, [
            LeftOutPages(reason=reason, pages=len(left), example=left[0]) for reason, left in left_out.items() if left
        ]


def _is_allowed(rules: RobotsRules | None, url: str) -> bool:
    try:
        if rules is not None:
            rules.check(url)
    except FetchError:
        return False
    return True


async def _site_map(acquirer: Acquirer, page: AcquiredPage, start: str, warnings: list[str]) -> SiteMap:
    """The site's own map; an empty one, with a warning, where it is not read in time."""
    html = await asyncio.to_thread(decode_page, page.body, page.charset) if page.media_type == "text/html" else ""
    try:
        async with asyncio.timeout(_MAP_SECONDS):
            site_map = await acquirer.site_map(start, html=html)
    except TimeoutError:
        warnings.append(f"the site's own map was not read within {_MAP_SECONDS:.0f} s")
        return SiteMap()
    warnings += map(str, site_map.warnings)
    return site_map


async def _links_of(acquirer: Acquirer, url: str) -> Sequence[str]:
    """Canonical targets of the links of a page; none where it cannot be read."""
    try:
        return _followed(await convert_in_worker(await acquirer.fetch(url)))
    except FetchError:
        return ()


def _followed(page: ConvertedPage) -> list[str]:
    return [link.target_url for link in page.links if not link.nofollow]


@dataclass(frozen=True, slots=True)
class _Before:
    """What became of a source before: its stored pages, and whether it is kept."""

    stored: int = 0
    attached: bool = False
    declared: bool = False


async def _before(database: Database, key: str) -> _Before:
    async with database.connection() as connection:
        try:
            source = await find_source(connection, key)
        except InvalidInputError:
            return _Before()
        cursor = await connection.execute(
            "SELECT count(*) FROM documents WHERE source_id = %s AND current_version IS NOT NULL", (source.id,)
        )
        row = await cursor.fetchone()
    assert row is not None
    return _Before(int(row[0]), source.attached, source.declared_in is not None)


def _shown(text: str | None) -> str | None:
    """The beginning of what a page says of itself, on one line; None for nothing."""
    line = one_line(text or "")
    return (line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…") or None
