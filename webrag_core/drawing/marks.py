"""Things in a plane of what they cost and what they are worth, numbered, with their names beside the plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from webrag_core.drawing.figure import Box, Circle, DataTable, Figure, Group, Label, Line, Polyline, fitted
from webrag_core.drawing.plane import TENTHS, Plane

MarkKind = Literal["full", "hollow", "square"]
"""A full disc, a ring, a full square."""
_RADIUS, _APART, _NAMES = 6.0, 26.0, 210.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A thing at a share `x` of the horizontal axis: its share from `low` to `high`, `y` at best guess. `text` says it
    in words."""

    label: str
    kind: MarkKind
    x: float
    y: float
    low: float
    high: float
    text: str


def mark_plane(
    title: str,
    marks: Sequence[Mark],
    table: DataTable,
    *,
    x_ticks: Mapping[str, float],
    x_name: str,
    y_name: str,
    curve: Sequence[tuple[float, float]] = (),
    note: str = "",
) -> Figure:
    """The marks, side by side where they would cover each other, and a broken `curve` of shares below them."""
    plane = Plane(width=680.0, height=max(320.0, 40.0 + 24.0 * len(marks)), right=_NAMES + 20)
    shapes: list[Line | Label | Polyline | Group] = [*plane.frame(x_ticks, TENTHS, x_name, y_name)]
    if curve:
        shapes.append(Polyline("way broken", tuple((plane.x(x), plane.y(y)) for x, y in curve)))
    places: list[tuple[float, float]] = []
    for number, mark in enumerate(marks, start=1):
        x, y = plane.x(mark.x), plane.y(mark.y)
        while any(abs(x - other) < _APART - 1 and abs(y - height) < _APART - 8 for other, height in places):
            x += _APART
        places.append((x, y))
        side, at = plane.width - _NAMES, plane.top + 24.0 * (number - 1) + 6
        parts = (
            Line("way", x, plane.y(mark.low), x, plane.y(mark.high)),
            _shape(mark.kind, x, y),
            Label("strong", x + _RADIUS + 3, y - 3, str(number)),
            _shape(mark.kind, side, at),
            Label("name", side + 14, at + 4, fitted(f"{number} {mark.label}", _NAMES - 20)),
        )
        shapes.append(Group(parts, mark.text))
    return Figure(title, plane.width, plane.height, shapes, table, note)


def _shape(kind: MarkKind, x: float, y: float) -> Circle | Box:
    if kind == "square":
        return Box("full", x - _RADIUS, y - _RADIUS, 2 * _RADIUS, 2 * _RADIUS)
    return Circle(kind, x, y, _RADIUS)
