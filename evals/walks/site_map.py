"""Text and link graph of a WARC snapshot, extracted independently of the loop."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from pathlib import Path
from urllib.parse import unquote, urljoin

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.acquisition.urls import page_key
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.cli.progress import progress
from webrag_core.conversion.links import is_navigation
from webrag_core.errors import FetchError

_MARKS = re.compile(r"[\W_]+")
_FARTHEST = 6
"""Maximum distance in links; pages beyond it count as out of reach."""
_UNSEEN = ("script", "style", "template", "noscript", "svg", "iframe")


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of the snapshot: visible text reduced to letters and digits, and its links to other pages."""

    url: str
    body: bytes
    title: str
    letters: str
    links: frozenset[str]
    content_links: frozenset[str]


class SiteMap:
    """The pages of a snapshot and the links between them. Keys are page keys, see `key_of`."""

    def __init__(self, pages: Mapping[str, SitePage]) -> None:
        self.pages = pages
        self._sources: dict[str, list[str]] = {}
        for key, page in pages.items():
            for target in page.links:
                self._sources.setdefault(target, []).append(key)

    def distances(self, seed: str, *, content_only: bool) -> dict[str, int]:
        """Links from `seed` to every page within reach, breadth first."""
        distances = {seed: 0}
        queue = [seed]
        for key in queue:  # grows during the iteration
            page = self.pages.get(key)
            if page is None or distances[key] >= _FARTHEST:
                continue
            for target in page.content_links if content_only else page.links:
                if target in self.pages and target not in distances:
                    distances[target] = distances[key] + 1
                    queue.append(target)
        return distances

    def oracle_pages(self, seed: str, needs: Sequence[Sequence[str]]) -> int | None:
        """Least number of pages, seed included, that following links must fetch to have a page for every need.

        The cheapest tree of links (Dreyfus and Wagner). None when some need is out of reach.
        """
        trees: dict[int, dict[str, int]] = {}  # needs as bits -> root -> links of the cheapest tree from there
        for subset in range(1, 1 << len(needs)):
            costs: dict[str, int] = {}
            if subset & (subset - 1) == 0:
                costs = dict.fromkeys(needs[subset.bit_length() - 1], 0)
            part = (subset - 1) & subset
            while part:
                first, other = trees[part], trees[subset ^ part]
                for key in first.keys() & other.keys():
                    costs[key] = min(costs.get(key, first[key] + other[key]), first[key] + other[key])
                part = (part - 1) & subset
            trees[subset] = self._extended(costs)
        links = trees[(1 << len(needs)) - 1].get(seed)
        return None if links is None else links + 1

    def _extended(self, costs: dict[str, int]) -> dict[str, int]:
        """Costs of the trees that reach these roots over further links."""
        heap = [(cost, key) for key, cost in costs.items()]
        heapify(heap)
        while heap:
            cost, key = heappop(heap)
            if cost > costs[key] or cost >= _FARTHEST:
                continue
            for source in self._sources.get(key, ()):
                if cost + 1 < costs.get(source, _FARTHEST + 1):
                    costs[source] = cost + 1
                    heappush(heap, (cost + 1, source))
        return costs


async def read_site(warc: Path, only: Collection[str] | None = None) -> SiteMap:
    """Parse the HTML pages of a WARC snapshot, all of them or those with a key in `only`.

    Raises InvalidInputError for a file that is no WARC.
    """
    acquirer = WarcAcquirer(warc)
    urls = [url for url in acquirer.page_urls() if only is None or key_of(url) in only]
    pages: dict[str, SitePage] = {}
    with progress(len(urls), "read") as advance:
        for url in urls:
            pages[key_of(url)] = _site_page(url, (await acquirer.fetch(url)).body)
            advance(url)
    return SiteMap(pages)


def letters_of(text: str) -> str:
    """Reduce text to case-folded letters and digits, independent of white space, punctuation and mark-up."""
    return _MARKS.sub("", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=65_536)
def key_of(url: str) -> str:
    """One name per page: no query, no fragment, no final index.html."""
    return unquote(page_key(url).partition("?")[0])


def document_of(body: bytes) -> HtmlElement:
    """Parse a page, whatever it says of its encoding."""
    text = body.decode("utf-8", "replace").encode()  # lxml refuses a str that declares an encoding, as XHTML does
    return lxml.html.document_fromstring(text, parser=lxml.html.HTMLParser(encoding="utf-8"))


def visible_text(document: HtmlElement) -> str:
    """The words of a page's body, those of two elements apart. What nobody sees is taken out of the document."""
    etree.strip_elements(document, *_UNSEEN, with_tail=False)
    body = document.find("body")
    return "" if body is None else " ".join(body.itertext())


def _site_page(url: str, body: bytes) -> SitePage:
    document = document_of(body)
    title = document.findtext(".//title") or ""
    links = _links(document, url)
    return SitePage(
        url=url,
        body=body,
        title=title,
        letters=letters_of(visible_text(document)),
        links=frozenset(links),
        content_links=frozenset(target for target, is_furniture in links.items() if not is_furniture),
    )


def _links(document: HtmlElement, url: str) -> dict[str, bool]:
    """Other pages that a page links to, and whether every such link is in its navigation."""
    base = urljoin(url, str(document.xpath("string(//base/@href)")))
    furniture: dict[HtmlElement, bool] = {}
    links: dict[str, bool] = {}
    targets: dict[str, str] = {}
    for anchor in document.iter("a", "area"):
        href = (anchor.get("href") or "").strip().partition("#")[0]
        if href not in targets:
            joined = urljoin(base, href) if href else url
            targets[href] = _target(joined) or key_of(url)
        target = targets[href]
        if target != key_of(url):
            links[target] = _is_furniture(anchor, furniture) and links.get(target, True)
    return links


def _target(link: str) -> str | None:
    """Key of the page that a link means; None for another scheme, and for an address that is refused."""
    if not link.startswith(("http://", "https://")):
        return None
    try:
        return key_of(link)
    except FetchError:
        return None


def _is_furniture(element: HtmlElement, known: dict[HtmlElement, bool]) -> bool:
    """True for an element in a page's navigation. `known` keeps the answers, as links share their ancestors."""
    path = []
    while element is not None and element not in known:
        path.append(element)
        element = element.getparent()
    answer = element is not None and known[element]
    for inner in reversed(path):
        answer = known[inner] = answer or is_navigation(inner)
    return answer
