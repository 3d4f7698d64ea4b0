"""Tables that are written as boxes: rows and cells by their ARIA roles become a table of HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

TABLES = frozenset(("table", "grid", "treegrid"))
CELLS = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}
_NATIVE = {"table", "tr", "td", "th"}
_SPANS = (("aria-colspan", "colspan"), ("aria-rowspan", "rowspan"))


@dataclass(slots=True)
class _Row:
    box: HtmlElement
    cells: list[HtmlElement] = field(default_factory=list)


@dataclass(slots=True)
class _Table:
    box: HtmlElement
    rows: list[_Row] = field(default_factory=list)
    row: _Row | None = None  # the open one
    cell: HtmlElement | None = None  # the open one


def make_tables(boxes: Iterable[HtmlElement]) -> None:
    """Put a table in the place of the rows of each box of `boxes`, in the order of the page, whose role is a table's.

    What stands in a box beside its rows stays there, and what stands in a row beside its cells joins the last of them.
    Boxes with rows of one cell are none: they are lists.
    """
    seen: set[HtmlElement] = set()
    for box in boxes:
        if box.get("role") in TABLES and box not in seen:
            tables = _tables_in(box)
            seen.update(table.box for table in tables)
            for table in reversed(tables):  # the inner ones first
                if max((len(row.cells) for row in table.rows), default=0) > 1:
                    _write(table)


def _tables_in(outermost: HtmlElement) -> list[_Table]:
    """The tables of a box, in one walk: each row belongs to the innermost table around it, each cell to its row."""
    tables: list[_Table] = []
    opened: list[_Table] = []
    for event, box in etree.iterwalk(outermost, events=("start", "end")):
        role = box.get("role") if isinstance(box.tag, str) and box.tag not in _NATIVE else None
        if role is None:
            continue
        if role in TABLES:
            if event == "start":
                opened.append(_Table(box))
                tables.append(opened[-1])
            else:
                opened.pop()
        elif opened:
            _visit(opened[-1], event, box, role)
    return tables


def _visit(table: _Table, event: str, box: HtmlElement, role: str) -> None:
    if event == "start":
        if role == "row" and table.row is None:
            table.row = _Row(box)
            table.rows.append(table.row)
        elif role in CELLS and table.row is not None and table.cell is None:
            table.cell = box
            table.row.cells.append(box)
    elif box is table.cell:
        table.cell = None
    elif table.row is not None and box is table.row.box:
        table.row = None


def _write(table: _Table) -> None:
    rows = [row for row in table.rows if row.cells]
    made = lxml.html.Element("table")
    rows[0].box.addprevious(made)
    for row in rows:
        line = lxml.html.Element("tr")
        made.append(line)
        for cell in row.cells:
            cell.drop_tree()
            cell.tail = None
            cell.tag = CELLS[cell.get("role") or ""]
            for name, spans in _SPANS:
                if name in cell.attrib:
                    cell.set(spans, cell.attrib.pop(name))
            line.append(cell)
        row.box.drop_tree()
        row.box.tail = None
        if row.box.text_content().strip():
            row.box.tag = "div"
            line[-1].append(row.box)
