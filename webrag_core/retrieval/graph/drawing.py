"""The drawing of a neighbourhood: where nodes and labels stand. Its looks and its template are those of all figures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from markupsafe import Markup

from webrag_core.drawing import figure
from webrag_core.drawing.figure import Anchor, Circle, Figure, Group, Label
from webrag_core.page_text import one_line, without_site_name
from webrag_core.retrieval.graph.models import GraphEdge, GraphNode, Related
from webrag_core.retrieval.graph.wording import relation

_WIDTH, _HEIGHT = 1_360, 860
_RADII = (0.0, 200.0, 350.0)
_LONGEST_LABEL = 34
_LETTER, _LINE, _MARGIN = 8.5, 20.0, 16.0  # about how wide and high a letter is; what stays free around a spot
_QUOTATION = re.compile(r"^(?:>\s*)+")  # marks of a quotation before a term that is defined in one


@dataclass(frozen=True, slots=True)
class Spot:
    """A node at (x, y); `anchor` says on which side of it the label stands."""

    node: GraphNode
    label: str
    level: int
    x: float
    y: float
    anchor: Anchor

    @property
    def sides(self) -> tuple[float, float]:
        """From where to where the spot and its label reach."""
        before = {"start": 0.0, "end": 1.0, "middle": 0.5}[self.anchor]
        length = _MARGIN + _LETTER * len(self.label)
        return self.x - before * length - _MARGIN / 2, self.x + (1 - before) * length + _MARGIN / 2

    @property
    def lines(self) -> tuple[float, float]:
        """From where to where they reach in height."""
        return self.y - _LINE / 2, self.y + (1.5 if self.anchor == "middle" else 0.5) * _LINE

    def meets(self, other: Spot) -> bool:
        """Whether two spots or their labels would cover each other."""
        (left, right), (top, bottom) = self.sides, self.lines
        return left < other.sides[1] and other.sides[0] < right and top < other.lines[1] and other.lines[0] < bottom


@dataclass(frozen=True, slots=True)
class Line:
    """An edge between two spots, as wide as it is strong. `number` counts the edges from 1."""

    edge: GraphEdge
    number: int
    start: Spot
    end: Spot
    width: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """Spots and the lines between them. `title` names the keys in the middle."""

    title: str
    spots: list[Spot]
    lines: list[Line]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """x, y, width and height of what holds all spots and their labels."""
        if not self.spots:
            return 0.0, 0.0, _WIDTH, _HEIGHT
        left, right = zip(*(spot.sides for spot in self.spots), strict=True)
        top, bottom = zip(*(spot.lines for spot in self.spots), strict=True)
        x, y = round(min(left) - _MARGIN, 1), round(min(top) - _MARGIN, 1)
        return x, y, round(max(right) + _MARGIN - x, 1), round(max(bottom) + _MARGIN - y, 1)

    def svg(self, node_path: Callable[[GraphNode], str] | None = None) -> Markup:
        """The drawing as one element. Nodes lead to `node_path`, lines to elements of the page: `edge1`, `edge2`, …"""
        title = f"Drawing of {len(self.spots)} nodes and {len(self.lines)} edges, which are listed below it"
        x, y, width, height = self.box
        shapes = [*map(_line, self.lines), *(_spot(spot, node_path) for spot in self.spots)]
        return Figure(title, width, height, shapes, x=x, y=y).svg()


def draw(related: Related) -> Drawing:
    """Draw the nodes nearest to some keys, with the edges that lead to them."""
    seeds = [key.node for key in related.keys if key.node is not None]
    edges = list({edge.edge_id: edge for item in related.items for edge in item.chain}.values())
    spots = _place(seeds, related)
    lines = [
        Line(edge, number, spots[edge.src.key], spots[edge.dst.key], round(1 + 3 * edge.strength, 1))
        for number, edge in enumerate(edges, start=1)
        if edge.src.key in spots and edge.dst.key in spots
    ]
    title = ", ".join(_label(node) for node in seeds) or "nothing stored"
    return Drawing(title, list(spots.values()), lines)


def _place(seeds: list[GraphNode], related: Related) -> dict[str, Spot]:
    """Nodes by key: the keys in the middle, each other node on the circle of its distance, near what leads to it."""
    parents: dict[str, tuple[GraphNode, str, int]] = {}
    known = {node.key for node in seeds}
    for item in related.items:
        at = next((end.key for edge in item.chain[:1] for end in (edge.src, edge.dst) if end.key in known), None)
        for level, edge in enumerate(item.chain, start=1):
            node = edge.dst if edge.src.key == at else edge.src
            if node.key not in known and node.key not in parents and at is not None:
                parents[node.key] = (node, at, level)
            at = node.key
    middle = {node.key: _middle(node, place, len(seeds)) for place, node in enumerate(seeds)}
    first = [key for key, (_, _, level) in parents.items() if level == 1]
    below = {key: [other for other, (_, at, level) in parents.items() if level > 1 and at == key] for key in first}
    total = sum(max(1, len(below[key])) for key in first) or 1
    spots, angle = middle, -math.pi / 2
    for key in first:
        arc = 2 * math.pi * max(1, len(below[key])) / total
        spots[key] = _on_circle(parents[key][0], 1, angle + arc / 2, alone=len(first) == len(parents))
        for place, other in enumerate(below[key]):
            spots[other] = _on_circle(parents[other][0], 2, angle + arc * (place + 0.5) / len(below[key]))
        angle += arc
    return _apart(spots)


def _middle(node: GraphNode, place: int, count: int) -> Spot:
    angle = 2 * math.pi * place / max(1, count)
    radius = 0.0 if count == 1 else 60.0
    x, y = _WIDTH / 2 + radius * math.cos(angle), _HEIGHT / 2 + radius * math.sin(angle)
    return Spot(node, _label(node), 0, round(x, 1), round(y, 1), "middle")


def _apart(spots: dict[str, Spot]) -> dict[str, Spot]:
    """The same, moved up or down, away from the middle, where labels would meet."""
    placed: dict[str, Spot] = {}
    for key, spot in sorted(spots.items(), key=lambda item: (item[1].level > 0, abs(item[1].y - _HEIGHT / 2))):
        step = 0 if spot.level == 0 else _LINE / 4 if spot.y >= _HEIGHT / 2 else -_LINE / 4
        while step and any(map(spot.meets, placed.values())):
            spot = replace(spot, y=round(spot.y + step, 1))
        placed[key] = spot
    return {key: placed[key] for key in spots}


def _on_circle(node: GraphNode, level: int, angle: float, *, alone: bool = False) -> Spot:
    """`alone`: there is no circle outside of this one, so it takes all of the room."""
    radius = _RADII[-1 if alone else min(level, len(_RADII) - 1)]
    x, y = _WIDTH / 2 + 1.15 * radius * math.cos(angle), _HEIGHT / 2 + radius * math.sin(angle)
    anchor: Anchor = "start" if math.cos(angle) >= 0 else "end"
    return Spot(node, _label(node), level, round(x, 1), round(y, 1), anchor)


def _label(node: GraphNode) -> str:
    """The name of a node; of a page its title without the name of its site, where a dash or bar stands before it."""
    text = _QUOTATION.sub("", one_line(node.label or node.key.partition("://")[2] or node.key))
    if node.kind == "page" and len(text) > _LONGEST_LABEL:
        text = without_site_name(text)
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _line(line: Line) -> Group:
    """For the pointer alone: the edges are listed below."""
    edge = figure.Line("edge", line.start.x, line.start.y, line.end.x, line.end.y, line.width)
    return Group((edge,), f"{line.number}: {relation(line.edge)}", f"#edge{line.number}", passive=True)


def _spot(spot: Spot, node_path: Callable[[GraphNode], str] | None) -> Group:
    beside = {"start": 10, "end": -10, "middle": 0}[spot.anchor]
    below = 24 if spot.anchor == "middle" else 4
    parts = (
        Circle(spot.node.kind, spot.x, spot.y, 9 if spot.level == 0 else 6),
        Label(f"level{spot.level}", spot.x + beside, spot.y + below, spot.label, spot.anchor),
    )
    tip = f"{spot.label}, {spot.node.kind} {spot.node.key}"
    return Group(parts, tip, "" if node_path is None else node_path(spot.node))
