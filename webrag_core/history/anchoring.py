"""Where a quote of one text stands in another: the cascade behind the states of citations.

Only equal text is ever `valid` or `moved`; what is merely similar is `changed`. A quoted sentence that grew is another
sentence: where the quote began or ended one, its place must, too. In order:

1. the same Markdown in the same section: valid (a section is the same when its heading names the same thing, though
   it may be worded otherwise, such as a function's signature, and stand in another chapter);
2. the same Markdown elsewhere: moved (of several places the one whose surroundings agree longest);
3. the same words, with other link targets, emphasis, white space or typographic signs: moved, by `markup`;
4. (`history.citations`) the same on another page: moved, to the `page`;
5. a passage that keeps `REWORDED` of the quote's words in their order: changed, `reworded`;
6. nothing of it: changed, `lost`.

A quote of several sentences that does not stand as a whole is followed sentence by sentence: it moved when each of them
still stands, and is changed otherwise.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from webrag_core.history.diff import shared_words
from webrag_core.history.facts import Fact, facts_changed
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.sentences import Sentence, sentences_of

State = Literal["valid", "moved", "changed", "gone", "broken"]
How = Literal["same", "text", "markup", "page", "reworded", "lost"]

REWORDED = 0.8
"""Share of a quote's words that a passage keeps, from which on it is the quote in other words."""
SURROUNDINGS = 64
"""Characters before and after a quote that tell its place from others with the same text."""
CLEAR_MARGIN = 8
"""Characters by which the surroundings of one place must agree longer than those of the next, to be told apart."""
_ALIKE = 0.75  # share of the words of two headings, from which on one was edited into the other
DISTINCT = 40
"""Characters from which on a quote is not said by chance in another place; shorter ones need equal surroundings."""

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_QUALIFIED = re.compile(r"\w(?:\.|::|#|/)\w")
_CODE = re.compile(r"\w+(?:(?:\.|::|_)\w+)+|--?\w[\w-]*|\b[A-Z]?[a-z]+[A-Z]\w*")  # names of programs
_SECTION_NUMBER = re.compile(r"^\d+(?:\.\d+)*\.?\s+")
_DIGITS = re.compile(r"\d+")
_SIGNS = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—―−\u00a0\u202f\u2009", '\'\'\'\'""""""-------   ')


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands now. `kept` is the share of its words that stand there, in [0, 1]; `ambiguous`: it stands
    in several places that cannot be told apart; `context_changed`: other headings, other neighbours on both sides, or a
    note of deprecation that was not there."""

    state: State
    how: How
    kept: float
    start: int | None = None
    end: int | None = None
    ambiguous: bool = False
    context_changed: bool = False
    facts_changed: tuple[Fact, ...] = ()
    sentences: int = 1
    standing: int = 1
    """Sentences (or smaller units) of the quote, and how many of them stand unchanged."""


