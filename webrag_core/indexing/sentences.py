"""Sentence spans: small units that partition every block of a page, so that a citation can be one of them.

Prose is cut at its sentence ends. A code block, a heading and a definition term are units of their own; so are a table
and a list item, unless they are long: then each row or sentence is one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from webrag_core.indexing.markdown import Block, parse_blocks
from webrag_core.language.detection import detected_page
from webrag_core.language.sentence_ends import sentence_ends

LONG = 300
"""Characters from which on a table or list item is cut."""

LIST_ITEM = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+]|\d{1,9}[.)])[ \t]")
"""The mark with which an item of a list begins."""
_READ = 8_000  # characters that show the language of a text
_LINE = re.compile(r"[^\n]*\n?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One unit: [start, end) of the text in code points, and its block. Units of a block follow each other without a
    gap; white space after a unit belongs to it."""

    start: int
    end: int
    block: Block

    def stripped(self, text: str) -> tuple[int, int]:
        """The span without white space around it."""
        body = text[self.start : self.end]
        return self.start + len(body) - len(body.lstrip()), self.start + len(body.rstrip())


def sentences_of(text: str, language: str | None = None) -> list[Sentence]:
    """The units of every block of `text` (Markdown), in order. `language` is ISO 639; None = as the text shows."""
    return [sentence for block in parse_blocks(text) for sentence in units_of(text, block, language)]


def units_of(text: str, block: Block, language: str | None = None) -> list[Sentence]:
    """The units of one block of `text`; `language` as for `sentences_of`."""
    body = text[block.start : block.end]
    cuts: list[int] = []
    if block.kind == "table" and len(body) > LONG:
        cuts = [match.end() for match in _LINE.finditer(body) if match.end() > match.start()]
    elif block.kind == "paragraph" and (len(body) > LONG or not LIST_ITEM.match(body)):
        cuts = sentence_ends(body, language or (lambda: language_of(text)))
    bounds = [0, *(cut for cut in cuts if 0 < cut < len(body)), len(body)]
    return [Sentence(block.start + begin, block.start + end, block) for begin, end in pairwise(bounds)]


def language_of(text: str) -> str | None:
    """The language whose abbreviations and ordinal numbers a text (Markdown) has; None where none is clear."""
    return _detected(text[:_READ])


_detected = lru_cache(maxsize=128)(detected_page)  # asked for each block of a page
