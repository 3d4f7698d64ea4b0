"""The dates that a question names after a word of time: since March, as of 2024-05-17. English."""

from __future__ import annotations

import re
from datetime import date, timedelta

from webrag_core.acquisition.written_dates import ENGLISH_MONTHS, date_at

_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in ENGLISH_MONTHS)
_SINCE = re.compile(r"\b(?:since|after|from)\s+(?:the\s+)?(?=\S)", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|before|up to)\s+(?:the\s+)?(?=\S)", re.IGNORECASE)
_AS_OF = re.compile(r"\b(?:as of|as at|as on|back in|as it (?:was|stood) (?:in|on))\s+(?=\S)", re.IGNORECASE)
_WAS_IN = re.compile(r"\b(?:in|on)\s+(?=\S)", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|did|had|said|stood|used to)\b", re.IGNORECASE)
_PARTS = re.compile(
    rf"(?:(?P<iso>[0-9]{{4}}-[0-9]{{2}}(?:-[0-9]{{2}})?)|(?P<month>{_MONTH})\.?(?:,?\s+(?P<year>(?:19|20)[0-9]{{2}}))?"
    r"|(?P<only_year>(?:19|20)[0-9]{2})|(?P<last>last|past)\s+(?P<unit>day|week|month|year)|(?P<yesterday>yesterday))"
    r"(?![\w.-]|/\d)",
    re.IGNORECASE,
)
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}


def since_of(question: str, today: date) -> str | None:
    """The date since which changes are asked for, as ISO 8601 (a year, a month or a day); None without one. A month
    without a year is the last one that has begun by `today`."""
    return _date_after(_SINCE, question, today)


def until_of(question: str, today: date) -> str | None:
    """The date until which changes are asked for."""
    return _date_after(_UNTIL, question, today)


def as_of(question: str, today: date) -> str | None:
    """The past date at which pages are asked: after "as of" and the like, and after "in" or "on" only in a question
    about the past. Dates of today and later are none."""
    day = _date_after(_AS_OF, question, today)
    if day is None and _PAST.search(question):
        day = _date_after(_WAS_IN, question, today)
    return None if day is None or day > today.isoformat()[: len(day)] else day


def _date_after(word: re.Pattern[str], question: str, today: date) -> str | None:
    for match in word.finditer(question):
        written = date_at(question, match.end())
        if written is not None:
            return written.day.isoformat()
        parts = _PARTS.match(question, match.end())
        if parts is not None and (read := _read(parts, today)) is not None:
            return read
    return None


def _read(parts: re.Match[str], today: date) -> str | None:
    if parts["iso"]:
        try:
            date.fromisoformat(f"{parts['iso']}-01"[:10])
        except ValueError:
            return None
        return parts["iso"]
    if parts["month"]:
        begins = parts["month"][:3].casefold()  # without regard to case, the pattern takes ſ for s
        month = next(number for number, name in enumerate(ENGLISH_MONTHS, 1) if name.startswith(begins))
        year = int(parts["year"]) if parts["year"] else today.year - (month > today.month)
        return f"{year}-{month:02}"
    if parts["only_year"]:
        return parts["only_year"]
    days = 1 if parts["yesterday"] else _DAYS[parts["unit"].casefold()]
    return (today - timedelta(days=days)).isoformat()