class PageText:
    """A page's text, prepared once for many quotes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._units = sentences_of(text)
        self._unit_starts = [unit.start for unit in self._units]
        self._blocks = list(dict.fromkeys(unit.block for unit in self._units))
        self._starts = [block.start for block in self._blocks]

    def headings_at(self, position: int) -> tuple[str, ...]:
        """The heading path at a position."""
        number = self._block(position)
        return self._blocks[number].heading_path if number >= 0 else ()

    def same_section(self, position: int, other: PageText, place: int) -> bool:
        """Whether two positions stand under headings that name the same thing."""
        one, two = (_lettered(path) for path in (self.headings_at(position), other.headings_at(place)))
        if one == two:
            return True
        if max(len(one), len(two)) < 2 and max(self.titles, other.titles) < 2:
            return True  # above the first section there is only the page, whatever its title
        if not one or not two:
            return False
        for mine, its in zip(reversed(one[1:] or one), reversed(two[1:] or two), strict=False):
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
        return start in self.plain.beginnings, end in self.plain.endings

    def units(self, start: int, end: int) -> list[tuple[int, int]]:
        """The sentences (or smaller units) of a span, each cut to it; the span itself without any."""
        near = slice(max(0, bisect_right(self._unit_starts, start) - 1), bisect_left(self._unit_starts, end))
        spans = [one.stripped(self.text) for one in self._units[near] if one.end > start]
        cut = [(max(first, start), min(last, end)) for first, last in spans]
        return [(first, last) for first, last in cut if last > first] or [(start, end)]

    def neighbours(self, start: int, end: int) -> tuple[str, str]:
        """Plain text of the blocks before and after those of a span."""
        first, last = self._block(start) - 1, self._block(end - 1) + 1
        return self._block_text(first), self._block_text(last)

    @cached_property
    def plain(self) -> _PlainText:
        """The text without markup."""
        return _PlainText(self.text, self._units)

    def _block(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def _block_text(self, number: int) -> str:
        if not 0 <= number < len(self._blocks):
            return ""
        return plain_text(self.text[self._blocks[number].start : self._blocks[number].end])


class _PlainText:
    """Units of a text without their markup, joined by single spaces."""

    def __init__(self, source: str, units: Sequence[Sentence]) -> None:
        self.source = source
        self.units = units
        parts = [without_markup(source[one.start : one.end]) for one in self.units]
        self._starts: list[int] = []
        position = 0
        for part in parts:
            self._starts.append(position)
            position += len(part) + 1
        self.text = " ".join(parts)
        spans = [one.stripped(source) for one in self.units]
        self.beginnings, self.endings = {start for start, _ in spans}, {end for _, end in spans}

    @cached_property
    def _pairs(self) -> list[Counter[tuple[str, str]]]:
        """Word pairs of each unit."""
        return [_pairs(self.source[one.start : one.end]) for one in self.units]

    @cached_property
    def _holders(self) -> dict[tuple[str, str], list[int]]:
        """The units that hold each word pair."""
        holders: dict[tuple[str, str], list[int]] = {}
        for number, pairs in enumerate(self._pairs):
            for pair in pairs:
                holders.setdefault(pair, []).append(number)
        return holders

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The units of the source that hold [start, end) of this text."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        return self.units[first].stripped(self.source)[0], self.units[last].stripped(self.source)[1]

    def edges(self, start: int, end: int) -> tuple[bool, bool]:
        """As `PageText.edges`, of a span of this text."""
        last = bisect_right(self._starts, end - 1)
        following = self._starts[last] - 1 if last < len(self._starts) else len(self.text)
        return self._starts[bisect_right(self._starts, start) - 1] == start, following == end

    def windows(self, pairs: Counter[tuple[str, str]]) -> list[tuple[int, int]]:
        """Runs of one or two units that share word pairs with a quoted unit, the most first."""
        hits: Counter[int] = Counter()
        for pair, count in pairs.items():
            for number in self._holders.get(pair, ()):
                hits[number] += min(count, self._pairs[number][pair])
        scored: list[tuple[int, int, int]] = []
        for number, _ in hits.most_common(8):
            for length in (1, 2):
                for first in range(max(0, number - length + 1), number + 1):
                    last = min(first + length, len(self.units))
                    scored.append((-sum(hits[one] for one in range(first, last)), last - first, first))
        return [(first, first + length) for _, length, first in sorted(set(scored))[:12]]


def _lettered(headings: tuple[str, ...]) -> tuple[str, ...]:
    """Without section numbers, and without those that are numbers alone, as of footnotes."""
    lettered = (heading for heading in headings if any(character.isalpha() for character in heading))
    return tuple(_SECTION_NUMBER.sub("", heading) for heading in lettered)


def _name(heading: str) -> str:
    """What a heading names: of a signature the name before its bracket, else all of it."""
    before, bracket, _ = heading.partition("(")
    words = before.split()
    return words[-1] if bracket and words else heading.casefold()


def _same_name(one: str, other: str) -> bool:
    if _name(one) == _name(other):
        return True
    if "(" in one + other:
        return False
    codes = set(_CODE.findall(one)), set(_CODE.findall(other))
    return codes[0] == codes[1] if any(codes) else shared_words(_DIGITS.sub("", one), _DIGITS.sub("", other)) >= _ALIKE


def without_markup(markdown: str) -> str:
    """The words of a text, as two pages that say the same may differ: typographic signs and white space made equal."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", plain_text(_unlisted(markdown)))).translate(_SIGNS).strip()


