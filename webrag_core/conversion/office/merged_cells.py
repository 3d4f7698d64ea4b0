"""A sheet's table in HTML, with its merged cells as spans and its header rows as header cells."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lxml.etree import _Element as Element

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})")
_MAX_COVERED = 400_000  # places, in all
_MAX_HEADER_ROWS = 4

Range = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 1."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The kept rows of a sheet (number to HTML of its cells by column), its kept columns, the rows that hold amounts,
    and its merged ranges."""

    rows: Mapping[int, Mapping[int, str]]
    columns: Sequence[int]
    amounts: Collection[int]
    ranges: Sequence[Range]


def merges_of(sheet: Element) -> list[Range]:
    """The merged ranges of a sheet; what is no range is left out."""
    results = []
    for each in sheet.iter(f"{_S}mergeCell"):
        match = _RANGE.fullmatch(each.get("ref") or "")
        if match is not None:
            rows, columns = (
                sorted((int(match[2]), int(match[4]))),
                sorted((column_number(match[1]), column_number(match[3]))),
            )
            results.append((rows[0], columns[0], rows[1], columns[1]))
    return results


def column_number(letters: str) -> int:
    """Number of a column, from 1."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def merged_table(sheet: Merged) -> str:
    """The table; its first row is its head, and so are further rows of texts below cells that span several columns."""
    numbers = sorted(sheet.rows)
    spans: dict[tuple[int, int], tuple[int, int, str]] = {}  # place to height, width and text
    covered: set[tuple[int, int]] = set()
    room = _MAX_COVERED
    for first, left, last, right in sheet.ranges:
        rows = numbers[bisect_left(numbers, first) : bisect_right(numbers, last)]
        columns = sheet.columns[bisect_left(sheet.columns, left) : bisect_right(sheet.columns, right)]
        room -= len(rows) * len(columns)
        if len(rows) * len(columns) < 2 or room < 0:
            continue
        places = {(row, place) for row in rows for place in columns}
        others = (sheet.rows[row].get(place) for row, place in places if (row, place) != (first, left))
        if places.isdisjoint(covered) and not any(others):  # in a sound file no range overlaps or hides a value
            covered |= places
            text = sheet.rows.get(first, {}).get(left, "")
            spans[rows[0], columns[0]] = (len(rows), len(columns), text)
    lines = []
    going_on = True
    for index, number in enumerate(numbers):
        going_on = going_on and (index == 0 or (index < _MAX_HEADER_ROWS and number not in sheet.amounts))
        tag = "th" if going_on else "td"
        going_on = going_on and any(
            width > 1 for width in (spans.get((number, each), (1, 1))[1] for each in sheet.columns)
        )
        lines.append(f"<tr>{''.join(_cells(number, tag, sheet, spans, covered))}</tr>")
    return f"<table>{''.join(lines)}</table>" if lines else ""


def _cells(
    number: int,
    tag: str,
    sheet: Merged,
    spans: Mapping[tuple[int, int], tuple[int, int, str]],
    covered: Collection[tuple[int, int]],
) -> list[str]:
    cells = []
    for place in sheet.columns:
        if (span := spans.get((number, place))) is not None:
            height, width, text = span
            rows = f' rowspan="{height}"' if height > 1 else ""
            columns = f' colspan="{width}"' if width > 1 else ""
            cells.append(f"<{tag}{rows}{columns}>{text}</{tag}>")
        elif (number, place) not in covered:
            cells.append(f"<{tag}>{sheet.rows[number].get(place, '')}</{tag}>")
    return cells
