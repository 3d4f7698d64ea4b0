"""Timelines: the version or the date that a sentence speaks of, and sentences in their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from webrag_core.acquisition.written_dates import ENGLISH_MONTHS

_MONTHS = {name[:3]: number for number, name in enumerate(ENGLISH_MONTHS, start=1)}
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]}|t)?" for name in ENGLISH_MONTHS)
_VERSION = re.compile(
    r"\b(?:version|release|since|in|v)[ .]?(?:[A-Z]\w* )?v?(\d{1,4}(?:\.\d{1,4}){1,3})\b", re.IGNORECASE
)
_YEAR = r"(?P<year>1[5-9]\d\d|20\d\d)"
_DATES = (
    re.compile(rf"\b{_YEAR}-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01]))?\b"),
    re.compile(rf"\b(?P<day>\d\d?)(?:st|nd|rd|th)? (?P<name>{_MONTH})\.?,? {_YEAR}\b", re.IGNORECASE),
    re.compile(rf"\b(?P<name>{_MONTH})\.?(?: (?P<day>\d\d?)(?:st|nd|rd|th)?)?,? {_YEAR}\b", re.IGNORECASE),
    re.compile(rf"(?<![\d.,/-]){_YEAR}(?![\d/-]|[.,]\d)"),
)


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: in a version, or on a date (year, month or 0, day or 0). Moments of one kind compare by
    their `key`."""

    kind: Literal["version", "date"]
    key: tuple[int, ...]


def moment_of(text: str) -> Moment | None:
    """The first version that `text` names, else its first date; None without either. Months are read in English, dates
    of numbers alone as ISO 8601."""
    version = _VERSION.search(text)
    if version is not None:
        return Moment("version", tuple(map(int, version[1].split("."))))
    for pattern in _DATES:
        date = pattern.search(text)
        if date is not None:
            parts = date.groupdict()
            month = _MONTHS[parts["name"][:3].casefold()] if parts.get("name") else int(parts.get("month") or 0)
            return Moment("date", (int(parts["year"]), month, int(parts.get("day") or 0)))
    return None


def with_moments(texts: Sequence[str], order: Sequence[int], period: Moment | None = None) -> dict[int, Moment]:
    """The texts (indexes, in `order`) that speak of a moment of one kind: that of the first which speaks of any. With
    `period` those alone that speak of it: of that version, or a day within that month or year."""
    moments = {index: moment for index in order if (moment := moment_of(texts[index])) is not None}
    if period is not None:
        return {index: moment for index, moment in moments.items() if _within(moment, period)}
    kind = next((moment.kind for moment in moments.values()), None)
    return {index: moment for index, moment in moments.items() if moment.kind == kind}


def _within(moment: Moment, period: Moment) -> bool:
    meant = tuple(part for part in period.key if part or period.kind == "version")
    return moment.kind == period.kind and moment.key[: len(meant)] == meant