def letters_of(markdown: str) -> str:
    """Letters and digits of a text without its markup. Where a quote stands (steps 1 to 3), its letters do."""
    return "".join(_WORD.findall(without_markup(markdown)))


_MARKS = re.compile(r"(?m)^[ \t]*(?:>[ \t]?)*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)]|:)[ \t]+)?")


def _unlisted(markdown: str) -> str:
    """Without the marks at the beginnings of lines."""
    return _MARKS.sub("", markdown)


def find_quote(old: PageText, start: int, end: int, new: PageText, *, similar: bool = True) -> Place | None:
    """Where the quote [start, end) of `old` stands in `new`; None when nothing of it does.

    With `similar` False only equal text counts: steps 1 to 3. Pure.
    """
    units = old.units(start, end)
    place = _same_text(old, start, end, new) or _same_words(old, start, end, new)
    if place is not None:
        return replace(place, sentences=len(units), standing=len(units))
    if not similar:
        return None
    return _by_sentence(old, units, new) if len(units) > 1 else _similar(old.text[start:end], new)


def _by_sentence(old: PageText, units: Sequence[tuple[int, int]], new: PageText) -> Place | None:
    """What became of a quote whose sentences have fates of their own."""
    places = [(find_quote(old, start, end, new), end - start) for start, end in units]
    standing = [place for place, _ in places if place is not None and place.state in ("valid", "moved")]
    spans = [(one.start, one.end) for one, _ in places if one is not None and one.start is not None]
    kept = sum(length * (0.0 if one is None else one.kept) for one, length in places) / sum(one for _, one in places)
    if not spans and kept == 0:
        return None
    whole = len(standing) == len(units)
    similar = whole or kept >= REWORDED
    return Place(
        "moved" if whole else "changed",
        "text" if whole else "reworded" if similar else "lost",
        1.0 if whole else round(min(kept, 0.999), 3),
        min(start for start, _ in spans) if similar and spans else None,
        max(end or 0 for _, end in spans) if similar and spans else None,
        any(one.ambiguous for one in standing),
        True,
        tuple(sorted({fact for one, _ in places if one is not None for fact in one.facts_changed})),
        len(units),
        len(standing),
    )


def _same_text(old: PageText, start: int, end: int, new: PageText) -> Place | None:
    quote = old.text[start:end]
    edges = old.edges(start, end)
    places = ((at, at + len(quote)) for at in _occurrences(quote, new.text))
    spans = [span for span in places if _fits(edges, new.edges(*span))]
    best = _best_of(old, start, end, new, spans, len(quote))
    if best is None:
        return None
    here, ambiguous, at, last = best
    state: State = "valid" if here else "moved"
    changed = not here or _context_changed(old, start, end, new, at, last)
    return Place(state, "same" if here else "text", 1.0, at, last, ambiguous, changed)


def _same_words(old: PageText, start: int, end: int, new: PageText) -> Place | None:
    words = without_markup(old.text[start:end])
    if not _WORD.search(words):
        return None
    edges = old.edges(start, end)
    places = ((at, at + len(words)) for at in _occurrences(words, new.plain.text))
    spans = [new.plain.span(*place) for place in places if _fits(edges, new.plain.edges(*place))]
    best = _best_of(old, start, end, new, spans, len(words))
    if best is None:
        return None
    here, ambiguous, at, last = best
    changed = not here or _context_changed(old, start, end, new, at, last)
    return Place("moved", "markup", 1.0, at, last, ambiguous, changed)


