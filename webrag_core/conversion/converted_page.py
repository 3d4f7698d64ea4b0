"""What conversion makes of a page. Light to import: pages are converted in another process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from webrag_core.conversion.markup.models import NO_MARKUP, PageMarkup

EXTRACTOR_VERSION = "html-12"
WALL_HEADERS = {
    "cf-mitigated": re.compile(r"challenge|block", re.IGNORECASE),
    "x-amzn-waf-action": re.compile(r"challenge|captcha", re.IGNORECASE),
    "x-vercel-mitigated": re.compile(r"challenge|deny", re.IGNORECASE),
    "x-sucuri-block": re.compile(r"."),
    "x-kpsdk-ct": re.compile(r"."),
    "x-dd-b": re.compile(r"."),
}
"""Headers by which services mark their walls, with what stands in them then."""
READ_HEADERS = frozenset({"content-type", "link", "refresh", "x-robots-tag", *WALL_HEADERS})
"""Headers of an answer that conversion reads: a worker gets no others, but for formats of plugins."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """One edge from a page: canonical absolute target and how the page speaks of it.

    `nofollow` is set for rel=nofollow and rel=sponsored, and for all links of a page whose robots meta says so.
    """

    target_url: str
    anchor_text: str
    context: str
    heading_path: tuple[str, ...]
    in_navigation: bool
    nofollow: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Characters that were left out: `boilerplate` (what stands around the content), `navigation` (marked as such),
    `hidden` (not shown), `actions` (buttons and fields). `bare_headings` had text below them and have none now."""

    boilerplate: int = 0
    navigation: int = 0
    hidden: int = 0
    actions: int = 0
    bare_headings: int = 0

    def __bool__(self) -> bool:
        return any(number for _, number in self.counts())

    def counts(self) -> list[tuple[str, int]]:
        """Names and numbers, in the order that they are shown."""
        return [(name.replace("_", " "), getattr(self, name)) for name in self.__slots__]


NOTHING_LEFT_OUT = LeftOut()


@dataclass(frozen=True, slots=True)
class ConvertedPage:
    """A converted page: Markdown, metadata, links, and what its mark-up states. Dates are in UTC.

    `canonical` is the canonical URL that the page declares, a mere claim: see `canonical.preferred_url`. `warnings` say
    where the text comes from when that is not what the page shows, and which headings lost what stood below them;
    `left_out` counts what the page has beside this text.
    """

    markdown: str
    title: str | None
    description: str | None
    language: str | None
    published: datetime | None
    modified: datetime | None
    links: tuple[PageLink, ...]
    canonical: str | None = None
    markup: PageMarkup = NO_MARKUP
    warnings: tuple[str, ...] = ()
    left_out: LeftOut = NOTHING_LEFT_OUT
