"""A page's text, prepared once for many quotes: its units, sections and words."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property, lru_cache

from webrag_core.history.diff import shared_words
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.sentences import Sentence, sentences_of

_ALIKE = 0.75  # share of the words of two headings, from which on one was edited into the other
_SHARING = 8  # units that share most with a quoted one, around which windows are laid
_WINDOWS = 12

_WORD = re.compile(r"\w+")
_QUALIFIED = re.compile(r"\w(?:\.|::|#|/)\w")
_CODE = re.compile(r"(?<!\w)\w+(?:(?:\.|::|_)\w+)+|--?\w[\w-]*|\b[A-Z]?[a-z]+[A-Z]\w*")  # names of programs
_SECTION_NUMBER = re.compile(r"^\d+(?:\.\d+)*\.?\s+")
_DIGITS = re.compile(r"\d+")
_SIGNS = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—―−", '\'\'\'\'""""""-------')
_MARKS = re.compile(r"(?m)^[ \t]*(?:>[ \t]?)*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)]|:)[ \t]+)?")


class PageText:
    """A page's text, prepared once for many quotes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._units = sentences_of(text)
        self._unit_starts = [unit.start for unit in self._units]
        self._spans = [unit.stripped(text) for unit in self._units]
        self._beginnings, self._endings = {start for start, _ in self._spans}, {end for _, end in self._spans}
        self._blocks = list({unit.block.start: unit.block for unit in self._units}.values())
        self._starts = [block.start for block in self._blocks]
        self._block_texts: dict[int, str] = {}

    def headings_at(self, position: int) -> tuple[str, ...]:
        """The heading path at a position."""
        number = self._block(position)
        return self._blocks[number].heading_path if number >= 0 else ()

    def same_section(self, position: int, other: PageText, place: int) -> bool:
        """Whether two positions stand under headings that name the same thing."""
        item, two = _lettered(self.headings_at(position)), _lettered(other.headings_at(place))
        if item == two:
            return True
        if max(len(item), len(two)) < 2 and max(self.titles, other.titles) < 2:
            return True  # above the first section there is only the page, whatever its title
        if not item or not two:
            return False
        for mine, its in zip(reversed(item[1:] or item), reversed(two[1:] or two), strict=False):
            if not _same_name(mine, its):
                return False
            if _QUALIFIED.search(_name(its)) and other.is_unique(its):
                return True  # it says itself where it belongs
        return True

    @cached_property
    def titles(self) -> int:
        """Headings of the highest level: one is the page's title."""
        return len({path[0] for path in map(_lettered, {block.heading_path for block in self._blocks}) if path})

    def is_unique(self, heading: str) -> bool:
        """Whether no other section of the page has the name of this one."""
        return self._names[_name(heading)] < 2

    @cached_property
    def _names(self) -> Counter[str]:
        """How many sections have each name."""
        return Counter(_name(path[-1]) for path in {block.heading_path for block in self._blocks} if path)

    def edges(self, start: int, end: int) -> tuple[bool, bool]:
        """Whether a sentence (or smaller unit) begins with a span, and whether one ends with it."""
        return start in self._beginnings, end in self._endings

    def units(self, start: int, end: int) -> list[tuple[int, int]]:
        """The sentences (or smaller units) of a span, each cut to it; the span itself without any."""
        first, last = max(0, bisect_right(self._unit_starts, start) - 1), bisect_left(self._unit_starts, end)
        spans = [self._spans[number] for number in range(first, last) if self._units[number].end > start]
        cut = [(max(first, start), min(last, end)) for first, last in spans]
        return [(first, last) for first, last in cut if last > first] or [(start, end)]

    def neighbours(self, start: int, end: int) -> tuple[str, str]:
        """Plain text of the blocks before and after those of a span."""
        first, last = self._block(start) - 1, self._block(end - 1) + 1
        return self._block_text(first), self._block_text(last)

    @cached_property
    def plain(self) -> PlainText:
        """The text without markup."""
        return PlainText(self.text, self._units, self._spans)

    @cached_property
    def words(self) -> PageWords:
        """The words of its units."""
        return PageWords(self.text, self._spans)

    def _block(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def _block_text(self, number: int) -> str:
        if not 0 <= number < len(self._blocks):
            return ""
        if number not in self._block_texts:
            block = self._blocks[number]
            self._block_texts[number] = plain_text(self.text[block.start : block.end])
        return self._block_texts[number]


class PlainText:
    """Units of a text without their markup, joined by single spaces; `spans` are the units' own."""

    def __init__(self, source: str, units: Sequence[Sentence], spans: Sequence[tuple[int, int]]) -> None:
        self._spans = spans
        parts = [without_markup(source[unit.start : unit.end]) for unit in units]
        self._starts: list[int] = []
        position = 0
        for part in parts:
            self._starts.append(position)
            position += len(part) + 1
        self.text = " ".join(parts)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The units of the source that hold [start, end) of this text."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        return self._spans[first][0], self._spans[last][1]

    def edges(self, start: int, end: int) -> tuple[bool, bool]:
        """As `PageText.edges`, of a span of this text."""
        last = bisect_right(self._starts, end - 1)
        following = self._starts[last] - 1 if last < len(self._starts) else len(self.text)
        return self._starts[bisect_right(self._starts, start) - 1] == start, following == end


class PageWords:
    """The words of a page's units, and which units share word pairs with a quote."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        self._text = text
        self._spans = spans
        self._words: dict[tuple[int, int], list[str]] = {}
        self._counts: dict[tuple[int, int], Counter[str]] = {}

    def span(self, window: tuple[int, int]) -> tuple[int, int]:
        """The span of a window: units [first, last)."""
        return self._spans[window[0]][0], self._spans[window[1] - 1][1]

    def words(self, window: tuple[int, int]) -> list[str]:
        """The words of a window."""
        if window not in self._words:
            start, end = self.span(window)
            self._words[window] = words_of(self._text[start:end])
        return self._words[window]

    def shared(self, window: tuple[int, int], words: Counter[str]) -> int:
        """Words that a window has in common with a quote, in any order."""
        if window not in self._counts:
            self._counts[window] = Counter(self.words(window))
        there = self._counts[window]
        return sum(min(count, there[word]) for word, count in words.items() if word in there)

    @cached_property
    def _holders(self) -> dict[Hashable, list[int]]:
        """The units that hold each word pair."""
        holders: dict[Hashable, list[int]] = defaultdict(list)
        for number in range(len(self._spans)):
            for pair in _pairs(self.words((number, number + 1))):
                holders[pair].append(number)
        return dict(holders)

    def windows(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Runs of one or two units that share word pairs with a quoted unit, the most first."""
        hits: Counter[int] = Counter()
        for pair in _pairs(words):
            hits.update(self._holders.get(pair, ()))
        scored: set[tuple[int, int, int]] = set()
        for number, shared in hits.most_common(_SHARING):
            scored.add((-shared, 1, number))
            for first in range(max(0, number - 1), min(number + 1, len(self._spans) - 1)):
                scored.add((-hits[first] - hits[first + 1], 2, first))
        return [(first, first + length) for _, length, first in sorted(scored)[:_WINDOWS]]


def words_of(markdown: str) -> list[str]:
    """The words of a text, in lower case, without its markup."""
    return _WORD.findall(plain_text(markdown).casefold())


def _pairs(words: Sequence[str]) -> Iterable[Hashable]:
    """Neighbouring words, the first one with "" before it; a pair that occurs again is another one."""
    counts = Counter(zip(["", *words], words, strict=False))
    if len(counts) == len(words):
        return counts
    return [(*pair, again) if again else pair for pair, count in counts.items() for again in range(count)]


@lru_cache(maxsize=4096)
def _lettered(headings: tuple[str, ...]) -> tuple[str, ...]:
    """Without section numbers, and without those that are numbers alone, as of footnotes."""
    lettered = (heading for heading in headings if any(character.isalpha() for character in heading))
    return tuple(_SECTION_NUMBER.sub("", heading) for heading in lettered)


def _name(heading: str) -> str:
    """What a heading names: of a signature the name before its bracket, else all of it."""
    before, bracket, _ = heading.partition("(")
    words = before.split()
    return words[-1] if bracket and words else heading.casefold()


def _same_name(text: str, other: str) -> bool:
    if _name(text) == _name(other):
        return True
    if "(" in text + other:
        return False
    codes = set(_CODE.findall(text)), set(_CODE.findall(other))
    return codes[0] == codes[1] if any(codes) else shared_words(_DIGITS.sub("", text), _DIGITS.sub("", other)) >= _ALIKE


def without_markup(markdown: str) -> str:
    """The words of a text, as two pages that say the same may differ: typographic signs and white space made equal."""
    plain = plain_text(_MARKS.sub("", markdown))  # without the marks at the beginnings of lines
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain).translate(_SIGNS)


def letters_of(markdown: str) -> str:
    """Letters and digits of a text without its markup. Where a quote stands (steps 1 to 3), its letters do."""
    return "".join(_WORD.findall(without_markup(markdown)))
