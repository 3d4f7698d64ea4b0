"""A quote as people read it: line by line, without marks of Markdown; what answers and what only stands around it are
told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from webrag_core.answering.models import Highlight, SentenceCitation
from webrag_core.indexing.markdown import faithful_text
from webrag_core.indexing.unit_text import FENCE, IMAGE, LINE_MARKS
from webrag_core.page_text import one_line, visible

Part = Literal["around", "quote", "marked"]
_BORDERS: dict[Part, str] = {"around": "\ud801", "quote": "\ud802", "marked": "\ud803"}
"""Where a part begins: no stored text can hold a lone surrogate, and reading Markdown leaves them where they are."""
_PARTS: dict[str, Part] = {border: part for part, border in _BORDERS.items()}
_BORDER = re.compile(f"([{''.join(_PARTS)}])")
_ITEM = re.compile(r"[ \t]*(?:[:>][ \t]*)*([-*+]|\d{1,9}[.)])[ \t]+")
_CELL = re.compile(r"(?:(?<![ \t])[ \t]+)?(?<!\\)\|[ \t]*")
_LAST_CELL = re.compile(rf"(?:(?<![ \t])[ \t]+)?(?<!\\)\|([ \t{''.join(_PARTS)}]*)$")
_LEAD = re.compile(rf"^([{''.join(_PARTS)}]+)\s+")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a passage, in pieces; `item` is the mark of a list before it, "" for none."""

    pieces: tuple[tuple[Part, str], ...]
    item: str = ""
    code: bool = False

    @property
    def text(self) -> str:
        """The line as plain text."""
        return "".join(text for _, text in self.pieces)


def passage(citation: SentenceCitation, highlight: Highlight | None = None, *, around: bool = False) -> list[Line]:
    """The lines of a quote, blank ones left out; its words are marked, of a highlight its likeliest sentences. With
    what stands `around` it in its block."""
    return _lines(_parts(citation, highlight, around=around))


def plain_lines(markdown: str, marked: tuple[int, int] = (0, 0)) -> list[Line]:
    """The lines of a slice of a page, blank ones left out; the characters of the range `marked` are marked."""
    start, end = marked
    return _lines([("quote", markdown[:start]), ("marked", markdown[start:end]), ("quote", markdown[end:])])


def passage_line(markdown: str) -> str:
    """A slice of a page on one line, without marks of Markdown."""
    return one_line(" ".join(" ".join(filter(None, (line.item, line.text))) for line in plain_lines(markdown)))


def _lines(parts: Iterable[tuple[Part, str]]) -> list[Line]:
    text = "".join(
        # every line says of itself what it is part of
        _BORDERS[part] + words.replace("\n", f"\n{_BORDERS[part]}")
        for part, words in parts
        if words
    )
    lines = [
        Line(_visible(_pieces(row)), code=True) if is_code else _prose(row) for row, is_code in _rows(text.split("\n"))
    ]
    return _outdented([line for line in lines if line.text.strip()])


def in_runs(lines: Iterable[Line]) -> list[tuple[bool, list[Line]]]:
    """Lines of code that follow each other, and lines of prose."""
    return [(is_code, list(run)) for is_code, run in groupby(lines, key=lambda line: line.code)]


def _parts(citation: SentenceCitation, highlight: Highlight | None, *, around: bool) -> Iterator[tuple[Part, str]]:
    quote = citation.quote
    marks: Sequence[tuple[int, int]] = [(0, len(quote))] if highlight is None else sorted(highlight.marks)
    if around:
        yield "around", citation.before
    position = 0
    for start, end in marks:
        yield "quote", quote[position:start]
        yield "marked", quote[start:end]
        position = end
    yield "quote", quote[position:]
    if around:
        yield "around", citation.after


def _rows(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Lines of code, which are told apart, and of prose, a paragraph of several lines as one; no fences."""
    bare = [_BORDER.sub("", line) for line in lines]
    fences = {number for number, line in enumerate(bare) if FENCE.fullmatch(line)}
    in_code = len(fences) % 2 == 1 and _closes(bare, min(fences))  # it begins in the middle of code
    paragraph: list[str] = []
    for number, line in enumerate(lines):
        fence, blank = number in fences, not bare[number].strip()
        if paragraph and (fence or blank or _begins(bare[number]) or _ends(bare[number - 1])):
            yield "\n".join(paragraph), False
            paragraph = []
        if fence:
            in_code = not in_code
        elif in_code:
            yield line, True
        elif not blank:
            paragraph.append(line)
    if paragraph:
        yield "\n".join(paragraph), False


def _closes(bare: Sequence[str], fence: int) -> bool:
    """Whether a fence ends code: it names no language, and something stands before it."""
    return not bare[fence].strip(" \t`~") and any(line.strip() for line in bare[:fence])


def _begins(line: str) -> bool:
    """Whether a line begins something: a heading, an item, a definition, a quotation, a row."""
    marks = LINE_MARKS.match(line)
    return line.lstrip().startswith("|") or (marks is not None and bool(marks[0].strip()))


def _ends(line: str) -> bool:
    """Whether the next line begins something whatever it is."""
    return line.endswith(("  ", "\\")) or line.lstrip().startswith("#")


def _prose(row: str) -> Line:
    """A paragraph, an item, a heading or a row of a table; the rule below the header of a table is an empty line."""
    pieces = list(_pieces(row))
    raw = "".join(words for _, words in pieces)
    is_cells = raw.lstrip(" \t:>").startswith("|")
    if is_cells and _RULE.fullmatch(raw):
        return Line(())
    marks, item = LINE_MARKS.match(raw), _ITEM.match(raw)
    rest = "".join(_BORDERS[part] + words for part, words in _without(pieces, marks.end() if marks else 0))
    if is_cells:
        rest = _CELL.sub(" – ", _LAST_CELL.sub(r"\1", rest))
    bullet = "" if item is None or is_cells else "•" if item[1] in "-*+" else item[1]
    return Line(_visible(_pieces(_LEAD.sub(r"\1", faithful_text(IMAGE.sub("", rest))))), bullet)


def _pieces(row: str) -> Iterator[tuple[Part, str]]:
    """Words by part; the row begins with a border."""
    part: Part = "quote"
    for words in _BORDER.split(row):
        if words in _PARTS:
            part = _PARTS[words]
        elif words:
            yield part, words


def _without(pieces: Iterable[tuple[Part, str]], length: int) -> Iterator[tuple[Part, str]]:
    """The pieces without their first characters."""
    for part, words in pieces:
        if len(words) > length:
            yield part, words[length:]
        length = max(0, length - len(words))


def _visible(pieces: Iterable[tuple[Part, str]]) -> tuple[tuple[Part, str], ...]:
    return tuple((part, text) for part, words in pieces if (text := visible(words).replace("\n", " ")))


def _outdented(lines: list[Line]) -> list[Line]:
    """The lines, those of code without the blanks that all of them begin with."""
    code = [line.text for line in lines if line.code]
    indent = min((len(text) - len(text.lstrip()) for text in code), default=0)
    return [
        replace(line, pieces=tuple(_without(line.pieces, indent))) if line.code and indent else line for line in lines
    ]
