"""Cut plain text into pieces: paragraphs, list items, titles, short lines that may be terms, and what is laid out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from webrag_core.conversion.plain_text.reading import (
    consists_of_words,
    ends_sentence,
    is_filled,
    is_sentence,
    marks_of_code,
    reads_as_text,
)

_RULE = re.compile(r"([-=~^*_#+\"'`.])\1{2,}")
_ITEM = re.compile(
    r"(?P<bullet>[-*+•·‣–]|o(?=\s{2}))\s+(?=\S)|(?P<number>\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])\s+(?=\S)"
)
_NUMBERED = re.compile(
    r"(?:(?:appendix|chapter|section|part|annex)\s+)?(?P<number>\d{1,3}(?:\.\d{1,3})*|[A-Z](?:\.\d{1,3})+|(?<=\s)[A-Z])"
    r"(?P<dot>[.:)]?)\s+(?P<title>\S.*)",
    re.IGNORECASE,
)
_OUTLINE = re.compile(r"(\*{1,5}) +(\S.*)")
_GAP = re.compile(r"(\S{1,24}|[-+<\[]\S*(?: \S+){0,4}|(?:[^\s:]{1,24} ){1,3}[^\s:]{1,24}:)\s{2,}(?=\S)")
_WIDE_GAP = re.compile(r"\S {4,}\S")
_NUMBERED_LINE = re.compile(r"^\S*\d")
_NAME = re.compile(r"(?:<[^<>\n]{1,40}>|[-+\"'\[(%$\\]\S{0,40}|\S{1,24}:) (?=\S)")
_PAIR = re.compile(r"\S+(?: \S+){0,3}\s+(?::|=|--?|–|—)\s+\S")
_INNER_GAP = re.compile(r"[^\s.!?:] {3,}\S")
_CONTENTS = re.compile(r"(?:\d{1,3}\.)+\d*\s{2,}\S|.*(?:\. ?){4,}\s*\d+$|(?:\d{1,3}\.)+\d+\.?\s")
_LEADERS = re.compile(r"(?<!\.)(?<!\. )(?:\. ?){4,}\s*\d*$|(?<!\s)\s{2,}\d+$")
_COMMENT = re.compile(r"#|//|--(?!\w)|;|%|/\*|\*/|<!|\"\"\"|'''|dnl\b|rem\b|\.\\\"|[>|$]", re.IGNORECASE)
_SIGNATURE = re.compile(r"-- \S.{0,80}<\S+@\S+>")
_OPTION = re.compile(r"[-+]{1,2}[\w?#@]|/\w\b|<\w")
_MANUAL = re.compile(r"(?P<name>[\w.:+-]{1,40}\(\w{1,6}\))\s{2,}(?:(?P<book>\S.{0,80}?)\s{2,})?(?P=name)")
_MAX_MARKER = 5  # columns
_MAX_TITLE = 90
_MAX_TERM = 100
_MAX_TERMS = 6  # lines
_MIN_EDGE = 40
_MAX_EDGE = 140
_FRONT_BLOCKS = 8  # in which the title of a text stands
_OFF_CENTRE = 8  # columns
_STRAY = 2  # lines that stand further left than the text without being its edge
_FULL = 0.72  # of the edge: a line that long may run on


class Kind(Enum):
    """What a piece is."""

    TEXT = "text"
    ITEM = "item"
    TITLE = "title"
    SHORT = "short"
    LAYOUT = "layout"


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines [start, end) of a text, the first of them at column `indent`.

    `lines` are their texts without indentation, marker or rule; `level` is 1 or more of a title, `marker` that of an
    item.
    """

    kind: Kind
    start: int
    end: int
    indent: int
    lines: tuple[str, ...]
    level: int = 0
    marker: str = ""


