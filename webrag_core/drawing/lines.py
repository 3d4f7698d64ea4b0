"""Lines through the same places: several scores of each round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from webrag_core.drawing.figure import Circle, DataTable, Figure, Label, Line, Polyline
from webrag_core.drawing.plane import Plane

_SHARES = {f"{tick / 4:.2f}": tick / 4 for tick in range(5)}


@dataclass(frozen=True, slots=True)
class Series:
    """A score in [0, 1] of each place. A `full` one has full discs, a `hollow` one rings on a broken line."""

    name: str
    kind: Literal["full", "hollow"]
    scores: Sequence[float]


def score_lines(title: str, places: Sequence[tuple[str, str]], series: Sequence[Series], table: DataTable) -> Figure:
    """The series over their places, each of which has a name and a line of detail."""
    plane = Plane(width=max(320.0, 60.0 + 96.0 * len(places)), height=230.0, bottom=46.0)
    shapes: list[Line | Label | Polyline | Circle] = [*plane.frame({}, _SHARES, "", "")]
    centres = [plane.x((place + 0.5) / max(1, len(places))) for place in range(len(places))]
    for x, (name, detail) in zip(centres, places, strict=True):
        shapes.append(Label("name", x, plane.y(0) + 16, name, "middle"))
        shapes.append(Label("soft", x, plane.y(0) + 30, detail, "middle"))
    for number, line in enumerate(series):
        points = tuple((x, plane.y(min(1.0, max(0.0, score)))) for x, score in zip(centres, line.scores, strict=True))
        shapes.append(Polyline("way" if line.kind == "full" else "way broken", points))
        for (x, y), score in zip(points, line.scores, strict=True):
            shapes.append(Circle(line.kind, x, y, 4))
            shapes.append(Label("soft", x, y + (18 if number else -9), f"{score:.2f}", "middle"))
        left = plane.x(0) + 70 * number
        shapes += [Circle(line.kind, left + 5, 10, 4), Label("name", left + 14, 14, line.name)]
    return Figure(title, plane.width, plane.height, shapes, table)
