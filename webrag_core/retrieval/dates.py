"""Dates as people write them: a year, a month, a day, or an instant."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.request import DateRange

_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)


def moments(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    """Return the start (inclusive) and the end (exclusive) of the range. Raises InvalidInputError for an invalid date
    or an empty range."""
    start = None if since is None else moment(since, "since")
    end = None if until is None else moment(until, "until", end=True)
    if start is not None and end is not None and end <= start:
        raise InvalidInputError(f"until {until} lies before since {since}")
    return start, end


def stated_range(since: str | None, until: str | None) -> DateRange | None:
    """Return the range of dates that pages are to state; None without any limit. Raises as `moments`."""
    return None if since is None and until is None else DateRange(*moments(since, until))


def moment(text: str, option: str, *, end: bool = False) -> datetime:
    """Return the start of a year, month or day, or with `end` the instant after it; a time is used as it is (UTC if it
    has no zone). Raises InvalidInputError naming the option."""
    day = _DAY.fullmatch(text.strip())
    try:
        if day is None:
            exact = datetime.fromisoformat(text.strip())
            return exact if exact.tzinfo else exact.replace(tzinfo=UTC)
        year, month, number = (None if part is None else int(part) for part in day.groups())
        start = datetime(year or 0, 1 if month is None else month, 1 if number is None else number, tzinfo=UTC)
        if not end:
            return start
        if number is not None:
            return datetime.fromordinal(start.toordinal() + 1).replace(tzinfo=UTC)
        if month is not None and month < 12:
            return start.replace(month=month + 1)
        return start.replace(year=start.year + 1, month=1)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"{option}: {text.strip()!r} is not a date; write 2024, 2024-05, 2024-05-17 or 2024-05-17T09:30+02:00"
        ) from None
