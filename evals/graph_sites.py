"""Small generated sites with everything that goes wrong on real ones, served from memory behind the acquirer protocol.

`generated(seed)` always gives the same site. Pages are HTML that the real conversion reads; every site has a host of
its own, so that one database can hold any number of them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

from webrag_core.errors import FetchError, Reason
from webrag_core.ingestion.acquirer import AcquiredPage
from webrag_core.ingestion.site_map import SiteMap
from webrag_core.ingestion.urls import canonicalise, source_key

WORDS = (
    "bridge", "span", "longest", "river", "steel", "cable", "toll", "record", "engineer", "granite", "arch", "tower",
    "queue", "thread", "timeout", "retry", "cursor", "index", "schema", "vacuum", "lease", "harbour", "ferry", "tide",
)  # fmt: skip
"""All words of pages and questions, so that any page may answer any question a little."""

_UNKNOWN = ("violin", "saffron", "glacier", "parliament", "orchid", "comet")

ENDLESS = ("/calendar/", "/list?", "/deep/")
"""Beginnings of the paths that the site makes without end."""

_MAX_REDIRECTS = 5
_HANG_SECONDS = 300.0  # longer than any walk: only a deadline ends it
_REASONS = {404: Reason.NOT_FOUND, 410: Reason.NOT_FOUND, 429: Reason.RATE_LIMITED, 500: Reason.HTTP_STATUS}
_ELSEWHERE = (
    "https://elsewhere.example/bridge", "http://127.0.0.1/steel", "http://10.0.0.7/river", "http://[::1]/span",
    "http://169.254.169.254/latest/meta-data/", "//elsewhere.example/longest-span", "mailto:toll@site.example",
    "javascript:void(0)", "data:text/html,bridge", "ftp://elsewhere.example/arch", "https://user:word@elsewhere.example/",
    "http://[::1", "https://exa mple/", "//", "?", "#top", "http://0x7f.1/tower",
)  # fmt: skip


@dataclass(slots=True)
class GraphSite:
    """One site. `pages` and `redirects` by path, `refused` paths with a status, `slow` ones that time out at once,
    `hanging` ones that answer only after minutes, if `hangs`. What was asked for is in `requests`."""

    host: str
    pages: dict[str, str] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    hanging: set[str] = field(default_factory=set)
    hangs: bool = True
    requests: list[str] = field(default_factory=list)
    name: str = "graph"

    @property
    def root(self) -> str:
        """Scheme and host, without a slash."""
        return f"https://{self.host}"

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says. Another host than the site's own has pages too, private addresses have none."""
        asked = canonicalise(url)
        self.requests.append(asked)
        current, passed = asked, []
        for _ in range(_MAX_REDIRECTS + 1):
            onward = self.redirects.get(self._path(current))
            if onward is None:
                return self._answer(asked, current, tuple(passed), await self._body(current))
            passed.append(current)
            current = canonicalise(onward, current)
        raise FetchError(Reason.TOO_MANY_REDIRECTS, f"more than {_MAX_REDIRECTS} redirects")

    async def site_map(self, url: str, *, html: str | None = None) -> SiteMap:
        """It has none."""
        return SiteMap()

    async def aclose(self) -> None:
        """Nothing to release."""

    def _path(self, url: str) -> str:
        return url.removeprefix(self.root) if source_key(url) == self.host else url

    async def _body(self, url: str) -> str:
        path = self._path(url)
        await asyncio.sleep(0)
        if path in self.hanging and self.hangs:
            await asyncio.sleep(_HANG_SECONDS)
        if path in self.slow or path in self.hanging:
            raise FetchError(Reason.TIMEOUT, "no answer in time")
        if path in self.refused:
            status = self.refused[path]
            raise FetchError(_REASONS[status], f"answered {status}", status=status)
        if path in self.pages:
            return self.pages[path]
        if path.startswith("http"):
            if source_key(url) == "elsewhere.example":
                return _html("Elsewhere", f"<p>{_sentence(Random(url))}</p><a href='/more-bridge'>longest bridge span</a>")
            raise FetchError(Reason.BLOCKED_ADDRESS, "not a public address")
        if path.startswith(ENDLESS):
            return _endless(path)
        raise FetchError(Reason.NOT_FOUND, "answered 404", status=404)

    def _answer(self, asked: str, final: str, passed: tuple[str, ...], body: str) -> AcquiredPage:
        raw = body.encode()
        return AcquiredPage(
            url=asked,
            final_url=final,
            status=200,
            headers={"content-type": "text/html; charset=utf-8"},
            body=raw,
            fetched_at=datetime.now(UTC),
            bytes_raw=len(raw),
            redirects=passed,
        )


