"""A tree as rows: what leads to what, each thing on a line of its own, so that it can be read in a narrow window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from webrag_core.drawing.figure import Box, Circle, DataTable, Figure, Group, Label, Line, fitted, text_width

Mark = Literal["full", "hollow", "square", "cross", "open", "none"]
"""A disc that is full or hollow, a full square, a cross, a dotted circle. None of them is told by its colour alone."""
_ROW, _STEP, _RADIUS, _EDGE = 40.0, 22.0, 6.0, 8.0
_LONGEST = 250.0  # pixels of a label
_LEAST = 330.0  # pixels of a picture: a small one is not drawn larger than others
_BOLD = 1.14  # how much wider bold letters are
_DEEPEST = 4  # steps to the right


@dataclass(frozen=True, slots=True)
class Node:
    """A row: what it is, and what became of it (`detail`). `parent` is the key of the node that leads to it, None for
    the first; where that is not known for sure (`is_sure`), the line is broken. `href` is where the row leads."""

    key: str
    label: str
    detail: str
    mark: Mark
    parent: str | None
    is_sure: bool = True
    href: str = ""
    tip: str = ""


def tree(title: str, nodes: Sequence[Node], table: DataTable, note: str = "") -> Figure:
    """The nodes, each below its parent, which stands before it in `nodes`."""
    ordered = list(_below(nodes, None, 0))
    by_key = {node.key: node for node in nodes}
    places = {
        node.key: (_EDGE + _RADIUS + _STEP * min(depth, _DEEPEST), _ROW * (row + 0.5))
        for row, (node, depth) in enumerate(ordered)
    }
    lines, marks = list[Line](), list[Group]()
    ends: dict[tuple[str, float], float] = {}
    width = _LEAST - _EDGE
    for node, _ in ordered:
        x, y = places[node.key]
        if node.parent is not None:
            bend = min(places[node.parent][0], x - 2 * _RADIUS)
            ends[node.parent, bend] = y
            lines.append(Line("way" if node.is_sure else "way broken", bend, y, x - _RADIUS - 1, y))
        left = _EDGE if node.mark == "none" else x + _RADIUS + 8
        wider = _BOLD if node.parent is None else 1.0
        label, detail = fitted(node.label, _LONGEST / wider), fitted(node.detail, _LONGEST + 20, 11.0)
        width = max(width, left + wider * text_width(label), left + text_width(detail, 11.0))
        texts = (
            Label("strong" if node.parent is None else "name", left, y - 1, label),
            Label("soft", left, y + 14, detail),
        )
        marks.append(Group((*_mark(node.mark, x, y), *texts), node.tip or node.label, node.href))
    for (key, bend), last in ends.items():  # one line down from each node to the last that it leads to
        begin = places[key][1] + (20 if by_key[key].mark == "none" else _RADIUS + 2)
        lines.append(Line("way", bend, begin, bend, last))
    return Figure(title, round(width + _EDGE), _ROW * len(ordered) + 4, (*lines, *marks), table, note)


def _below(nodes: Sequence[Node], parent: str | None, depth: int) -> Iterator[tuple[Node, int]]:
    for node in nodes:
        if node.parent == parent:
            yield node, depth
            yield from _below(nodes, node.key, depth + 1)


def _mark(mark: Mark, x: float, y: float) -> tuple[Circle | Box | Line, ...]:
    if mark == "none":
        return ()
    if mark == "square":
        return (Box("full", x - _RADIUS, y - _RADIUS, 2 * _RADIUS, 2 * _RADIUS),)
    if mark == "cross":
        arm = _RADIUS - 1
        return Line("cross", x - arm, y - arm, x + arm, y + arm), Line("cross", x - arm, y + arm, x + arm, y - arm)
    return (Circle(mark, x, y, _RADIUS),)
