"""Bars beside each other: how many there are of each, the name before the bar and the number behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from webrag_core.drawing.figure import Box, DataTable, Figure, Group, Label, fitted, text_width

_WIDTH, _ROW, _BAR, _GAP = 320.0, 22.0, 12.0, 8.0
_LABELS = 120.0  # pixels of them at most
_LEAST = 1.5  # pixels of a bar that is not empty


@dataclass(frozen=True, slots=True)
class Bar:
    """A count of 0 or more. One that is `hollow` is what others are measured by. `href` is where it leads."""

    label: str
    count: int
    kind: Literal["full", "hollow"] = "full"
    href: str = ""


def bars(title: str, rows: Sequence[Bar], table: DataTable, note: str = "") -> Figure:
    """The rows, at least one, in their order."""
    labels = [fitted(row.label, _LABELS) for row in rows]
    numbers = [f"{row.count:,}" for row in rows]
    left = max(map(text_width, labels)) + _GAP
    longest = _WIDTH - left - 2 * _GAP - max(map(text_width, numbers))
    most = max(row.count for row in rows) or 1
    shapes = []
    for place, (row, label, number) in enumerate(zip(rows, labels, numbers, strict=True)):
        y = _ROW * (place + 0.5)
        length = max(_LEAST, longest * row.count / most) if row.count else 0.0
        parts = (
            Label("name", 0, y + 4, label),
            Box(row.kind, left, y - _BAR / 2, length, _BAR),
            Label("name", left + length + _GAP, y + 4, number),
        )
        shapes.append(Group(parts, f"{row.label}: {number}", row.href))
    return Figure(title, _WIDTH, _ROW * len(rows), shapes, table, note)
