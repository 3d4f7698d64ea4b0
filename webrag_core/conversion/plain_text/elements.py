"""Build HTML out of the pieces of a plain text: headings, paragraphs, lists, definition lists, else <pre>."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.plain_text.joining import LineJoiner
from webrag_core.conversion.plain_text.pieces import Kind, Layout, Piece, is_option
from webrag_core.conversion.plain_text.reading import ends_sentence, is_sentence, marks_of_code, reads_as_text

_MAX_DEPTH = 5  # lists and terms in each other; what stands deeper becomes paragraphs
_MAX_REACH = 24  # columns between a term and its text
_LONG_BODY = 4  # lines: entries that are longer on average have a heading each
_DEEPEST = 6
_NUMBER = re.compile(r"(?<!\d)\d+(?=[.)]$)")
_TITLE = re.compile(r"[^\W_][^\s].{0,80}[^\s.,;:]", re.DOTALL)


class TextElements:
    """The elements of one text. `anchors` are ids by the line before which they stand, `level` that of the heading
    that the text stands under, 0 for none."""

    def __init__(
        self, layout: Layout, pieces: Sequence[Piece], anchors: Mapping[int, Sequence[str]], *, level: int = 0
    ) -> None:
        self._layout = layout
        self._pieces = pieces
        self._joiner = LineJoiner(layout.lines)
        self._anchors = sorted(anchors.items())
        self._next_anchor = 0
        self._outer = level
        self._title_level = 0
        self._margin = self._left_margin()
        self._is_headed = self._has_long_entries()

    def build(self) -> HtmlElement:
        """A <div> with all of them."""
        box = _new("div")
        self._fill(box, 0, -1, 0)
        return box

    def _fill(self, parent: HtmlElement, at: int, floor: int, depth: int) -> int:
        """Add the pieces from `at` on that begin right of the column `floor`; returns the number of the next one."""
        margin: int | None = None  # where the text of this place begins
        while at < len(self._pieces) and self._pieces[at].indent > floor:
            piece = self._pieces[at]
            if depth == 0 and (piece.kind is Kind.TITLE or self._is_title(at)):
                is_inner = piece.kind is not Kind.TITLE and piece.indent > self._layout.base
                level = piece.level if piece.kind is Kind.TITLE else self._title_level + 1 if is_inner else 1
                self._heading(parent, piece, level, keeps=is_inner)
                margin = None
                at += 1
            elif self._is_term(at) and depth < _MAX_DEPTH:
                margin = piece.indent if margin is None else min(margin, piece.indent)
                if depth == 0 and self._is_headed and self._is_entry(at):
                    self._heading(parent, piece, self._title_level + 1, keeps=True)
                    at = self._fill(parent, at + 1, piece.indent, 1)
                else:
                    at = self._definitions(parent, at, depth)
            elif piece.kind is Kind.ITEM and depth < _MAX_DEPTH:
                at = self._items(parent, at, depth)
            elif piece.kind in (Kind.TEXT, Kind.TITLE, Kind.ITEM):
                margin = piece.indent if margin is None else min(margin, piece.indent)
                self._paragraph(parent, piece)
                at += 1
            elif not self._is_code(piece, margin):
                self._paragraph(parent, piece)
                at += 1
            else:
                at = self._preformatted(parent, at, floor, margin)
        return at

    def _is_term(self, at: int) -> bool:
        """Whether a piece is a term, or several, with text below it that begins further right."""
        piece = self._pieces[at]
        if piece.kind is not Kind.SHORT or at + 1 == len(self._pieces):
            return False
        following = self._pieces[at + 1]
        if not 0 < following.indent - piece.indent <= _MAX_REACH:
            return False
        is_text = following.kind is Kind.TEXT or (
            following.kind is Kind.ITEM and reads_as_text(" ".join(following.lines))
        )
        if following.start <= piece.end:
            return is_text or (is_option(piece) and following.kind is not Kind.LAYOUT)
        if len(piece.lines) > 1 or ends_sentence(piece.lines[0]) or piece.lines[0].endswith(","):
            return False
        if piece.indent == self._layout.base:  # what was released, with its version: the items below are short
            return following.kind in (Kind.TEXT, Kind.ITEM) and marks_of_code(piece.lines[0]) < 3
        return is_text and marks_of_code(piece.lines[0]) < 2

    def _is_entry(self, at: int) -> bool:
        """Whether a term may be a heading: it stands at the left edge of the text, on lines of its own."""
        piece = self._pieces[at]
        is_label = piece.lines[-1].endswith(":")
        return piece.indent == self._layout.base and self._pieces[at + 1].start > piece.start and not is_label

    def _is_title(self, at: int) -> bool:
        """Whether a short line is a title because all text stands further right than it does."""
        piece = self._pieces[at]
        return (
            piece.kind is Kind.SHORT
            and piece.indent < self._margin
            and 0 < at < len(self._pieces) - 1
            and self._pieces[at - 1].end < piece.start
            and self._pieces[at + 1].indent > piece.indent
            and len(piece.lines) == 1
            and _TITLE.fullmatch(piece.lines[0]) is not None
        )

    def _is_code(self, piece: Piece, margin: int | None) -> bool:
        """Whether a piece that is no sentence keeps its lines: it stands further right than text, or has signs."""
        if piece.kind is Kind.LAYOUT or len(piece.lines) > 1:
            return True
        if margin is not None and piece.indent > margin + 1:
            return not is_sentence(piece.lines[0])
        return marks_of_code(piece.lines[0]) > 2

    def _left_margin(self) -> int:
        """The column at which the paragraphs begin that stand furthest to the left, a few stray ones aside."""
        indents = sorted(piece.indent for piece in self._pieces if piece.kind is Kind.TEXT and len(piece.lines) > 1)
        return indents[len(indents) // 20] if indents else 0

    def _has_long_entries(self) -> bool:
        """Whether what stands below terms at the left edge takes more than a few lines on average."""
        entries = lines = 0
        at = 0
        while at < len(self._pieces):
            if not self._is_term(at) or not self._is_entry(at):
                at += 1
                continue
            indent, start = self._pieces[at].indent, self._pieces[at].end
            at += 1
            while at < len(self._pieces) and self._pieces[at].indent > indent:
                at += 1
            entries += 1
            lines += self._pieces[at - 1].end - start
        return lines > _LONG_BODY * entries

    def _heading(self, parent: HtmlElement, piece: Piece, level: int, *, keeps: bool = False) -> None:
        if not level:  # the title of the text: all others stand under it
            self._outer += 1
        elif not keeps:
            self._title_level = level
        heading = etree.SubElement(parent, f"h{min(self._outer + level, _DEEPEST)}")
        self._write(heading, piece, ", ".join(self._terms(piece)))

    def _terms(self, piece: Piece) -> list[str]:
        """The names on the lines of a piece; a parenthesis that runs over a line end is one with its name."""
        terms: list[list[str]] = []
        for line in piece.lines:
            if terms and sum(part.count("(") - part.count(")") for part in terms[-1]) > 0:
                terms[-1].append(line)
            else:
                terms.append([line])
        return [self._joiner.join(parts).rstrip(",") for parts in terms]

    def _paragraph(self, parent: HtmlElement, piece: Piece) -> None:
        text = self._joiner.join(piece.lines)
        self._skip_anchors(piece)
        etree.SubElement(parent, "p").text = f"{piece.marker} {text}" if piece.marker else text

    def _definitions(self, parent: HtmlElement, at: int, depth: int) -> int:
        """Add a definition list of the terms that follow each other at one column."""
        indent = self._pieces[at].indent
        entries = etree.SubElement(parent, "dl")
        while at < len(self._pieces) and self._pieces[at].indent == indent and self._is_term(at):
            for line in self._terms(self._pieces[at]):
                self._write(etree.SubElement(entries, "dt"), self._pieces[at], line)
            at = self._fill(etree.SubElement(entries, "dd"), at + 1, indent, depth + 1)
        return at

    def _items(self, parent: HtmlElement, at: int, depth: int) -> int:
        """Add a list of the items that follow each other at one column."""
        first = self._pieces[at]
        ordered = _NUMBER.search(first.marker) is not None
        items = etree.SubElement(parent, "ol" if ordered else "ul")
        while at < len(self._pieces):
            piece = self._pieces[at]
            number = _NUMBER.search(piece.marker)
            if piece.kind is not Kind.ITEM or piece.indent != first.indent or (number is not None) != ordered:
                break
            self._skip_anchors(piece)
            item = etree.SubElement(items, "li")
            text = self._joiner.join(piece.lines)
            item.text = text if ordered or not piece.marker[-1].isascii() or not piece.marker[0].isalnum() else (
                text if piece.marker == "o" else f"{piece.marker} {text}")  # fmt: skip
            if number is not None:
                item.set("value", number[0])
            at = self._fill(item, at + 1, piece.indent, depth + 1)
        return at

    def _preformatted(self, parent: HtmlElement, at: int, floor: int, margin: int | None) -> int:
        """Add lines as they stand, up to the next text."""
        start, end = self._pieces[at].start, self._pieces[at].end
        self._skip_anchors(self._pieces[at])
        at += 1
        while at < len(self._pieces):
            piece = self._pieces[at]
            if piece.indent <= floor or piece.kind not in (Kind.LAYOUT, Kind.SHORT):
                break
            if self._is_term(at) or not self._is_code(piece, margin):
                break
            end = piece.end
            at += 1
        lines = [line or "" for line in self._layout.lines[start:end] if line is not None]
        etree.SubElement(parent, "pre").text = textwrap.dedent("\n".join(lines))
        return at

    def _write(self, element: HtmlElement, piece: Piece, text: str) -> None:
        """Give a heading or term its text and the ids that stand before it."""
        element.text = text
        for name in self._anchors_up_to(piece):
            mark = etree.SubElement(element, "a")
            mark.set("id", name)

    def _skip_anchors(self, piece: Piece) -> None:
        for _ in self._anchors_up_to(piece):
            pass

    def _anchors_up_to(self, piece: Piece) -> Sequence[str]:
        names: list[str] = []
        while self._next_anchor < len(self._anchors) and self._anchors[self._next_anchor][0] < piece.end:
            names += self._anchors[self._next_anchor][1]
            self._next_anchor += 1
        return names


def _new(tag: str) -> HtmlElement:
    element = HtmlElement()
    element.tag = tag
    return element
