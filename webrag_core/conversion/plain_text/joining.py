"""Join the lines of a paragraph: words that were divided at a line end become whole where that is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import islice, pairwise

_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_HYPHEN = "\u2010"
_DIVIDED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[-\u2010]$")
_BEGINNING = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_SUSPENDED = frozenset(("and", "or", "to", "und", "oder", "et", "ou", "y", "o", "e", "en", "of", "och", "og"))
_MAX_LINE = 2_000
_MIN_DIVIDED = 2
_BLANKS = re.compile(r"\s+")


class LineJoiner:
    """Joins lines of one text; its other words say whether a hyphen at a line end divides a word or belongs to it."""

    def __init__(self, lines: Sequence[str | None]) -> None:
        self._lines = lines

    def join(self, lines: Sequence[str]) -> str:
        """The lines as one, every run of blanks as one blank."""
        parts: list[str] = []
        for line, following in zip(lines, (*lines[1:], ""), strict=True):
            if not following or (_UNSPACED.match(line[-1:]) and _UNSPACED.match(following)):
                parts.append(line)
            elif (parts_of_word := _divided(line, following)) is not None:
                parts.append(self._before(line, *parts_of_word))
            else:
                parts.append(line + " ")
        return _BLANKS.sub(" ", "".join(parts)).strip()

    def _before(self, line: str, first: str, second: str) -> str:
        """A line that ends in a hyphen as it stands before the next one."""
        if second in _SUSPENDED:  # pre- and postfix
            return line + " "
        if not second[0].islower() or f"{first}-{second}".lower() in self._words:
            return line
        if (first + second).lower() in self._words:
            return line[:-1]
        is_divided = not {first.lower(), second} <= self._words and (line[-1] == _HYPHEN or self._is_hyphenated)
        return line[:-1] if is_divided else line

    @cached_property
    def _words(self) -> frozenset[str]:
        """Words and compounds that stand within the lines of the text."""
        results: set[str] = set()
        for line in self._lines:
            if line:
                results.update(word.lower() for word in _WORDS.findall(_DIVIDED.sub("", line[:_MAX_LINE])))
        return frozenset(results)

    @cached_property
    def _is_hyphenated(self) -> bool:
        """Whether a formatter divided words in this text: several are known as a whole."""
        ends = (_divided(line, after.lstrip()) for line, after in pairwise(self._lines) if line and after)
        known = (parts for parts in ends if parts and "".join(parts).lower() in self._words)
        return len(list(islice(known, _MIN_DIVIDED))) == _MIN_DIVIDED


def _divided(line: str, following: str) -> tuple[str, str] | None:
    """(the letters before a hyphen at the end of a line, those with which the next one begins)."""
    first, second = _DIVIDED.search(line[-60:]), _BEGINNING.match(following[:60])
    return (first[1], second[0]) if first and second else None
