"""The one parser of dates that come from the web: pages, sitemaps, feeds, headers, PDFs."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # earlier ones are default values of software, not dates of web pages
_TOLERANCE = timedelta(days=1)  # clocks that are fast, local times written as UTC
_MAX_CHARS = 64
# W3C's profile of ISO 8601 and RFC 3339; also blanks for the T, zones without a colon, dates without hyphens
_W3C = re.compile(
    r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?|(?=\d{4}(?!\d))(\d\d)(\d\d))?"
    r"(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?\s?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_PDF = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-]\d\d)'?(\d\d)?)?", re.ASCII)

_YEAR_NOUGHT = re.compile(r"(?<![+-])\b0\d{3}\b")  # email.utils takes the year 0001 for 2001


def parse_date(text: str) -> datetime | None:
    """Parse a date of the web; the result is in UTC.

    Understands W3C dates of any precision, RFC 3339, RFC 2822 (mail, HTTP, RSS) and dates of PDF. A date without a
    zone is UTC. Returns None for anything else, and for dates before 1990 or more than a day ahead.
    """
    text = text.strip()[:_MAX_CHARS]
    try:
        moment = _w3c(text) or _pdf(text) or _rfc2822(text)
        if moment is None:
            return None
        moment = (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):  # the last two are of email.utils
        return None
    return moment if is_plausible(moment) else None


def is_plausible(moment: datetime) -> bool:
    """Whether a page of the web can bear a date: it has a zone, is not before 1990, and at most a day ahead."""
    return moment.tzinfo is not None and _EARLIEST <= moment <= datetime.now(UTC) + _TOLERANCE


def _w3c(text: str) -> datetime | None:
    match = _W3C.fullmatch(text)
    if match is None:
        return None
    year, month, day, basic_month, basic_day, hour, minute, second, fraction, zone = match.groups()
    return datetime(
        int(year),
        int(month or basic_month or 1),
        int(day or basic_day or 1),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        int((fraction or "0").ljust(6, "0")),
        _zone(zone[:3], zone[3:].lstrip(":")) if zone and zone[0] in "+-" else UTC,
    )


def _pdf(text: str) -> datetime | None:
    match = _PDF.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, offset_hours, offset_minutes = match.groups()
    zone = _zone(offset_hours, offset_minutes) if offset_hours else UTC
    return datetime(
        int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=zone
    )


def _zone(hours: str, minutes: str | None) -> timezone:
    offset = timedelta(hours=int(hours[1:]), minutes=int(minutes or 0))
    return timezone(-offset if hours[0] == "-" else offset)


def _rfc2822(text: str) -> datetime | None:
    if _YEAR_NOUGHT.search(text) or not any(map(str.isalpha, text)):
        return None
    return parsedate_to_datetime(text)
