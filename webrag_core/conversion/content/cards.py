"""Groups of cards: boxes of one kind beside each other, with the same parts in each.

Cards are siblings with the same tag and first class, or equal runs of siblings that begin with a heading (a heading, a
quote, a heading, a quote). What they are made of is compared by the path from the card to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from lxml.html import HtmlElement

from webrag_core.conversion.content.units import HEADINGS, TextUnit

_PAIR = 2
_ALIKE = 0.6  # share of the text of a group that stands in parts which half of its cards have
_PAIR_ALIKE = 0.9
_MIN_PARTS = 2
_MIN_RUN_PARTS = 3  # of runs: a heading and paragraphs are a section of any text
_UNLIKE = 5  # times the size of the middle card, or four times the other: a card that large is a box of its own
_DEPTH = 8  # levels of a path that count
_DIGITS = re.compile(r"\d+")
_STARTS = (*HEADINGS, "dt")

_Key = tuple[str, str]
_Path = tuple[_Key, ...]


@dataclass(frozen=True, slots=True)
class CardGroup:
    """Numbers of the units of `cards` cards: of all, and of each part that at least half of the cards have."""

    cards: int
    units: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]


def card_groups(root: HtmlElement, units: Sequence[TextUnit]) -> list[CardGroup]:
    """Return the groups of a page, those within others before them."""
    page = _Page(root, units)
    groups = [group for parent in page.children for cards in page.candidates(parent) if (group := page.group(*cards))]
    return groups[::-1]


class _Page:
    """The elements of a page that hold text: their children in reading order, and the units in each."""

    def __init__(self, root: HtmlElement, units: Sequence[TextUnit]) -> None:
        self._units = units
        self._sizes = [0, *accumulate(unit.size for unit in units)]
        self._first: dict[HtmlElement, int] = {}
        self._last: dict[HtmlElement, int] = {}
        self._keys: dict[HtmlElement, _Key] = {}
        self.children: dict[HtmlElement, list[HtmlElement]] = {root: []}
        for number, unit in enumerate(units):
            for element in _up_to_known(unit.block, root, self._first):
                self._first[element] = number
        for number in range(len(units) - 1, -1, -1):
            for element in _up_to_known(units[number].block, root, self._last):
                self._last[element] = number
        for element in self._first:
            self.children.setdefault(element, [])
        for element in sorted(self._first, key=self._first.__getitem__):
            self.children[element.getparent()].append(element)

    def candidates(self, parent: HtmlElement) -> Iterator[tuple[list[list[HtmlElement]], int]]:
        """Yield what may be the cards of a box, each a list of siblings, and how many parts they must have."""
        children = self.children[parent]
        if len(children) < _PAIR:
            return
        alike: dict[_Key, list[list[HtmlElement]]] = {}
        for child in children:
            alike.setdefault(self._key(child), []).append([child])
        for cards in alike.values():
            if len(cards) >= _PAIR:
                yield cards, _MIN_PARTS
        start = next((self._key(child) for child in children if child.tag in _STARTS), None)
        if start is None or len(alike[start]) < _PAIR:
            return
        runs: list[list[HtmlElement]] = []
        for child in children:
            if self._key(child) == start:
                runs.append([])
            if runs:
                runs[-1].append(child)
        kinds = {frozenset(map(self._key, run)) for run in runs}
        if len(kinds) == 1:
            yield runs, _MIN_RUN_PARTS

    def group(self, cards: Sequence[Sequence[HtmlElement]], least: int) -> CardGroup | None:
        """Return the group that these cards are, None where they are not alike."""
        spans = [range(self._first[card[0]], self._last[card[-1]] + 1) for card in cards]
        sizes = [self._sizes[span.stop] - self._sizes[span.start] for span in spans]
        middle = sorted(sizes)[(len(sizes) - 1) // 2]
        if max(sizes) > middle * (_UNLIKE if len(cards) > _PAIR else _UNLIKE - 1):
            return None
        parts: dict[_Path, list[int]] = {}
        holders: dict[_Path, int] = {}
        for card, span in zip(cards, spans, strict=True):
            parent = card[0].getparent()
            seen = set()
            for number in span:
                path = self._path(self._units[number].block, parent)
                parts.setdefault(path, []).append(number)
                seen.add(path)
            for path in seen:
                holders[path] = holders.get(path, 0) + 1
        common = [tuple(numbers) for path, numbers in parts.items() if 2 * holders[path] >= max(len(cards), 2 * _PAIR)]
        shared = sum(self._units[number].size for part in common for number in part)
        if len(common) < least or shared < (_ALIKE if len(cards) > _PAIR else _PAIR_ALIKE) * sum(sizes):
            return None
        return CardGroup(len(cards), tuple(number for span in spans for number in span), tuple(common))

    def _path(self, block: HtmlElement, parent: HtmlElement) -> _Path:
        path: list[_Key] = []
        element = block
        while element is not parent and len(path) < _DEPTH:
            path.append(self._key(element))
            element = element.getparent()
        return tuple(path)

    def _key(self, element: HtmlElement) -> _Key:
        key = self._keys.get(element)
        if key is None:
            first = (element.get("class") or "").split(None, 1)[:1]
            key = self._keys[element] = (element.tag, _DIGITS.sub("", first[0]) if first else "")
        return key


def _up_to_known(block: HtmlElement, root: HtmlElement, known: dict[HtmlElement, int]) -> list[HtmlElement]:
    """A block and what it stands in, up to the root or an element that is known; the outermost first."""
    new = []
    element = block
    while element is not root and element not in known:
        new.append(element)
        element = element.getparent()
    return new[::-1]
