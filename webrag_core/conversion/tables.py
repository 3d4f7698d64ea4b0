"""Prepare tables for Markdown: layout tables become blocks, spanning cells are repeated in every place they span."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.code_text import code_text

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SECTIONS = ("thead", "tbody", "tfoot")
_NUMBER = re.compile(r"\s*(\d{1,9})")
_MAX_COLUMNS = 1_000  # what HTML lets a cell span
_HARMLESS_CLAIMS = 10_000  # places that spans may claim in any table
_CLAIMS_PER_CELL = 20  # more than these per real cell are not believed
_MAX_HEADER_ROWS = 4
_TO_THE_END = 65_534  # rows, of a cell that spans all rows below it: what HTML lets a cell span
_MAX_PLAIN_CHARS = 1_000  # of a cell: a longer one is better read as blocks
_MOST_CODE = 1 / 3  # of the cells of a table may hold several lines of code
_MAX_REPEATED_CHARS = 120  # a longer text is not repeated


def unwrap_layout_tables(main: HtmlElement) -> None:
    """Make plain blocks of tables that only place things: a Markdown cell is one line and would break what they hold.

    That is a table with headings, several lines of code or another table in it, of one cell, or without header
    cells around lists. A table whose columns are plain all the same stays: its few blocks of code follow it, each
    under the first cell of its row.
    """
    listings = []
    layouts = []  # judged before any is changed: an inner table is what makes the outer one layout
    for table in main.iter("table"):
        rows = _rows_of(table)
        cells = [cell for row in rows for cell in row.iterchildren("td", "th")]
        code = [pre for pre in table.iter("pre") if "\n" in code_text(pre).strip("\n")]
        if _is_layout(table, rows, cells, code):
            layouts.append((table, rows, cells))
        elif code:
            listings.append((table, code))
    for table, rows, cells in layouts:
        for element in (table, *table.iterchildren(*_SECTIONS, "caption", "colgroup"), *rows, *cells):
            element.tag = "div"
    for table, code in listings:
        _move_behind(table, code)


def _rows_of(table: HtmlElement) -> list[HtmlElement]:
    return [row for part in (table, *table.iterchildren(*_SECTIONS)) for row in part.findall("tr")]


def _is_layout(table: HtmlElement, rows: list[HtmlElement], cells: list[HtmlElement], code: list[HtmlElement]) -> bool:
    """`code`: the blocks of it in the table that have several lines."""
    if len(cells) == 1 or (table.get("role") or "").lower() in ("presentation", "none"):
        return True
    if table.find(".//table") is not None:
        return True
    headed = any(cell.tag == "th" for cell in cells)
    if code and not (headed and len(code) <= _MOST_CODE * len(cells) and _has_plain_columns(rows)):
        return True
    headings = list(table.iter(*_HEADINGS))
    if headings and not (all(map(_is_only_text, headings)) and _has_plain_columns(rows)):
        return True
    return not headed and next(table.iter("pre", "ul", "ol", "dl"), None) is not None


def _has_plain_columns(rows: list[HtmlElement]) -> bool:
    """Whether there are several rows, of two or more cells and the same width, with no long text or terms in them."""
    for row in rows:
        if next(row.iter("dl"), None) is not None or any(len(cell.text_content()) > _MAX_PLAIN_CHARS for cell in row):
            return False
    widths = {sum(min(_span(cell, "colspan"), _MAX_COLUMNS) for cell in row.iterchildren("td", "th")) for row in rows}
    return len(rows) > 1 and len(widths) == 1 and min(widths) > 1


def _is_only_text(heading: HtmlElement) -> bool:
    """Whether a heading is all that the cell of one column holds, or that cell is a header."""
    cell = next(heading.iterancestors("td", "th"), None)
    if cell is None or _span(cell, "colspan") > 1:  # in a caption, or over a part of the table
        return False
    return cell.tag == "th" or len(cell.text_content().split()) == len(heading.text_content().split())


def _move_behind(table: HtmlElement, code: list[HtmlElement]) -> None:
    """Move blocks of code behind their table, each under the first cell of its row."""
    place = table
    for pre in code:
        row = next(pre.iterancestors("tr"), None)
        first = next(row.iterchildren("td", "th"), None) if row is not None else None
        label = " ".join(first.text_content().split()) if first is not None and first not in pre.iterancestors() else ""
        pre.drop_tree()
        pre.tail = None
        if label:
            paragraph = lxml.html.Element("p")
            paragraph.text = label[:_MAX_REPEATED_CHARS]
            place.addnext(paragraph)
            place = paragraph
        place.addnext(pre)
        place = pre


def drop_false_spans(main: HtmlElement) -> None:
    """Take `colspan` and `rowspan` from the cells of tables whose cells claim far more places than there are cells."""
    for table in main.iter("table"):
        cells = list(table.iter("td", "th"))
        rows = sum(1 for _ in table.iter("tr"))
        claimed = sum(
            min(_span(cell, "colspan"), _MAX_COLUMNS) * min(_span(cell, "rowspan"), max(1, rows)) for cell in cells
        )
        if claimed > max(_HARMLESS_CLAIMS, _CLAIMS_PER_CELL * len(cells)):
            for cell in cells:
                cell.attrib.pop("colspan", None)
                cell.attrib.pop("rowspan", None)


def _span(cell: HtmlElement, name: str) -> int:
    number = _NUMBER.match(cell.get(name, ""))
    if number and name == "rowspan" and int(number[1]) == 0:
        return _TO_THE_END
    return max(1, int(number[1])) if number else 1


def flatten_tables(main: HtmlElement) -> None:
    """Give every row a cell per column, and every column one header, so that each row can be read alone.

    Header rows are joined per column ("Power min", "Power max"); a row above them that spans the whole table becomes a
    paragraph before it. Cells of the body are repeated where they span, but for long ones and for rows that are one
    single cell.
    """
    for table in list(main.iter("table")):
        rows = _grid(table)
        headers = _header_rows(table, rows)
        if headers < 2 and not any(cell.get("colspan") or cell.get("rowspan") for row in rows for cell in row.cells()):
            continue
        width = max(len(row.places) for row in rows)
        while headers > 1 and rows[0].is_single(width):
            _move_before(table, rows.pop(0))
            headers -= 1
        # a row further down that is one cell names a section of the body
        headers = next((n for n, row in enumerate(rows[:headers]) if n and row.is_single(width)), headers)
        if headers > 1:
            _join_headers(rows[:headers], width)
        elif headers == 1 and not rows[0].is_single(width):
            rows[0].repeat_cells()
        for row in rows[headers:]:
            if not row.is_single(width):
                row.repeat_cells()


def add_missing_headers(main: HtmlElement) -> None:
    """Put a row of empty headers over each table whose rows are named by their first cells, and its columns by nothing:
    Markdown would take its first row for the names of the columns. What spans such a table at its top stands before it.
    """
    for table in list(main.iter("table")):
        rows = _rows_of(table)
        cells = [list(row.iterchildren("td", "th")) for row in rows]
        first = next((number for number, row in enumerate(cells) if len(row) > 1), None)
        is_headed = table.find("thead/tr") is not None
        if is_headed or first is None or not all(_names_itself(row) for row in cells if len(row) > 1):
            continue
        for row in rows[:first]:
            _move_before(table, _Row(row, [(cell, True) for cell in row.iterchildren("td", "th")]))
        header = lxml.html.Element("tr")
        header.extend(lxml.html.Element("th") for _ in range(max(map(len, cells))))
        rows[first].addprevious(header)


def _names_itself(cells: list[HtmlElement]) -> bool:
    """Whether the first cell of a row is a header, and no other."""
    return cells[0].tag == "th" and all(cell.tag == "td" for cell in cells[1:])


@dataclass(slots=True)
class _Row:
    """A row of a table: the cell of each column, and whether the cell begins there."""

    element: HtmlElement
    places: list[tuple[HtmlElement | None, bool]]

    def cells(self) -> Iterator[HtmlElement]:
        return (cell for cell, begins in self.places if cell is not None and begins)

    def is_single(self, width: int) -> bool:
        """Whether the row is one cell across the table, or has no cell of its own."""
        cells = list(self.cells())
        return not cells or (len(cells) == 1 and all(cell is cells[0] for cell, _ in self.places) and width > 1)

    def repeat_cells(self) -> None:
        new = [_place(cell, begins) for cell, begins in self.places]
        self.element[:] = new
        for cell in new:
            cell.attrib.pop("colspan", None)
            cell.attrib.pop("rowspan", None)


def _grid(table: HtmlElement) -> list[_Row]:
    rows: list[_Row] = []
    for section in (table, *table.iterchildren(*_SECTIONS)):
        elements = section.findall("tr")
        hanging: dict[int, tuple[HtmlElement, int]] = {}  # column -> cell from above, rows that it still spans
        for number, element in enumerate(elements):
            row = _Row(element, [])
            cells = element.iterchildren("td", "th")
            cell = next(cells, None)
            while cell is not None or len(row.places) in hanging:
                column = len(row.places)
                if column in hanging:
                    above, left = hanging.pop(column)
                    row.places.append((above, False))
                    if left > 1:
                        hanging[column] = (above, left - 1)
                    continue
                assert cell is not None
                below = min(_span(cell, "rowspan"), len(elements) - number) - 1
                for place in range(min(_span(cell, "colspan"), _MAX_COLUMNS)):
                    if place and column + place in hanging:
                        break
                    row.places.append((cell, place == 0))
                    if below:
                        hanging[column + place] = (cell, below)
                cell = next(cells, None)
            if hanging and max(hanging) >= len(row.places):  # behind a gap
                for column in range(len(row.places), max(hanging) + 1):
                    above, left = hanging.pop(column, (None, 0))
                    row.places.append((above, False))
                    if above is not None and left > 1:
                        hanging[column] = (above, left - 1)
            rows.append(row)
    return rows


def _header_rows(table: HtmlElement, rows: list[_Row]) -> int:
    """How many rows at the top are headers; 0 where too many are, or all."""
    head = table.find("thead")
    if head is not None and len(rows) and rows[0].element.getparent() is head:
        count = len(head.findall("tr"))
    else:
        count = next((n for n, row in enumerate(rows) if any(cell.tag == "td" for cell in row.cells())), len(rows))
    if count == len(rows):
        count = min(count, 1)
    return count if count <= _MAX_HEADER_ROWS else 0


def _join_headers(rows: list[_Row], width: int) -> None:
    """Make one header row of several."""
    joined = []
    for column in range(width):
        header = lxml.html.HtmlElement()
        header.tag = "th"
        seen: list[str] = []
        for row in rows:
            cell, begins = row.places[column] if column < len(row.places) else (None, False)
            text = " ".join(cell.text_content().split()) if cell is not None else ""
            if cell is None or text in seen:
                continue
            seen.append(text)
            _append(header, _place(cell, begins))
        joined.append(header)
    rows[0].element[:] = joined
    for row in rows[1:]:
        row.element.drop_tree()


def _place(cell: HtmlElement | None, begins: bool) -> HtmlElement:
    """The cell itself where it begins; elsewhere a copy without links, or an empty cell if its text is long."""
    if cell is not None and begins:
        return cell
    if cell is None or len(cell.text_content()) > _MAX_REPEATED_CHARS:
        empty = lxml.html.HtmlElement()
        empty.tag = "td"
        return empty
    copy = deepcopy(cell)
    copy.tail = None
    etree.strip_tags(copy, "a", "img")
    return copy


def _append(header: HtmlElement, part: HtmlElement) -> None:
    """Move the content of a cell behind what `header` holds."""
    text = f"{' ' if header.text or len(header) else ''}{part.text or ''}"
    if len(header):
        header[-1].tail = (header[-1].tail or "") + text
    else:
        header.text = (header.text or "") + text
    header.extend(list(part))


def _move_before(table: HtmlElement, row: _Row) -> None:
    paragraph = lxml.html.HtmlElement()
    paragraph.tag = "p"
    for cell in row.cells():
        _append(paragraph, cell)
    table.addprevious(paragraph)
    row.element.drop_tree()
