"""Versions: which are named in a text, and whether a text speaks of one, also as part of a range."""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, ...]

_NUMBER = r"\d{1,5}(?:\.\d{1,5}){1,4}"
_VERSION = re.compile(
    rf"(?:(?P<head>[^\W\d_][\w+#-]{{0,60}})\s+(?:version\s+|release\s+)?)?(?<![\w.,-])v?(?P<number>{_NUMBER})(?!\.?\d|\w|,\d|\s?%)",
    re.IGNORECASE,
)
_UP = r"\s*(?:\+|(?:and|or) (?:later|newer|above|higher|up)\b|onwards?\b|(?:oder|und) (?:neuer|höher|später)\b|ff\b)"
_DOWN = r"\s*(?:(?:and|or) (?:earlier|older|below|lower)\b|(?:oder|und) (?:älter|früher)\b)"
OPEN_END = rf"(?:{_UP}|{_DOWN})"
"""What makes a range without an end of the number before it."""
_LATER = re.compile(_UP, re.I)
_EARLIER = re.compile(_DOWN, re.I)
_SINCE = re.compile(
    r"(?:since|from|as of|starting (?:with|in|from)|changed in|new in|added in|seit|ab)\s*(?:version |release )?$", re.I
)
_BEFORE = re.compile(r"(?:before|prior to|until|up to|older than|earlier than|vor|bis)\s*(?:version |release )?$", re.I)
_TO = re.compile(rf"\s*(?:-|–|—|to|through|until|bis)\s*v?({_NUMBER})\b", re.I)
_REACH = 32  # characters before a version that say how far it reaches
_MAX_READ = 4_000


@dataclass(frozen=True, slots=True)
class Named:
    """A version that a text names: [`first`, `last`], where None is open, and the word before it, folded."""

    head: str
    first: Version | None
    last: Version | None
    text: str

    @property
    def is_open(self) -> bool:
        """Whether it is a range without an end."""
        return self.first is None or self.last is None

    def holds(self, version: Version) -> bool:
        """Whether the named version, or the range, holds `version`. 3 holds 3.1, and 3.1 speaks of 3."""
        if self.first is not None and self.first == self.last:
            shared = min(len(version), len(self.first))
            return version[:shared] == self.first[:shared]
        return (self.first is None or version >= self.first) and (
            self.last is None or version[: len(self.last)] <= self.last
        )


def version_of(number: str) -> Version:
    """`3.11` as (3, 11)."""
    return tuple(map(int, number.split(".")))


def versions_in(text: str) -> list[Named]:
    """The versions that `text` names, in order."""
    results = []
    read = text[:_MAX_READ]
    for match in _VERSION.finditer(read):
        number = version_of(match["number"])
        first: Version | None = number
        last: Version | None = number
        before = read[max(0, match.start("number") - _REACH) : match.start("number")]
        to = _TO.match(read, match.end())
        if to is not None:
            last = version_of(to[1])
        elif _LATER.match(read, match.end()) or _SINCE.search(before):
            last = None
        elif _EARLIER.match(read, match.end()) or _BEFORE.search(before):
            first = None
        results.append(Named((match["head"] or "").casefold(), first, last, match["number"]))
    return results
