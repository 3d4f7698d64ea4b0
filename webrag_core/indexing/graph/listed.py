"""Symbols that an inventory of the site (`objects.inv`) has on a page, by the place where the page has their id."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from webrag_core.indexing.graph.names import MAX_NAME, parts


class ListedSymbol(NamedTuple):
    """A qualified name, and the id of its place on the page (empty: the page itself)."""

    name: str
    anchor: str


class ListedSymbols:
    """Symbols with their places, and those whose id the text does not have: they are found by their names alone."""

    def __init__(self, symbols: Sequence[ListedSymbol] = (), anchors: Mapping[str, int] | None = None) -> None:
        """`anchors` say where the heading or term with an id ends."""
        anchors = anchors or {}
        symbols = [symbol for symbol in symbols if 0 < len(symbol.name) <= MAX_NAME]
        placed = sorted({(anchors[symbol.anchor], symbol.name) for symbol in symbols if symbol.anchor in anchors})
        self._offsets = [offset for offset, _ in placed]
        self._names = [name for _, name in placed]
        known = set(self._names)
        self._unplaced = {symbol.name for symbol in symbols} - known
        self._by_end: dict[str, list[str]] = {}
        for name in sorted(self._unplaced):
            self._by_end.setdefault(parts(name)[-1], []).append(name)

    def within(self, start: int, end: int) -> list[str]:
        """The symbols whose place is the heading or line of terms [start, end), in order."""
        return self._names[bisect_left(self._offsets, start + 1) : bisect_left(self._offsets, end + 1)]

    def whole_name(self, name: str, qualified: str) -> str | None:
        """The symbol without a known place that a definition of `name` is: `qualified` (made by the rules), else the
        only one that ends so. None where the inventory does not say."""
        if qualified in self._unplaced:
            return qualified
        alike = [item for item in self._by_end.get(parts(name)[-1], ()) if ends_in(item, name)]
        return alike[0] if len(alike) == 1 else None


def ends_in(qualified: str, name: str) -> bool:
    """asyncio.Queue.get ends in Queue.get and in get."""
    ends = parts(name)
    return parts(qualified)[-len(ends) :] == ends
