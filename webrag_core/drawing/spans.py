"""A time line: rows of spans of time, under each other, over one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from webrag_core.drawing.figure import Box, DataTable, Figure, Group, Label, Line, fitted, text_width
from webrag_core.drawing.time_axis import TimeAxis

SpanKind = Literal["full", "hollow", "broken"]
"""A full bar, one with its outline only, a broken line."""
_WIDTH, _ROW, _TOP, _BAR, _GAP = 320.0, 22.0, 8.0, 10.0, 10.0
_LABELS = 110.0  # pixels of them at most
_LEAST = 3.0  # pixels of a span, however short it was


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` to `end`, in one time zone. `tip` says it in words."""

    kind: SpanKind
    start: datetime
    end: datetime
    tip: str = ""


@dataclass(frozen=True, slots=True)
class SpanRow:
    """Spans that belong together. `href` is where the row leads, "" for nowhere."""

    label: str
    spans: tuple[Span, ...]
    href: str = ""


def time_line(title: str, rows: Sequence[SpanRow], table: DataTable, note: str = "") -> Figure:
    """The rows, at least one span among them, in their order."""
    labels = [fitted(row.label, _LABELS) for row in rows]
    left = max(map(text_width, labels)) + _GAP
    first = min(span.start for row in rows for span in row.spans)
    last = max(span.end for row in rows for span in row.spans)
    axis = TimeAxis(first, last, left, _WIDTH - _GAP)
    bottom = _TOP + _ROW * len(rows)
    shapes: list[Line | Label | Group] = []
    for moment, name in axis.ticks():
        x = axis.x(moment)
        half = text_width(name, 11.0) / 2
        shapes.append(Line("grid", x, _TOP, x, bottom))
        # within the picture, at both ends
        shapes.append(Label("soft", min(max(x, half), _WIDTH - half), bottom + 14, name, "middle"))
    for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
        y = _TOP + _ROW * (number + 0.5)
        shapes.append(Group((Label("name", 0, y + 4, label),), row.label, row.href))
        shapes += [Group((_shape(axis, span, y),), span.tip) for span in row.spans]
    return Figure(title, _WIDTH, bottom + 20, shapes, table, note)


def _shape(axis: TimeAxis, span: Span, y: float) -> Box | Line:
    start, end = axis.x(span.start), axis.x(span.end)
    if span.kind == "broken":
        return Line("broken", start, y, end, y)
    return Box(span.kind, start, y - _BAR / 2, max(_LEAST, end - start), _BAR)
