"""What one file of a site map lists, as written in it, and the plain text and dates that such files are made of."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
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
_W3C = re.compile(
    r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?"
    r"(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)


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


def w3c_date(text: str) -> datetime | None:
    """A W3C date in any of its precisions, from a year to fractions of a second, in UTC; None for anything else.

    Without a zone it is UTC. Blanks instead of the T and zones without a colon, which some sites write, are understood.
    """
    matched = _W3C.fullmatch(text.strip()[:64])
    if matched is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = matched.groups()
    try:
        moment = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")),
            _zone(zone),
        )
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def feed_date(text: str) -> datetime | None:
    """A date of a feed, as in mail (RSS) or as W3C has it (Atom, RSS 1.0), in UTC; None for anything else."""
    found = w3c_date(text)
    if found is not None:
        return found
    try:
        moment = parsedate_to_datetime(text.strip()[:100])
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _zone(text: str | None) -> timezone:
    if text is None or not text.startswith(("+", "-")):
        return UTC
    size = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-size if text.startswith("-") else size)
