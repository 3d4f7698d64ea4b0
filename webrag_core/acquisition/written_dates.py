"""Days as people write them in running text: in numbers, and in words in English, German, French and Italian.

Any century: laws are older than the web. A day that can be read in two ways (03/04/2024) is none, unless the language
around it says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

Order = Literal["day_first", "unknown"]
"""How the language around a date in slashes orders it: day before month, or either."""

_NAMES = (
    "january jan januar jänner janvier janv gennaio gen",
    "february feb februar février fevrier févr febbraio",
    "march mar märz maerz mär mars marzo",
    "april apr avril avr aprile",
    "may mai maggio mag",
    "june jun juni juin giugno giu",
    "july jul juli juillet juil luglio lug",
    "august aug août aout agosto ago",
    "september sep sept septembre settembre set",
    "october oct oktober okt octobre ottobre ott",
    "november nov novembre",
    "december dec dezember dez décembre decembre déc dicembre dic",
)
ENGLISH_MONTHS = tuple(names.split()[0] for names in _NAMES)
"""In lower case, January first. `calendar` has them in the language of the process."""
_MONTHS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
"""Pattern of a month's name in these languages, in lower case."""
_DATE = re.compile(
    r"(?<![\w.,/-])(?:"
    r"(?P<iso>\d{4}-\d\d-\d\d)(?:T\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?"
    rf"|(?P<day>\d{{1,2}})(?:\.|er|º|°|st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{MONTH})\.?,?\s+(?P<year>\d{{4}})"
    rf"|(?P<us_month>{MONTH})\.?\s+(?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<us_year>\d{{4}})"
    r"|(?P<dotted>\d{1,2}\.\s?\d{1,2}\.\s?\d{4})"
    r"|(?P<slashed>\d{1,2}/\d{1,2}/\d{4})"
    r")(?![\w/-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A day and where it stands: [start, end)."""

    day: date
    start: int
    end: int


def find_dates(text: str, order: Order = "unknown") -> Iterator[WrittenDate]:
    """The days that a text names, in order. Linear in its length."""
    for match in _DATE.finditer(text):
        day = _day(match, order)
        if day is not None:
            yield WrittenDate(day, match.start(), match.end())


def date_at(text: str, position: int, order: Order = "unknown") -> WrittenDate | None:
    """The day that is written at a position; None where there is none, or one that can be read in two ways."""
    match = _DATE.match(text, position)
    day = None if match is None else _day(match, order)
    return None if match is None or day is None else WrittenDate(day, match.start(), match.end())


def _day(match: re.Match[str], order: Order) -> date | None:
    parts = match.groupdict()
    try:
        if parts["iso"]:
            return date.fromisoformat(parts["iso"])
        if parts["month"]:
            return date(int(parts["year"]), _MONTHS[parts["month"].lower()], int(parts["day"]))
        if parts["us_month"]:
            return date(int(parts["us_year"]), _MONTHS[parts["us_month"].lower()], int(parts["us_day"]))
        if parts["dotted"]:
            day, month, year = (int(part) for part in parts["dotted"].split("."))
            return date(year, month, day)
        first, second, year = (int(part) for part in parts["slashed"].split("/"))
        if order == "day_first" or first > 12 or first == second:
            return date(year, second, first)
        return date(year, first, second) if second > 12 else None
    except ValueError:  # 31 February
        return None
