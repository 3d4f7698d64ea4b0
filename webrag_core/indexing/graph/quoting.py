"""The sentence around a place of the text: what an edge quotes."""

from __future__ import annotations

import re
from bisect import bisect_right

from webrag_core.indexing.markdown import Block
from webrag_core.indexing.sentences import units_of

_MARKER = re.compile(r"(?:(?::|>|[-*+]|\d{1,9}[.)])[ \t]+)+")  # of a list item, definition or quotation
_LONGEST_SENTENCE = 2_000
_AROUND = 500  # characters before the place of what is said in it


class BlockSentences:
    """The sentences of one block."""

    def __init__(self, text: str, block: Block) -> None:
        self._text = text
        self._units = units_of(text, block)
        self._starts = [unit.start for unit in self._units]

    def at(self, place: int) -> tuple[int, int]:
        """Span of the sentence at offset `place` of the text, without the mark of a list item before it.

        At most 2,000 characters: of a text without sentence ends what stands around the place.
        """
        unit = self._units[max(0, bisect_right(self._starts, place) - 1)]
        start, end = unit.stripped(self._text)
        if end - start > _LONGEST_SENTENCE:
            start, end = max(start, place - _AROUND), min(end, place + _LONGEST_SENTENCE - _AROUND)
        marker = _MARKER.match(self._text, start, end)
        return (start if marker is None or marker.end() == end else marker.end()), end
