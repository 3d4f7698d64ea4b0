"""What one file of a site map lists, as written in it, and its texts as plain text."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from webrag_core.acquisition.sitemaps.models import MAX_ENTRIES, ListedIn
from webrag_core.store.text import storable

_MAX_RAW_CHARS = 20_000
_TAG = re.compile(r"(</?[a-zA-Z!][^<>]*>)")
_TAG_NAME = re.compile(r"</?([a-zA-Z0-9]+)")
_WITHIN_WORDS = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span",
    "strong", "sub", "sup", "tt", "u", "var", "wbr",
}  # fmt: skip


class TitleRank(IntEnum):
    """How well a title names the page, the better the higher."""

    NONE = 0
    SECTION = 1
    FEED = 2
    PAGE_LABEL = 3
    DOCUMENT = 4


@dataclass(frozen=True, slots=True)
class Listed:
    """One page as a file lists it: `url` as written, texts plain and within their limits."""

    url: str
    title: str | None = None
    description: str | None = None
    last_modified: datetime | None = None
    rank: TitleRank = TitleRank.NONE


@dataclass(slots=True)
class Listing:
    """All that one file lists. `children` are the files that an index names, as written.

    `problem` says why the file ended before its end, `cut` that it lists more than was taken, `invalid` counts what
    could not be understood.
    """

    kind: ListedIn
    pages: list[Listed] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    problem: str | None = None
    cut: bool = False
    invalid: int = 0

    def add(self, page: Listed) -> None:
        """Take one page, up to 50,000."""
        if len(self.pages) < MAX_ENTRIES:
            self.pages.append(page)
        else:
            self.cut = True


def plain(text: str, limit: int) -> str | None:
    """`text` on one line of at most `limit` characters that can be stored; None when nothing is left."""
    return storable(" ".join(text[:_MAX_RAW_CHARS].split()))[:limit].strip() or None


def plain_from_markup(text: str, limit: int) -> str | None:
    """As `plain`, of HTML: tags, scripts and comments are left out, character references resolved. Linear."""
    kept: list[str] = []
    hidden = ""
    for number, piece in enumerate(_TAG.split(text[:_MAX_RAW_CHARS])):
        if number % 2 == 0:
            kept.append("" if hidden else piece)
            continue
        named = _TAG_NAME.match(piece)
        name = named.group(1).lower() if named else ""
        if name in ("script", "style"):
            hidden = "" if piece.startswith("</") and name == hidden else hidden or name
        elif name not in _WITHIN_WORDS:
            kept.append(" ")
    return plain(html.unescape("".join(kept)), limit)


def plain_title(text: str, limit: int) -> str | None:
    """As `plain`, of a title that may or may not be HTML: only tags that stand within words are left out."""
    kept = (
        "" if number % 2 and (named := _TAG_NAME.match(piece)) and named.group(1).lower() in _WITHIN_WORDS else piece
        for number, piece in enumerate(_TAG.split(text[:_MAX_RAW_CHARS]))
    )
    return plain(html.unescape("".join(kept)), limit)
