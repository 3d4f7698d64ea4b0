"""What one text of a page says that another does not, beyond layout. Pure.

White space, marks of Markdown, typographic signs, the order of equal passages, and how sentences are spread over
paragraphs, lists and lines change nothing. Each sentence, table row and code block is compared as a whole.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from webrag_core.history.diff import BlockChange, recent_diff
from webrag_core.history.page_text import without_markup
from webrag_core.indexing.markdown import Block, parse_blocks
from webrag_core.indexing.sentences import language_of
from webrag_core.language.sentence_ends import sentence_ends
from webrag_core.page_text import visible

_KINDS = ("edited", "added", "removed")


@dataclass(frozen=True, slots=True)
class Passage:
    """What changed under one heading: words before and after, None where there are none on that side."""

    heading_path: tuple[str, ...]
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, table row or code block; `words` are what is compared."""

    words: str
    start: int


def differences(before: str, after: str) -> list[Passage]:
    """Compare two texts (Markdown). The passages that changed, in the order of the new text; none where the texts say
    the same."""
    old, new = _units(before), _units(after)
    if _letters(old) == _letters(new):
        return []
    gone = Counter(unit.words for unit in old)
    gone.subtract(Counter(unit.words for unit in new))
    removed, added = +gone, -gone
    if not (removed or added) or _letters(_of(old, removed)) == _letters(_of(new, added)):
        return []
    passages = [
        passage
        for change in recent_diff(before, after).changes
        if change.kind in _KINDS and (passage := _passage(change, old, removed, new, added)) is not None
    ]
    left = _text_of(_of(old, removed)), _text_of(_of(new, added))
    return [*passages, Passage((), *left)] if any(left) else passages


def says(text: str, part: str) -> bool:
    """Whether everything that `part` says stands in `text`, wherever and in whatever layout."""
    return not Counter(unit.words for unit in _units(part)) - Counter(unit.words for unit in _units(text))


def same_words(text: str, other: str) -> bool:
    """Whether two passages say the same in the same order, in whatever layout."""
    return _letters(_units(text)) == _letters(_units(other))


def words_of(text: str) -> str:
    """What a text (Markdown) says, in one line, without its layout and the headings above it. A row of a table may
    stand without its table."""
    language = language_of(text)
    blocks = parse_blocks(text)
    body = [block for block in blocks if block.kind != "heading"] or blocks
    pieces = [unit.words for block in body for unit in _of_block(text, block, language)]
    return " ".join(_row(piece) if piece.startswith("|") else piece for piece in pieces if piece)


def _passage(
    change: BlockChange, old: Sequence[_Unit], removed: Counter[str], new: Sequence[_Unit], added: Counter[str]
) -> Passage | None:
    """What of a changed block is gone and new. Takes it out of `removed` and `added`: each counts once."""
    sides = []
    for span, units, wanted in ((change.before, old, removed), (change.after, new, added)):
        inside = [] if span is None else [unit for unit in units if span.start <= unit.start < span.end]
        taken = list(_take(inside, wanted))
        sides.append(_text_of(taken))
    return Passage(tuple(change.heading_path), *sides) if any(sides) else None


def _take(units: Sequence[_Unit], wanted: Counter[str]) -> Iterator[_Unit]:
    for unit in units:
        if wanted[unit.words] > 0:
            wanted[unit.words] -= 1
            yield unit


def _of(units: Sequence[_Unit], wanted: Counter[str]) -> list[_Unit]:
    return list(_take(units, wanted.copy()))


def _text_of(units: Sequence[_Unit]) -> str | None:
    return " ".join(unit.words for unit in units) or None


def _letters(units: Sequence[_Unit]) -> str:
    """All that is said, without white space: how it is cut into units is layout."""
    return "".join("".join(unit.words.split()) for unit in units)


@lru_cache(maxsize=16)
def _units(text: str) -> tuple[_Unit, ...]:
    language = language_of(text)
    return tuple(unit for block in parse_blocks(text) for unit in _of_block(text, block, language) if unit.words)


def _of_block(text: str, block: Block, language: str | None) -> Iterator[_Unit]:
    body = text[block.start : block.end]
    if block.kind == "code":
        lines = (line.rstrip() for line in textwrap.dedent(visible(body)).strip("\n").splitlines())
        yield _Unit("\n".join(line for line in lines if not line.lstrip().startswith(("```", "~~~"))), block.start)
        return
    if block.kind == "table":
        cuts = [0]
        for line in body.splitlines(keepends=True):
            cuts.append(cuts[-1] + len(line))
    else:
        cuts = [0, *(cut for cut in sentence_ends(body, language) if 0 < cut < len(body)), len(body)]
    for begin, end in pairwise(cuts):
        piece = body[begin:end]
        words = _row(piece) if block.kind == "table" else _words(piece)
        yield _Unit(words, block.start + begin)


def _row(line: str) -> str:
    """The cells of a row of a table; "" for the line below its head."""
    if not set(line) - set("|-: \t\r\n"):
        return ""
    return " | ".join(_words(cell) for cell in line.strip().strip("|").split("|"))


def _words(piece: str) -> str:
    return " ".join(without_markup(visible(piece)).replace("…", "...").split())
