"""Sizes that name a thing: an 8-day ticket, a 12 month licence, a 2 TB disk. They choose among things of a kind, where
a plain quantity (valid for 8 days) says something of it. English grammar: the unit stands in the singular."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from webrag_core.language.stop_words import ENGLISH

_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TIMES = ("minute", "hour", "day", "night", "week", "weekend", "month", "year")
_UNITS = (*_TIMES, "person", "seat", "rod", "pack", "inch", "gram", "litre", "liter", "mile", "[kmgt]b", "volt", "watt")
_NUMBER = rf"\d{{1,5}}|{'|'.join(_WORDS)}"
_SIZE = re.compile(
    rf"(?<![\w.,-])(?P<number>{_NUMBER})(?P<joint>[- ])(?P<unit>{'|'.join(_UNITS)})"
    r"(?!\w)(?=(?:[- ](?P<next>[^\W\d_]+))?)",
    re.IGNORECASE,
)
_PLAIN = r"(?<![\w.,-]){number}[- ]?(?:\w+ )?{unit}s?(?!\w)"


@dataclass(frozen=True, slots=True)
class Size:
    """A size as it is written, its number in digits, and what it is measured in: "time" for all units of time."""

    text: str
    number: str
    unit: str


def sizes_in(text: str) -> Iterator[Size]:
    """The sizes that name what the word behind them means."""
    for match in _SIZE.finditer(text):
        number, unit = _digits(match["number"]), match["unit"].lower()
        names = match["next"] is not None and match["next"].lower() not in ENGLISH
        if match["joint"] == "-" or (names and (number != "1" or _begins(text, match))):
            yield Size(match[0], number, "time" if unit in _TIMES else unit)


def states_size(text: str, wanted: str) -> bool:
    """Whether `text` has a size, however it is written: 8-day, eight day, 8 days."""
    number, unit = re.split("[- ]", wanted, maxsplit=1)
    digits = _digits(number)
    spelling = rf"(?:{digits}|{_WORDS[int(digits) - 1]})" if 0 < int(digits) <= len(_WORDS) else digits
    return re.search(_PLAIN.format(number=spelling, unit=re.escape(unit.lower())), text, re.IGNORECASE) is not None


def _digits(number: str) -> str:
    return str(_WORDS.index(number.lower()) + 1) if number.lower() in _WORDS else number


def _begins(text: str, match: re.Match[str]) -> bool:
    """Whether "1 day" begins what is said: it is the name of a thing there."""
    return not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".:;|"