def generated(seed: int) -> GraphSite:
    """The site of this number: 3 to 12 linked pages and some of the oddities, never the same choice of them."""
    random = Random(f"graph site {seed}")
    site = GraphSite(f"graph-{seed}.example")
    paths = ["/", *(f"/{random.choice(WORDS)}-{number}" for number in range(random.randint(2, 11)))]
    links: dict[str, list[str]] = {path: random.choices(paths, k=random.randint(0, 6)) for path in paths}
    for oddity in random.sample(_ODDITIES, k=random.randint(1, len(_ODDITIES))):
        for target in oddity(site, random, paths):
            links[random.choice(paths)].append(target)
    for path in paths:
        site.pages[path] = _page(random, path, links[path])
    for path in [*site.refused, *site.redirects, *site.slow, *site.hanging]:
        if path != "/":  # a page that is refused or moved is not there
            site.pages.pop(path, None)
    return site


def question(random: Random) -> str:
    """Something to ask these sites: in their own words, or about what none of them knows."""
    words = random.sample(random.choice((WORDS, WORDS, _UNKNOWN)), k=random.randint(1, 4))
    return f"{random.choice(('What is the', 'How to', 'Compare'))} {' '.join(words)}?"


def _sentence(random: Random) -> str:
    return f"The {' '.join(random.choices(WORDS, k=random.randint(4, 30)))} measures {random.randint(1, 999)} metres."


