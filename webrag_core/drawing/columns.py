"""Columns beside each other: an amount for each day, or for each range of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from webrag_core.drawing.figure import Box, DataTable, Figure, Group, Label, Line, text_width
from webrag_core.drawing.plane import Plane

_LEAST = 1.0  # pixels of a column that is not empty


@dataclass(frozen=True, slots=True)
class Column:
    """An amount of 0 or more, and its name in full. A `hollow` one is at least so much."""

    label: str
    amount: float
    text: str
    kind: Literal["full", "hollow"] = "full"


def columns(
    title: str, rows: Sequence[Column], table: DataTable, *, x_name: str, y_name: str, most: str, note: str = ""
) -> Figure:
    """The columns, at least one, in their order; `most` is the largest amount in words."""
    plane = Plane(left=max(30.0, text_width(most, 11.0) + 10), height=190.0)
    highest = max(row.amount for row in rows) or 1.0
    step = (plane.x(1) - plane.x(0)) / len(rows)
    widest = max(text_width(row.label, 11.0) for row in rows) + 10
    every = max(1, -int(-widest // step))
    shapes: list[Line | Label | Group] = [*plane.frame({}, {most: 1.0, "0": 0.0}, x_name, y_name)]
    for place, row in enumerate(rows):
        x, y = plane.x(0) + place * step, plane.y(row.amount / highest)
        height = max(_LEAST, plane.y(0) - y) if row.amount else 0.0
        box = Box(row.kind, x + step * 0.1, plane.y(0) - height, step * 0.8, height)
        shapes.append(Group((box,), f"{row.label}: {row.text}"))
        # from the last one back: the latest day is the one that is looked for
        if (len(rows) - 1 - place) % every == 0:
            half = text_width(row.label, 11.0) / 2
            at = min(max(x + step / 2, half), plane.width - half)
            shapes.append(Label("soft", at, plane.y(0) + 15, row.label, "middle"))
    return Figure(title, plane.width, plane.height, shapes, table, note)
