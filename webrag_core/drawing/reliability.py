"""A reliability diagram: how often something holds, against the probability that is stated for it."""

from __future__ import annotations

from math import sqrt

from webrag_core.drawing.figure import Circle, DataTable, Figure, Group, Label, Line
from webrag_core.drawing.plane import TENTHS, Plane
from webrag_core.reliability import Reliability

_SMALLEST, _LARGEST = 3.5, 11.0  # pixels of the radius of a disc


def reliability_diagram(curve: Reliability, *, stated: str, observed: str, cases: str, note: str = "") -> Figure:
    """The share that held against the probability; on the broken line both are the same. The area of a disc, and the
    number beside it, are the `cases` in its bin."""
    plane = Plane(height=310.0)
    shapes: list[Line | Label | Group] = [*plane.frame(TENTHS, TENTHS, stated, observed)]
    shapes.append(Line("broken", plane.x(0), plane.y(0), plane.x(1), plane.y(1)))
    most = max((size for _, _, size in curve.bins), default=1)
    for probability, share, size in curve.bins:
        x, y = plane.x(probability), plane.y(share)
        radius = _SMALLEST + (_LARGEST - _SMALLEST) * sqrt(size / most)
        parts = (
            Line("way", x, y, x, plane.y(probability)),
            Circle("full", x, y, radius),
            _size(x, y, radius, share, str(size), is_above=share >= probability),
        )
        shapes.append(Group(parts, f"stated {probability:.0%}, observed {share:.0%}: {size} {cases}"))
    rows = tuple((f"{probability:.0%}", f"{share:.0%}", str(size)) for probability, share, size in curve.bins)
    title = f"Reliability: {observed} against {stated}"
    return Figure(title, plane.width, plane.height, shapes, DataTable((stated, observed, cases), rows), note)


def _size(x: float, y: float, radius: float, share: float, text: str, *, is_above: bool) -> Label:
    """The number of a disc: away from its line, and not among the names of the axis."""
    if is_above:
        return Label("soft", x, y - radius - 4, text, "middle")
    if share > 0.08:
        return Label("soft", x, y + radius + 11, text, "middle")
    return Label("soft", x + radius + 3, y + 1, text)