def _html(title: str, body: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body><main>{body}</main></body></html>"


def _page(random: Random, path: str, targets: list[str], head: str = "") -> str:
    """Headings, paragraphs and links in sentences; some links stand in a menu, some have no text."""
    parts = [f"<h1>{' '.join(random.choices(WORDS, k=2))}</h1>"]
    for _ in range(random.randint(1, 4)):
        parts.append(f"<h2>{random.choice(WORDS)}</h2><p>{' '.join(_sentence(random) for _ in range(random.randint(1, 6)))}</p>")
    for target in targets:
        text = "" if random.random() < 0.05 else " ".join(random.choices(WORDS, k=random.randint(1, 3)))
        anchor = f'<a href="{target}">{text}</a>'
        parts.append(f"<nav>{anchor}</nav>" if random.random() < 0.1 else f"<p>{random.choice(WORDS)}: {anchor}.</p>")
    return _html(f"{random.choice(WORDS)} {path.strip('/')}", "".join(parts), head)


def _endless(path: str) -> str:
    """A page of a site that always has one more: days of a calendar, filters of a list, a folder in itself."""
    random = Random(path)
    onward = []
    if path.startswith("/calendar/"):
        day = int(re.sub(r"\D", "", path) or "0") % 10**6
        onward = [f"/calendar/{day + step}" for step in (1, 2, 7, 30)]
    elif path.startswith("/list?"):
        onward = [f"{path}&{random.choice(WORDS)}={random.choice(WORDS)}" for _ in range(3)]
    else:
        onward = [f"{path}{random.choice(('bridge', 'span'))}/", f"{path}span/bridge/span/"]
    return _page(random, path, onward)


def _dead(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    for status in _REASONS:
        site.refused[f"/refused-{status}-bridge"] = status
    site.refused.update({path: random.choice((404, 500)) for path in paths[1:] if random.random() < 0.15})
    return [*site.refused, "/not-there/span"]


def _slow(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    site.slow.update(f"/slow-{word}" for word in random.sample(WORDS, k=3))
    return sorted(site.slow)


def _hanging(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    site.hanging.update(f"/hanging-{word}" for word in random.sample(WORDS, k=2))
    return sorted(site.hanging)


def _moved(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    """Chains up to one redirect too many, loops, redirects to another host and to private addresses."""
    length = random.randint(1, _MAX_REDIRECTS + 2)
    chain = [f"/moved-{step}-span" for step in range(length)]
    site.redirects.update(zip(chain, [*chain[1:], random.choice(paths)], strict=True))
    site.redirects.update({"/round-a": "/round-b", "/round-b": "/round-a", "/self-bridge": "/self-bridge"})
    site.redirects["/away-bridge"] = random.choice(("https://elsewhere.example/bridge", f"https://www.{site.host}/span"))
    site.redirects["/inside-steel"] = random.choice(("http://127.0.0.1/steel", "http://[fd00::1]/", "ftp://x.example/"))
    return [*chain[:2], "/round-a", "/round-b", "/self-bridge", "/away-bridge", "/inside-steel"]


def _many_to_one(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    """Many URLs that all lead to one page."""
    aliases = [f"/{random.choice(WORDS)}-alias-{letter}" for letter in "abcdefghijklmnopqrstuvwx"]
    site.redirects.update(dict.fromkeys(aliases, random.choice(paths)))
    return aliases


def _traps(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    return ["/calendar/1", f"/list?{random.choice(WORDS)}=span", "/deep/", "/steel/steel/steel/steel/", f"/{'x' * 2_100}"]


def _without_text(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    bodies = {
        "/empty-span": "",
        "/blank-bridge": "<html><body> \n&nbsp;<p></p></body></html>",
        "/picture-tower": "<html><head><title>tower</title></head><body><img src='/tower.png' alt=''></body></html>",
        "/missing-record": _html("Page not found", "<h1>404</h1><p>The page you asked for does not exist.</p>"),
        "/script-queue": _html("queue", "<noscript>You need to enable JavaScript to run this app.</noscript>"),
        "/only-links": _html("longest span", "".join(f'<a href="{path}">{path}</a> ' for path in paths)),
        "/cut-off": "<html><head><title>arch</title><body><p>granite <a href='/",
        "/one-word": _html("tide", "<p>tide</p>"),
    }
    site.pages.update(bodies)
    return list(bodies)


def _duplicates(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    """One page under many URLs: with and without a canonical link, as a directory and as its index file."""
    page = _page(random, "/same/", random.choices(paths, k=3))
    spellings = ["/same/", "/same/index.html", "/same/?utm_source=x", "/same/?print=1", "/copy-of-span", "/SAME/"]
    site.pages.update(dict.fromkeys(spellings, page))
    named = _page(random, "/named", ["/"], f'<link rel="canonical" href="{site.root}/named">')
    site.pages.update(dict.fromkeys(["/named", "/named/", "/named?session=7", "/named/index.html"], named))
    bare = site.host.removeprefix("www.")
    site.pages["/www-bridge"] = _page(random, "/", ["/"], f'<link rel="canonical" href="https://www.{bare}/www-bridge">')
    return [*spellings, "/named", "/named/", "/named?session=7", "/named/index.html", "/www-bridge"]


def _elsewhere(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    based = _page(random, "/based", ["bridge", "/span"], '<base href="https://elsewhere.example/base/">')
    site.pages["/based-bridge"] = based
    ports = [f"https://{site.host}:8443/span", f"http://{site.host}/", f"https://{site.host}.:443/", f"https://www.{site.host}/"]
    return [*_ELSEWHERE, *ports, "/based-bridge"]


def _hub(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    """A page that links to hundreds of others, of which few are there."""
    leaves = [f"/leaf/{random.choice(WORDS)}/{random.choice(WORDS)}-{leaf}" for leaf in range(random.randint(100, 400))]
    for leaf in leaves[:: random.randint(1, 40)]:
        site.pages[leaf] = _page(random, leaf, ["/", "/hub"])
    site.pages["/hub"] = _page(random, "/hub", leaves)
    return ["/hub"]


_ODDITIES: tuple[Callable[[GraphSite, Random, list[str]], list[str]], ...] = (
    _dead, _slow, _hanging, _moved, _many_to_one, _traps, _without_text, _duplicates, _elsewhere, _hub,
)  # fmt: skip
