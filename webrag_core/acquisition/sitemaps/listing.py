"""Entries of one discovery file as written, and their texts as plain text."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from webrag_core.acquisition.sitemaps.models import MAX_ENTRIES, ListedIn, MapSymbol
from webrag_core.store.text import storable

_MAX_RAW_CHARS = 20_000
_TAG = re.compile(r"(</?[a-zA-Z!][^<>]*>)")
_TAG_NAME = re.compile(r"</?([a-zA-Z0-9]+)")
_WITHIN_WORDS = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span",
    "strong", "sub", "sup", "tt", "u", "var", "wbr",
}  # fmt: skip


class TitleRank(IntEnum):
    """Quality of a title as the name of its page; higher is better."""

    NONE = 0
    SECTION = 1
    FEED = 2
    PAGE_LABEL = 3
    DOCUMENT = 4


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of a file: `url` as written, texts plain and within their limits."""

    url: str
    title: str | None = None
    description: str | None = None
    last_modified: datetime | None = None
    rank: TitleRank = TitleRank.NONE
    words: str = ""  # on the page, each once, lower case


@dataclass(slots=True)
class Listing:
    """All entries of one file. `children` are the URLs of an index, as written.

    `problem` says why the file was read in part, `cut` that entries beyond the limit were dropped (`symbols_cut`: of
    symbols), `invalid` counts unreadable entries.
    """

    kind: ListedIn
    pages: list[Listed] = field(default_factory=list)
    symbols: list[MapSymbol] = field(default_factory=list)
    """Of an inventory; their URLs are as written."""
    children: list[str] = field(default_factory=list)
    problem: str | None = None
    cut: bool = False
    symbols_cut: bool = False
    invalid: int = 0

    def add(self, page: Listed) -> None:
        """Add one entry, up to 50,000."""
        if len(self.pages) < MAX_ENTRIES:
            self.pages.append(page)
        else:
            self.cut = True


def plain(text: str, limit: int) -> str | None:
    """Return `text` as one storable line of at most `limit` characters; None when it is blank."""
    return storable(" ".join(text[:_MAX_RAW_CHARS].split()))[:limit].strip() or None


def plain_from_markup(text: str, limit: int) -> str | None:
    """As `plain`, for HTML: drop tags, scripts and comments, resolve character references. In linear time."""
    pieces: list[str] = []
    hidden = ""
    for number, piece in enumerate(_TAG.split(text[:_MAX_RAW_CHARS])):
        if number % 2 == 0:
            pieces.append("" if hidden else piece)
            continue
        tag = _TAG_NAME.match(piece)
        name = tag.group(1).lower() if tag else ""
        if name in ("script", "style"):
            hidden = "" if piece.startswith("</") and name == hidden else hidden or name
        elif name not in _WITHIN_WORDS:
            pieces.append(" ")
    return plain(html.unescape("".join(pieces)), limit)


def plain_title(text: str, limit: int) -> str | None:
    """As `plain`, for a title that may or may not be HTML: drop inline tags only."""
    pieces = (
        "" if number % 2 and (tag := _TAG_NAME.match(piece)) and tag.group(1).lower() in _WITHIN_WORDS else piece
        for number, piece in enumerate(_TAG.split(text[:_MAX_RAW_CHARS]))
    )
    return plain(html.unescape("".join(pieces)), limit)
