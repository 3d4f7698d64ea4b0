"""Markdown tables and definition lists as rows of cells, each an exact slice of the text. Pure.

A row of a table is cut as GFM cuts it: at every pipe without a backslash before it, inside code too. An entry of a
definition list is a row: its term, what stands in brackets behind the term, the sentences of its definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from webrag_core.indexing.markdown import Block, parse_blocks, plain_text
from webrag_core.indexing.sentences import units_of

Kind = Literal["table", "definition_list"]

MAX_CELLS = 100_000
"""Of one table; rows after that are left out."""

_LINE = re.compile(r"[^\n]+")
_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_RULE = re.compile(r"[\s|:-]+")
# marks of the lists, quotations and definitions around a table; list marks only where a pipe follows
_CONTAINERS = re.compile(r"[ \t>]*(?:(?:[-*+:]|\d{1,9}[.)])[ \t][ \t>]*)*(?=\|)|[ \t>]*")
_SENTENCE_MARKS = re.compile(r"(?:[\s>]|(?:[-*+:]|\d{1,9}[.)])\s)*")
_CODE = re.compile(r"(`++).*?(?<!`)\1(?!`)")
_VALUE = re.compile(rf"\W*{_CODE.pattern}\W*|[-+]?[\d.,:%]+|.*\]\(.*", re.DOTALL)  # code, a number, a link
_MAX_NAME = 40  # characters of the name of a column, and with the marks of Markdown
_MAX_RAW_NAME = 400
_LABELLED = re.compile(r"\((?P<inner>[^()]+)\)")
_LABEL = re.compile(r"(?P<label>[^\W\d_][\w -]{0,30}):[ \t]+(?P<value>\S.*\S|\S)")
_MAX_SENTENCES = 60  # of one definition


@dataclass(frozen=True, slots=True)
class Cell:
    """[start, end) of the text without white space around it; empty where both are equal. `header` is the cell that
    names its column, or the label before it in brackets; None without one."""

    start: int
    end: int
    header: Cell | None = None

    def of(self, text: str) -> str:
        """The exact slice."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Row:
    """A row, of which the first `keys` cells name it. `section` is the row of one cell above it that names a group of
    rows. `doubtful` marks the first row of a table of two columns: it may be a header, or a row like the others."""

    start: int
    end: int
    cells: tuple[Cell, ...]
    keys: int = 1
    section: Cell | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or one entry of a definition list, with the headings that it stands under."""

    start: int
    end: int
    kind: Kind
    heading_path: tuple[str, ...]
    rows: tuple[Row, ...]


def tables_at(text: str, spans: Sequence[tuple[int, int]]) -> list[Table]:
    """Whole tables and entries that share a character with one of the spans, in order. An entry with others in its
    definition comes before them."""
    blocks = _blocks(text)
    wanted = sorted(spans)
    results: list[Table] = []
    for place, block in enumerate(blocks):
        if block.kind == "table" and _meets(block.start, block.end, wanted):
            table = _table(text, block)
            if table.rows:
                results.append(table)
        elif block.kind == "term":
            body = _body(blocks, place)
            if body and _meets(block.start, body[-1].end, wanted):
                results.append(_entry(text, block, body))
    return results


def all_tables(text: str) -> list[Table]:
    """Every table and entry of a text."""
    return tables_at(text, [(0, len(text))])


@lru_cache(maxsize=64)  # texts of versions never change, and a large page takes 0.2 s
def _blocks(text: str) -> list[Block]:
    return parse_blocks(text)


def _meets(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(first < end and start < last for first, last in spans)


def _table(text: str, block: Block) -> Table:
    lines = list(_lines(text, block))
    ruled = next((n for n, (start, end) in enumerate(lines) if n and _DELIMITER.fullmatch(text, start, end)), None)
    if ruled is None:
        return Table(block.start, block.end, "table", block.heading_path, ())
    first = lines[ruled - 1]
    header = cells_of(text, *first)
    named = _names(text, header)
    rows = []
    doubtful = len(header) == 2
    if not named or doubtful:
        rows.append(Row(*first, header, doubtful=named))
    section: Cell | None = None
    left = MAX_CELLS
    for start, end in lines[ruled + 1 :]:
        cells = cells_of(text, start, end)[: len(header)]
        left -= len(cells)
        if left < 0:
            break
        filled = [cell for cell in cells if cell.end > cell.start]
        if not filled or _RULE.fullmatch(text, start, end):
            continue
        if len(filled) == 1 and filled[0] is cells[0] and len(header) > 1:
            section = cells[0]
        if named:
            cells = tuple(Cell(cell.start, cell.end, header[n]) for n, cell in enumerate(cells))
        keys, cells = _named_by_code(text, cells) if len(header) == 1 else (1, cells)
        begins_here = section is not None and section.start >= start
        rows.append(Row(start, end, cells, keys, None if begins_here else section))
    if _has_two_keys(text, rows):
        rows = [replace(row, keys=2) for row in rows]
    return Table(first[0], block.end, "table", block.heading_path, tuple(rows))


def _lines(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """Lines of a table without the marks of what it stands in, and without white space around."""
    for line in _LINE.finditer(text, block.start, block.end):
        marks = _CONTAINERS.match(text, line.start(), line.end())
        start = marks.end() if marks else line.start()
        body = text[start : line.end()].rstrip()
        if body:
            yield start, start + len(body)


def cells_of(text: str, start: int, end: int) -> tuple[Cell, ...]:
    """The cells of the row at [start, end), which begins and ends without white space."""
    pipes = [match.start() for match in _PIPE.finditer(text, start, end)]
    if pipes and pipes[0] == start:
        start, pipes = start + 1, pipes[1:]
    if pipes and pipes[-1] == end - 1:
        end, pipes = end - 1, pipes[:-1]
    begins, ends = [start, *(at + 1 for at in pipes)], [*pipes, end]
    return tuple(_stripped(text, *bounds) for bounds in zip(begins, ends, strict=True))


def _stripped(text: str, start: int, end: int) -> Cell:
    body = text[start:end]
    inked = body.strip()
    if not inked:
        return Cell(start, start)
    start += len(body) - len(body.lstrip())
    return Cell(start, start + len(inked))


def _names(text: str, header: Sequence[Cell]) -> bool:
    """Whether the first row names columns: short texts, at most one empty, none of them code, a number or a link."""
    names = [cell.of(text) for cell in header if cell.end > cell.start]
    if not names or len(names) < len(header) - 1 or (len(header) == 1 and "`" in names[0]):
        return False
    if max(map(len, names)) > _MAX_RAW_NAME:
        return False
    return not any(_VALUE.fullmatch(name) or len(plain_text(name)) > _MAX_NAME for name in names)


def _named_by_code(text: str, cells: tuple[Cell, ...]) -> tuple[int, tuple[Cell, ...]]:
    """A row of one cell is named by the code that it begins with, where it does."""
    code = _CODE.match(text, cells[0].start, cells[0].end)
    if code is None or code.end() == cells[0].end:
        return 0, cells
    return 1, (Cell(*code.span()), *cells)


def _has_two_keys(text: str, rows: Sequence[Row]) -> bool:
    """Whether the first of at least three columns repeats what spans several rows, so that only two name a row."""
    if len(rows) < 2 or min(len(row.cells) for row in rows) < 3:
        return False
    keys = [row.cells[0].of(text) for row in rows]
    return 2 * sum(key == other != "" for key, other in pairwise(keys)) >= len(rows) - 1


def _body(blocks: Sequence[Block], place: int) -> list[Block]:
    """What belongs to a term: everything below it that stands under it, to the next term beside it."""
    term = blocks[place]
    depth = len(term.heading_path)
    body = []
    for block in blocks[place + 1 :]:
        beside = block.kind == "term" and len(block.heading_path) <= depth
        if beside or block.heading_path[:depth] != term.heading_path:
            break
        body.append(block)
    return body


def _entry(text: str, term: Block, body: Sequence[Block]) -> Table:
    marks = _SENTENCE_MARKS.match(text, term.start, term.end)
    key = _stripped(text, marks.end() if marks else term.start, term.end)
    extra = list(_labelled(text, key))
    name = key if not extra else _name_before(text, key, extra[0])
    cells = [name, *extra]
    for block in body:
        if block.kind not in ("paragraph", "code") or len(cells) > _MAX_SENTENCES:
            continue
        for sentence in units_of(text, block):
            start, end = sentence.stripped(text)
            if block.kind == "paragraph" and (marks := _SENTENCE_MARKS.match(text, start, end)):
                start = marks.end()
            if start < end:
                cells.append(Cell(start, end))
    row = Row(key.start, body[-1].end, tuple(cells))
    return Table(key.start, row.end, "definition_list", term.heading_path[:-1], (row,))


def _name_before(text: str, key: Cell, extra: Cell) -> Cell:
    """The term as far as its first brackets, without marks of emphasis that end behind them."""
    bracket = text.rindex("(", key.start, extra.start)
    name = _stripped(text, key.start, bracket)
    emphasis = len(name.of(text)) - len(name.of(text).lstrip("*"))
    ended = name.of(text).endswith("*")
    return name if ended or emphasis == 0 else Cell(name.start + emphasis, name.end)


def _labelled(text: str, key: Cell) -> Iterator[Cell]:
    """What stands in brackets in a term: `(default: 450)` is a value with its label, `(integer)` one without."""
    for brackets in _LABELLED.finditer(text, key.start, key.end):
        start, end = brackets.span("inner")
        label = _LABEL.match(text, start, end)
        if label is not None:
            yield Cell(*label.span("value"), Cell(*label.span("label")))
        elif start > key.start + 1 and text[start - 2].isspace():  # not those of a call or a link
            cell = _stripped(text, start, end)
            if cell.end > cell.start:
                yield cell
