"""Spreadsheets to HTML: a heading and a table for each sheet, with what the cells show.

Formulas are not computed: their last values stand in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from html import escape

from lxml.etree import _Element as Element

from webrag_core.conversion.office.merged_cells import Merged, column_number, merged_table, merges_of
from webrag_core.conversion.office.number_formats import BUILT_IN, GENERAL, shown
from webrag_core.conversion.office.package import Package, html_page
from webrag_core.errors import FetchError, Reason

MAX_CELLS = 200_000
MAX_COLUMNS = 512

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")


def xlsx_html(package: Package) -> bytes:
    """Convert a workbook; hidden sheets, charts and macros are left out. Raises FetchError."""
    name = "xl/workbook.xml"
    targets = package.targets(name)
    workbook = package.xml(name)
    properties = workbook.find(f"{_S}workbookPr")
    since_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    reader = _Reader(_shared_strings(package), _formats(package), since_1904)
    pieces = []
    for sheet in workbook.iter(f"{_S}sheet"):
        part = targets.get(sheet.get(f"{_R}id") or "", "")
        if sheet.get("state", "visible") != "visible" or part not in package:
            continue
        table = reader.table(package.xml(part), package.targets(part))
        if table:
            pieces.append(f"<h2>{escape(sheet.get('name') or '')}</h2>{table}")
    return html_page("".join(pieces), package.core_properties())


def _shared_strings(package: Package) -> list[str]:
    if "xl/sharedStrings.xml" not in package:
        return []
    return [_text(each) for each in package.xml("xl/sharedStrings.xml").iter(f"{_S}si")]


def _text(element: Element) -> str:
    """Text of a string; readings of characters are left out."""
    return "".join(
        each.text or "" for each in element.iter(f"{_S}t") if (p := each.getparent()) is None or p.tag != f"{_S}rPh"
    )


def _formats(package: Package) -> list[str]:
    """The format code of each style of a cell."""
    if "xl/styles.xml" not in package:
        return []
    styles = package.xml("xl/styles.xml")
    codes = {each.get("numFmtId"): each.get("formatCode") or "" for each in styles.iter(f"{_S}numFmt")}
    results = []
    for each in styles.iterfind(f"{_S}cellXfs/{_S}xf"):
        identity = each.get("numFmtId") or "0"
        built_in = BUILT_IN.get(int(identity), GENERAL) if identity.isdecimal() and len(identity) < 6 else GENERAL
        results.append(codes.get(identity) or built_in)
    return results


class _Reader:
    """Reads rows of sheets, up to MAX_CELLS in all."""

    def __init__(self, strings: list[str], formats: list[str], since_1904: bool) -> None:
        self._strings = strings
        self._formats = formats
        self._epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)
        self._cells = 0

    def table(self, sheet: Element, targets: dict[str, str]) -> str:
        """HTML of the rows with a value, cut to the columns that have one; empty without any."""
        links = {
            each.get("ref") or "": target
            for each in sheet.iter(f"{_S}hyperlink")
            if (target := targets.get(each.get(f"{_R}id") or "", "")).startswith("http")
        }
        hidden = set(_hidden_columns(sheet))
        rows: dict[int, dict[int, str]] = {}
        amounts: set[int] = set()
        number = 0
        for row in sheet.iter(f"{_S}row"):
            given = row.get("r") or ""
            number = int(given) if given.isdecimal() and len(given) < 8 and int(given) > number else number + 1
            values: dict[int, str] = {}
            for place, cell in enumerate(row.iterfind(f"{_S}c"), start=1):
                reference = _REFERENCE.fullmatch(cell.get("r") or "")
                column = column_number(reference[1]) if reference is not None else place
                text = escape(self._value(cell)).replace("\n", "<br>")
                if not text or column > MAX_COLUMNS or column in hidden:
                    continue
                self._cells += 1
                if self._cells > MAX_CELLS:
                    raise FetchError(Reason.TOO_LARGE, f"the workbook has more than {MAX_CELLS} cells")
                link = links.get(cell.get("r") or "")
                values[column] = text if link is None else f'<a href="{escape(link)}">{text}</a>'
                if cell.get("t", "n") == "n":
                    amounts.add(number)
            if values and row.get("hidden") not in ("1", "true"):
                rows[number] = values
        columns = sorted({column for row in rows.values() for column in row})
        if len(columns) * len(rows) > 2 * MAX_CELLS:
            raise FetchError(Reason.TOO_LARGE, f"the workbook has a table of more than {2 * MAX_CELLS} places")
        return merged_table(Merged(rows, columns, amounts, merges_of(sheet)))

    def _value(self, cell: Element) -> str:
        kind, value = cell.get("t", "n"), cell.findtext(f"{_S}v") or ""
        if kind == "inlineStr":
            return "".join(_text(each) for each in cell.iterfind(f"{_S}is"))
        if kind == "s":
            return self._strings[int(value)] if value.isdecimal() and int(value) < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if kind != "n" or not value:
            return value
        style = cell.get("s") or "0"
        index = int(style) if style.isdecimal() else 0
        return shown(value, self._formats[index] if index < len(self._formats) else GENERAL, self._epoch)


def _hidden_columns(sheet: Element) -> Iterator[int]:
    for each in sheet.iterfind(f"{_S}cols/{_S}col"):
        first, last = each.get("min") or "", each.get("max") or ""
        if each.get("hidden") in ("1", "true") and first.isdecimal() and last.isdecimal():
            yield from range(int(first), min(int(last), MAX_COLUMNS) + 1)