class Layout:
    """The lines of a text with tabs as blanks: where they begin, and its right edge."""

    def __init__(self, lines: Sequence[str | None]) -> None:
        self.lines = [None if line is None else line.expandtabs().rstrip() for line in lines]
        self._indents = [len(line) - len(line.lstrip()) if line else 0 for line in self.lines]
        widths = sorted(len(line) for line in self.lines if line and len(line) <= _MAX_EDGE)
        self.edge = max(_MIN_EDGE, widths[-1 - len(widths) // 20]) if widths else _MIN_EDGE
        indents = Counter(indent for indent, line in zip(self._indents, self.lines, strict=True) if line)
        self.base = min(
            (indent for indent, lines in indents.items() if lines > _STRAY), default=min(indents, default=0)
        )
        self.has_outline = any(line and line.startswith("** ") for line in self.lines)

    def indent(self, number: int) -> int:
        """The column at which a line that is not blank begins."""
        return self._indents[number]

    def text(self, number: int) -> str:
        """A line without its indentation."""
        return (self.lines[number] or "")[self._indents[number] :]

    def blocks(self) -> Iterator[list[int]]:
        """Numbers of lines that follow each other without a blank line; a page break within a paragraph is none."""
        block: list[int] = []
        for number, line in enumerate(self.lines):
            if line:
                block.append(number)
            elif line is not None and block:
                yield block
                block = []
        if block:
            yield block


def cut_pieces(layout: Layout) -> list[Piece]:
    """The pieces of a text in order."""
    pieces: list[Piece] = []
    is_titled = False
    for number, block in enumerate(layout.blocks()):
        if number < _FRONT_BLOCKS and not is_titled and (title := _title_of_text(layout, block)):
            pieces += title
            is_titled = True
        else:
            pieces += _of_block(layout, block, pieces)
    return pieces


def _title_of_text(layout: Layout, block: list[int]) -> list[Piece]:
    """The title that stands centred above a text, or as the head of a page of a manual, and what stands under it."""
    first, indent = layout.text(block[0]), layout.indent(block[0])
    if (manual := _MANUAL.fullmatch(first)) is not None:
        name = f"{manual['name']} {manual['book'] or ''}".rstrip()
        return [Piece(Kind.TITLE, block[0], block[0] + 1, indent, (name,)), *_rest(layout, block[1:])]
    centre = [2 * layout.indent(number) + len(layout.text(number)) - layout.edge for number in block]
    if max(map(abs, centre)) > 2 * _OFF_CENTRE or min(map(layout.indent, block)) < layout.base + _OFF_CENTRE:
        return []
    words = [(number, layout.text(number)) for number in block if not _RULE.fullmatch(layout.text(number))]
    if not words or len(block) > _FRONT_BLOCKS or marks_of_code(" ".join(text for _, text in words)):
        return []
    rules = [number for number in block if _RULE.fullmatch(layout.text(number))]
    last = rules[1] if len(rules) > 1 else rules[0] if rules and rules[0] != block[0] else block[-1]
    title = tuple(text for number, text in words if number <= last)[:3]
    rest = [number for number, _ in words][len(title) :]
    return [Piece(Kind.TITLE, block[0], block[-1] + 1, indent, (" ".join(title),)), *_rest(layout, rest)]


def _rest(layout: Layout, numbers: Sequence[int]) -> list[Piece]:
    return [Piece(Kind.TEXT, n, n + 1, layout.base, (layout.text(n),)) for n in numbers]


def _of_block(layout: Layout, block: list[int], before: Sequence[Piece]) -> list[Piece]:
    if (
        len(block) > 3
        and sum(_CONTENTS.match(layout.text(number)[:_MAX_EDGE]) is not None for number in block) > len(block) // 2
    ):
        return [_laid_out(layout, block)]
    pieces: list[Piece] = []
    at = 0
    while at < len(block):
        title = _title(layout, block, at, pieces or before)
        if title is not None:
            pieces.append(title[0])
            at += title[1]
            continue
        group = [block[at]]
        at += 1
        while at < len(block) and _goes_on(layout, group, block[at], block[at + 1] if at + 1 < len(block) else None):
            group.append(block[at])
            at += 1
        pieces += _classified(layout, group, block[at] if at < len(block) else None, pieces or before)
    pieces = _with_options(pieces)
    if _is_readable(pieces):
        return pieces
    if len(pieces) > 1 and pieces[0].kind is Kind.TITLE:
        return [pieces[0], _laid_out(layout, [number for number in block if number >= pieces[0].end])]
    if (
        len(pieces) > 1
        and pieces[0].kind is Kind.SHORT
        and len(pieces[0].lines) == 1
        and pieces[0].lines[0].endswith(":")
    ):
        return [pieces[0], _laid_out(layout, block[1:])]  # what announces code
    return [_laid_out(layout, block)]


def _with_options(pieces: list[Piece]) -> list[Piece]:
    """The pieces of a block, with what stands below an option, or as a sentence below a term, as its text."""
    for number in range(1, len(pieces)):
        option, piece = pieces[number - 1], pieces[number]
        if {piece.kind, option.kind} != {Kind.SHORT} or piece.indent <= option.indent + 1:
            continue
        text = " ".join(piece.lines)
        if is_option(option):
            is_text = not _OPTION.match(text) and marks_of_code(text) <= 2 * len(piece.lines)
        else:
            is_text = number == 1 and text[0].isupper() and ends_sentence(text) and consists_of_words(text)
        if is_text:
            pieces[number] = replace(piece, kind=Kind.TEXT)
    return pieces


def is_option(piece: Piece) -> bool:
    """Whether a piece is the name of an option, or names: -v, --verbose=LEVEL, /Q, <number>."""
    return piece.kind is Kind.SHORT and all(_OPTION.match(line) for line in piece.lines)


def _laid_out(layout: Layout, block: Sequence[int]) -> Piece:
    lines = tuple(layout.text(number) for number in block)
    indent = min(layout.indent(number) for number in block)
    return Piece(Kind.LAYOUT, block[0], block[-1] + 1, indent, lines)


def _is_readable(pieces: Sequence[Piece]) -> bool:
    """Whether most lines of a block without blank lines are text: code with a few comments stays whole."""
    good = bad = 0
    for number, piece in enumerate(pieces):
        following = pieces[number + 1] if number + 1 < len(pieces) else None
        size = len(piece.lines)
        if piece.kind in (Kind.TEXT, Kind.TITLE) or (piece.kind is Kind.ITEM and marks_of_code(piece.lines[0]) < 3):
            good += size
        elif piece.kind is Kind.SHORT and following is not None and following.indent > piece.indent:
            good += size if following.kind in (Kind.TEXT, Kind.ITEM) else 0
            bad += 0 if following.kind in (Kind.TEXT, Kind.ITEM) else size
        elif piece.kind is Kind.SHORT and size == 1 and marks_of_code(piece.lines[0]) == 0:
            good += 0 if len(pieces) > 1 else 1
        else:
            bad += size
    return good >= bad or len(pieces) == 1


def _title(layout: Layout, block: list[int], at: int, before: Sequence[Piece]) -> tuple[Piece, int] | None:
    """(the title that begins at a line of a block, its lines), or None."""
    left = len(block) - at
    number = block[at]
    text = layout.text(number)
    if at and before[-1].kind is not Kind.TITLE:
        return _outline(layout, number, text)
    over = 1 if _RULE.fullmatch(text) and left > 2 else 0
    titled = number if not over else block[at + 1]
    # a title between two rules may take several lines
    end = next((i for i in range(at + over + 1, min(at + over + (4 if over else 2), len(block)))
                if _RULE.fullmatch(layout.text(block[i]))), None)  # fmt: skip
    if end is not None and not _RULE.fullmatch(layout.text(titled)):
        texts = [layout.text(i) for i in block[at + over : end]]
        width, rule = max(map(len, texts)), len(layout.text(block[end]))
        if width <= _MAX_TITLE and (over or rule >= width - 3) and rule <= 2 * width + 8:
            title = " ".join(texts)
            piece = Piece(Kind.TITLE, number, block[end] + 1, layout.indent(titled), (title,), _depth(title) or 1)
            return piece, end - at + 1
    if (outline := _outline(layout, number, text)) is not None:
        return outline
    if len(text) > _MAX_TITLE or _LEADERS.search(text):
        return None
    alone = left == 1
    deeper = not alone and layout.indent(block[at + 1]) > layout.indent(number)
    if not (alone or deeper) or layout.indent(number) > layout.base + 1:
        return None
    depth = _depth(text)
    if depth and text[-1] not in ".,;:" and alone and marks_of_code(text) < 2:
        return Piece(Kind.TITLE, number, number + 1, layout.indent(number), (text,), depth), 1
    if text.isupper() and sum(map(str.isalpha, text)) >= 3 and marks_of_code(text) == 0 and text[-1] not in ".,;":
        return Piece(Kind.TITLE, number, number + 1, layout.indent(number), (text.rstrip(":"),), 1), 1
    return None


def _outline(layout: Layout, number: int, text: str) -> tuple[Piece, int] | None:
    if not layout.has_outline or layout.indent(number) or len(text) > _MAX_TITLE:
        return None
    outline = _OUTLINE.fullmatch(text)
    return outline and (Piece(Kind.TITLE, number, number + 1, 0, (outline[2],), len(outline[1])), 1)


def _depth(text: str) -> int:
    """The depth that the number of a title states, 0 for none."""
    numbered = _NUMBERED.fullmatch(text)
    if numbered is None or not numbered["title"][0].isalpha():
        return 0
    return numbered["number"].count(".") + 1


def _goes_on(layout: Layout, group: list[int], number: int, following: int | None) -> bool:
    """Whether a line continues the piece of the lines before it."""
    first, previous = layout.text(group[0]), layout.text(group[-1])
    text, indent, start = layout.text(number), layout.indent(number), layout.indent(group[0])
    if _RULE.fullmatch(text) or _RULE.fullmatch(previous):
        return False
    if layout.has_outline and indent == 0 and _OUTLINE.fullmatch(text):
        return False
    item = _item(first)
    if (marker := _item(text)) is not None and _begins_item(layout, group, item, marker, indent):
        return False
    is_full = len(layout.lines[group[-1]] or "") >= _FULL * layout.edge
    column = _gap_column(layout, group[0]) if item is None else 0
    if column and _is_row(layout, group[-1], start, column) and _is_row(layout, number, start, column):
        return True
    if len(group) > 1:
        return indent == layout.indent(group[-1]) or (is_full and abs(indent - layout.indent(group[-1])) == 1)
    if item is not None:
        column = start + item.end()
        return abs(indent - column) <= 1 or (is_full and start <= indent and not ends_sentence(previous))
    if indent == start:
        return not (_gap_column(layout, group[0]) or _gap_column(layout, number)) or is_full
    if indent > start:
        return column == indent or (
            is_full and reads_as_text(first) and is_filled((layout.lines[group[0]] or "", text), layout.edge)
        )
    # the first line of a paragraph is indented in books
    return (
        start - indent <= 8 and is_full and reads_as_text(first) and not ends_sentence(first) and not text[:1].isupper()
    )


def _item(line: str) -> re.Match[str] | None:
    """The marker with which a line begins; a star far from a single word is a pattern in a table."""
    marker = _ITEM.match(line)
    if marker is None or (marker.end() > _MAX_MARKER and len(line[marker.end() :].split(None, 1)) < 2):
        return None
    return marker


def _begins_item(
    layout: Layout, group: list[int], item: re.Match[str] | None, marker: re.Match[str], indent: int
) -> bool:
    if item is not None:
        return True
    previous = layout.lines[group[-1]] or ""
    if marker["bullet"] is not None:
        return ends_sentence(previous) or indent != layout.indent(group[-1]) or len(previous) < _FULL * layout.edge
    return ends_sentence(previous)


def _is_row(layout: Layout, number: int, start: int, column: int) -> bool:
    """Whether a line is a term at `start` with its text at `column`, or goes on with such a text."""
    indent = layout.indent(number)
    return indent == column or (indent == start and _gap_column(layout, number) == column)


def _gap_column(layout: Layout, number: int) -> int:
    """The column of what stands behind a term on the same line, with two blanks at least between; 0 for none."""
    if (match := _GAP.match(layout.text(number))) is not None:
        return layout.indent(number) + match.end()
    column = _name_column(layout, number)
    near = (near for near in (number - 1, number + 1) if 0 <= near < len(layout.lines) and layout.lines[near])
    return column if column and any(layout.indent(other) == column for other in near) else 0


def _name_column(layout: Layout, number: int) -> int:
    """The column behind a name that is as long as the widest one, so that one blank is left; 0 for none."""
    match = _NAME.match(layout.text(number))
    return layout.indent(number) + match.end() if match else 0


def _classified(layout: Layout, group: list[int], following: int | None, before: Sequence[Piece]) -> list[Piece]:
    """The pieces that lines of a block make: one, or a term and the text on its line."""
    lines = tuple(layout.text(number) for number in group)
    indent, start, end = layout.indent(group[0]), group[0], group[-1] + 1
    marker = _item(lines[0])
    if marker is not None:
        bodies = (lines[0][marker.end() :], *lines[1:])
        if len(group) <= 2 or _flows(layout, group, bodies):
            return [Piece(Kind.ITEM, start, end, indent, bodies, marker=marker[0].strip())]
        return [Piece(Kind.LAYOUT, start, end, indent, lines)]
    if _hangs(layout, group, following, before):
        return _rows(layout, group)
    if _is_table(lines):
        return [Piece(Kind.LAYOUT, start, end, min(map(layout.indent, group)), lines)]
    if 2 * sum(_COMMENT.match(line) is not None and not _SIGNATURE.match(line) for line in lines) >= len(lines):
        return [Piece(Kind.LAYOUT, start, end, min(map(layout.indent, group)), lines)]
    if len(lines) == 1:
        is_text = is_sentence(lines[0]) or (
            reads_as_text(lines[0])
            and (indent > layout.base or len(lines[0]) > _FULL * layout.edge)
            and (len(lines[0]) > _FULL * layout.edge or (lines[0][0].isupper() and marks_of_code(lines[0]) == 0))
        )
        return [Piece(Kind.TEXT if is_text else Kind.SHORT, start, end, indent, lines)]
    if _flows(layout, group, lines) and reads_as_text(" ".join(lines)[:2000]):
        return [Piece(Kind.TEXT, start, end, indent if len(group) == 1 else layout.indent(group[1]), lines)]
    if all(_PAIR.match(line) for line in lines) and len(set(map(layout.indent, group))) == 1:
        return [Piece(Kind.ITEM, n, n + 1, indent, (layout.text(n),), marker="-") for n in group]
    if all(is_sentence(line) for line in lines):
        return [Piece(Kind.TEXT, number, number + 1, layout.indent(number), (layout.text(number),)) for number in group]
    is_short = len(lines) <= _MAX_TERMS and max(map(len, lines)) <= _MAX_TERM
    return [Piece(Kind.SHORT if is_short else Kind.LAYOUT, start, end, indent, lines)]


def _hangs(layout: Layout, group: list[int], following: int | None, before: Sequence[Piece]) -> bool:
    """Whether lines are terms with a text behind each; its other lines, or those of its neighbours, begin below it."""
    column = _gap_column(layout, group[0]) or (_name_column(layout, group[0]) if len(group) == 1 else 0)
    if not column:
        return False
    texts = [(layout.lines[number] or "")[column:] for number in group]
    if sum(_INNER_GAP.search(text) is not None for text in texts) > len(texts) // 4 or marks_of_code(
        " ".join(texts)
    ) > 2 * len(texts):
        return False
    if len(group) > 1:
        return all(_is_row(layout, number, layout.indent(group[0]), column) for number in group)
    if following is None:
        following = next(
            (n for n in range(group[0] + 2, min(group[0] + 4, len(layout.lines))) if layout.lines[n]), None
        )
    if following is not None and _is_row(layout, following, layout.indent(group[0]), column):
        return True
    return any(piece.indent == column and piece.kind is Kind.TEXT for piece in before[-3:])


def _is_table(lines: Sequence[str]) -> bool:
    """Whether lines are those of a table or a log: most have wide gaps, or begin with a number or time."""
    return any(
        len(lines) >= least and 5 * sum(pattern.search(line, 0) is not None for line in lines) >= 3 * len(lines)
        for pattern, least in ((_WIDE_GAP, 2), (_NUMBERED_LINE, 3))
    )


def _rows(layout: Layout, group: list[int]) -> list[Piece]:
    """The terms and texts of lines that hang."""
    start, column = layout.indent(group[0]), _gap_column(layout, group[0]) or _name_column(layout, group[0])
    pieces: list[Piece] = []
    for number in group:
        line = layout.lines[number] or ""
        if layout.indent(number) == start:
            pieces.append(Piece(Kind.SHORT, number, number + 1, start, (line[start:column].rstrip(),)))
            pieces.append(Piece(Kind.TEXT, number, number + 1, column, (line[column:],)))
        else:
            last = pieces[-1]
            pieces[-1] = Piece(Kind.TEXT, last.start, number + 1, column, (*last.lines, line[column:]))
    return pieces


def _flows(layout: Layout, group: list[int], lines: Sequence[str]) -> bool:
    """Whether lines were wrapped at an edge, or run on in the middle of sentences."""
    if len(lines) == 1:
        return True
    full = [layout.lines[number] or "" for number in group]
    widest = max(map(len, full))
    if (widest >= _FULL * layout.edge or len(full) > 3) and is_filled(full, widest):
        return True
    going_on = sum(
        after[:1].islower() and 2 * len(line) > layout.edge and line[-1] not in ";{})"
        for line, after in pairwise(lines)
    )
    return going_on >= 0.6 * (len(lines) - 1)
