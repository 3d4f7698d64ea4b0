"""Cells that claim to span more than a table can hold: a converter that believes them writes every claimed cell."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_NUMBER = re.compile(r"\s*(\d{1,9})")
_MAX_COLUMNS = 1_000  # what HTML lets a cell span
_FEW = 10_000  # claimed cells that do no harm
_PER_CELL = 20  # claimed cells per real one, above which the claims are not believed


def drop_false_spans(main: HtmlElement) -> None:
    """Take `colspan` and `rowspan` from the cells of tables whose cells claim far more places than there are cells."""
    for table in main.iter("table"):
        cells = list(table.iter("td", "th"))
        rows = sum(1 for _ in table.iter("tr"))
        claimed = sum(
            min(_span(cell, "colspan"), _MAX_COLUMNS) * min(_span(cell, "rowspan"), max(1, rows)) for cell in cells
        )
        if claimed > max(_FEW, _PER_CELL * len(cells)):
            for cell in cells:
                cell.attrib.pop("colspan", None)
                cell.attrib.pop("rowspan", None)


def _span(cell: HtmlElement, name: str) -> int:
    number = _NUMBER.match(cell.get(name, ""))
    return max(1, int(number[1])) if number else 1
