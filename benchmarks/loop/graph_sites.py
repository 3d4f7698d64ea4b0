"""A small site served from memory behind the acquirer protocol, and the HTML of its pages; see `graph_making`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.acquisition.urls import canonicalise, source_key
from webrag_core.errors import FetchError, Reason

WORDS = (
    "bridge", "span", "longest", "river", "steel", "cable", "toll", "record", "engineer", "granite", "arch", "tower",
    "queue", "thread", "timeout", "retry", "cursor", "index", "schema", "vacuum", "lease", "harbour", "ferry", "tide",
)  # fmt: skip
"""All words of pages and questions, so that any page may answer any question a little."""

ENDLESS = ("/calendar/", "/list?", "/deep/")
"""Beginnings of the paths that the site makes without end."""

MAX_REDIRECTS = 5
_HANG_SECONDS = 300.0  # longer than any walk: only a deadline ends it
REASONS = {404: Reason.NOT_FOUND, 410: Reason.NOT_FOUND, 429: Reason.RATE_LIMITED, 500: Reason.HTTP_STATUS}


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
    frozen: bool = False
    metered: bool = False

    @property
    def root(self) -> str:
        """Scheme and host, without a slash."""
        return f"https://{self.host}"

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """As the protocol says. Another host than the site's own has pages too, private addresses have none."""
        start = canonicalise(url)
        self.requests.append(start)
        current = start
        passed: list[str] = []
        for _ in range(MAX_REDIRECTS + 1):
            onward = self.redirects.get(self._path(current))
            if onward is None:
                return self._answer(start, current, tuple(passed), await self._body(current))
            passed.append(current)
            current = canonicalise(onward, current)
        raise FetchError(Reason.TOO_MANY_REDIRECTS, f"more than {MAX_REDIRECTS} redirects")

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
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
            raise FetchError(REASONS[status], f"answered {status}", status=status)
        if path in self.pages:
            return self.pages[path]
        if path.startswith("http"):
            if source_key(url) == "elsewhere.example":
                return html(
                    "Elsewhere", f"<p>{sentence(Random(url))}</p><a href='/more-bridge'>longest bridge span</a>"
                )
            raise FetchError(Reason.BLOCKED_ADDRESS, "not a public address")
        if path.startswith(ENDLESS):
            return _endless(path)
        raise FetchError(Reason.NOT_FOUND, "answered 404", status=404)

    def _answer(self, start: str, final: str, passed: tuple[str, ...], body: str) -> AcquiredPage:
        raw = body.encode()
        return AcquiredPage(
            url=start,
            final_url=final,
            status=200,
            headers={"content-type": "text/html; charset=utf-8"},
            body=raw,
            fetched_at=datetime.now(UTC),
            bytes_raw=len(raw),
            redirects=passed,
        )


def sentence(random: Random) -> str:
    """4 to 30 words and a number."""
    return f"The {' '.join(random.choices(WORDS, k=random.randint(4, 30)))} measures {random.randint(1, 999)} metres."


def html(title: str, body: str, head: str = "") -> str:
    """A whole page; `body` and `head` are HTML."""
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body><main>{body}</main></body></html>"


def page(random: Random, path: str, targets: list[str], head: str = "") -> str:
    """Headings, paragraphs and links in sentences; some links stand in a menu, some have no text."""
    parts = [f"<h1>{' '.join(random.choices(WORDS, k=2))}</h1>"]
    for _ in range(random.randint(1, 4)):
        parts.append(
            f"<h2>{random.choice(WORDS)}</h2><p>{' '.join(sentence(random) for _ in range(random.randint(1, 6)))}</p>"
        )
    for target in targets:
        text = "" if random.random() < 0.05 else " ".join(random.choices(WORDS, k=random.randint(1, 3)))
        anchor = f'<a href="{target}">{text}</a>'
        parts.append(f"<nav>{anchor}</nav>" if random.random() < 0.1 else f"<p>{random.choice(WORDS)}: {anchor}.</p>")
    return html(f"{random.choice(WORDS)} {path.strip('/')}", "".join(parts), head)


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
    return page(random, path, onward)