def _best_of(
    old: PageText, start: int, end: int, new: PageText, spans: Sequence[tuple[int, int]], length: int
) -> tuple[bool, bool, int, int] | None:
    """Of the `spans` of `new` that say the same as a quote of `length` characters: whether the best one is in the same
    section, whether it is ambiguous, and the span. The section counts first, then how far the surroundings agree. None
    without any, and where the best may say so by chance (`DISTINCT`)."""
    ranked = sorted(
        (
            (old.same_section(start, new, first), _agreement(old.text, start, end, new.text, first, last), -first, last)
            for first, last in spans
        ),
        reverse=True,
    )
    if not ranked:
        return None
    here, agreement, negative, last = ranked[0]
    if not here and length < DISTINCT and agreement < SURROUNDINGS // 4:
        return None
    ambiguous = len(ranked) > 1 and ranked[1][0] == here and agreement - ranked[1][1] < CLEAR_MARGIN
    return here, ambiguous, -negative, last


def _similar(quote: str, new: PageText) -> Place | None:
    pairs, words = _pairs(quote), _WORD.findall(plain_text(quote).casefold())
    if not words:
        return None
    plain = new.plain
    best: tuple[float, int, int] | None = None
    for first, last in plain.windows(pairs):
        start, end = plain.units[first].stripped(new.text)[0], plain.units[last - 1].stripped(new.text)[1]
        there = _WORD.findall(plain_text(new.text[start:end]).casefold())
        blocks = SequenceMatcher(None, words, there, autojunk=False).get_matching_blocks()
        kept = sum(block.size for block in blocks) / len(words)
        if best is None or kept > best[0]:
            best = (kept, start, end)
    if best is None or best[0] < REWORDED:
        return None if best is None else Place("changed", "lost", round(best[0], 3), standing=0)
    kept, start, end = best
    return Place(
        "changed",
        "reworded",
        round(kept, 3),
        start,
        end,
        facts_changed=tuple(facts_changed(quote, new.text[start:end])),
        context_changed=True,
        standing=0,
    )


def _pairs(markdown: str) -> Counter[tuple[str, str]]:
    words = _WORD.findall(plain_text(markdown).casefold())
    return Counter(zip(["", *words], words, strict=False))


def _occurrences(quote: str, text: str) -> list[int]:
    places: list[int] = []
    at = text.find(quote)
    while at >= 0 and len(places) < 1_000:
        if _whole_words(text, at, at + len(quote)):
            places.append(at)
        at = text.find(quote, at + 1)
    return places


def _fits(old: tuple[bool, bool], new: tuple[bool, bool]) -> bool:
    return (new[0] or not old[0]) and (new[1] or not old[1])


def _whole_words(text: str, start: int, end: int) -> bool:
    """Whether no word is cut: "cat" does not stand in "catalogue"."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not before and not after


def _agreement(old: str, start: int, end: int, new: str, at: int, at_end: int) -> int:
    """Characters for which the surroundings of both places agree, outwards from the quote."""
    before = zip(
        reversed(old[max(0, start - SURROUNDINGS) : start]), reversed(new[max(0, at - SURROUNDINGS) : at]), strict=False
    )
    after = zip(old[end : end + SURROUNDINGS], new[at_end : at_end + SURROUNDINGS], strict=False)
    return _common(before) + _common(after)


def _common(pairs: zip[tuple[str, str]]) -> int:
    length = 0
    for one, other in pairs:
        if one != other:
            break
        length += 1
    return length


def _context_changed(old: PageText, start: int, end: int, new: PageText, at: int, at_end: int) -> bool:
    if old.headings_at(start) != new.headings_at(at):
        return True
    before, after = old.neighbours(start, end), new.neighbours(at, at_end)
    if all(one != other for one, other in zip(before, after, strict=True)):
        return True
    return any(
        one != other and "deprecation" in facts_changed(one, other) for one, other in zip(before, after, strict=True)
    )
