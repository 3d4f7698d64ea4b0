"""Sentence spans: small units that partition every block of a page, so that a citation can be one of them.

Prose is cut at its sentence ends. A code block, a heading and a definition term are units of their own; so are a table
and a list item, unless they are long: then each row or sentence is one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from webrag_core.indexing.markdown import Block, parse_blocks

LONG = 300
"""Characters from which on a table or list item is cut."""

# an end: its mark, closing quotes and brackets, white space, and a beginning
_END = re.compile(r"[.!?][\"'”’»)\]*_`]*(\s+)(?=[\"'“‘«(\[*_`]*[^\W_a-z])|[。！？](?=\S)()")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:[A-Za-z]|[eE]\.g|[iI]\.e|e\.a|z\.B|d\.h|u\.a|[cC]f|[vV]s|[vV]ol|[vV]|[nN]o|[nN]r|[aA]rt|[fF]ig|[sS]ec|[cC]h"
    r"|[pP]p?|[eE]d|[eE]ds|[aA]l|[eE]tc|[iI]nc|[lL]td|[cC]o|[cC]orp|[sS]t|[dD]r|[mM]rs?|[mM]s|[pP]rof|[jJ]r|[sS]r|[aA]pprox"
    r"|[cC]a|[bB]zw|[uU]sw|[aA]bs|[sS]s?|[dD]ept|[jJ]an|[fF]eb|[mM]ar|[aA]pr|[jJ]un|[jJ]ul|[aA]ug|[sS]ept?|[oO]ct|[nN]ov|[dD]ec)\.$"
)
LIST_ITEM = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+]|\d{1,9}[.)])[ \t]")
"""The mark with which an item of a list begins."""
_LINE = re.compile(r"[^\n]*\n?")
_INK = re.compile(r"\w")


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


def sentences_of(text: str) -> list[Sentence]:
    """The units of every block of `text` (Markdown), in order."""
    return [sentence for block in parse_blocks(text) for sentence in units_of(text, block)]


def units_of(text: str, block: Block) -> list[Sentence]:
    body = text[block.start : block.end]
    cuts: list[int] = []
    if block.kind == "table" and len(body) > LONG:
        cuts = [match.end() for match in _LINE.finditer(body) if match.end() > match.start()]
    elif block.kind == "paragraph" and (len(body) > LONG or not LIST_ITEM.match(body)):
        cuts = _sentence_ends(body)
    bounds = [0, *(cut for cut in cuts if 0 < cut < len(body)), len(body)]
    return [Sentence(block.start + begin, block.start + end, block) for begin, end in pairwise(bounds)]


def _sentence_ends(body: str) -> list[int]:
    ends: list[int] = []
    last = 0
    for match in _END.finditer(body):
        mark = match.start() + 1
        if body[match.start()] == "." and _ABBREVIATION.search(body, max(last, mark - 12), mark):
            continue
        if not _INK.search(body, last, mark):
            continue  # "...", a list marker
        last = match.end()
        ends.append(last)
    return ends
