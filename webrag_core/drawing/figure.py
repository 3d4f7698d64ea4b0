"""A figure: shapes in a box of pixels, and the data behind them as a table. It is written by one template.

Shapes have kinds, which the style sheet `static/figures.css` gives their looks; there is no colour and no style in the
SVG itself. All text is escaped by the template, and without characters that cannot be seen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from jinja2 import Template
from markupsafe import Markup

from webrag_core.html_template import load_template
from webrag_core.page_text import one_line

Anchor = Literal["start", "middle", "end"]
STATIC_FOLDER = Path(__file__).with_name("static")
STYLE_SHEET = "figures.css"
_COLOURS = "colours.css"
"""What a page around a figure says otherwise."""


@dataclass(frozen=True, slots=True)
class Line:
    """From (x1, y1) to (x2, y2), `width` pixels wide; None = as its kind is."""

    kind: str
    x1: float
    y1: float
    x2: float
    y2: float
    width: float | None = None


@dataclass(frozen=True, slots=True)
class Polyline:
    """A line through points (x, y)."""

    kind: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Circle:
    """Around (x, y)."""

    kind: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle whose upper left corner is (x, y)."""

    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text that begins, ends or has its middle at (x, y)."""

    kind: str
    x: float
    y: float
    text: str
    anchor: Anchor = "start"


@dataclass(frozen=True, slots=True)
class Group:
    """Shapes that are one thing. `tip` is shown beside the pointer, "" for none; `href` is where it leads. What is
    `passive` leads there for the pointer alone."""

    shapes: tuple[Line | Polyline | Circle | Box | Label, ...]
    tip: str = ""
    href: str = ""
    passive: bool = False


Shape = Line | Polyline | Circle | Box | Label | Group


@dataclass(frozen=True, slots=True)
class DataTable:
    """The data of a figure for those who read it: rows of cells, the first of which names its row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """Shapes within `width` × `height` pixels from (`x`, `y`) on, and their data. `title` holds no words of a page;
    `note` says what the picture cannot."""

    title: str
    width: float
    height: float
    shapes: Sequence[Shape]
    table: DataTable = field(default=DataTable((), ()))
    note: str = ""
    x: float = 0.0
    y: float = 0.0

    def svg(self) -> Markup:
        """An element for a page that has the style sheet."""
        return Markup(_template().render(figure=self, style=""))

    def document(self) -> str:
        """A file with the style sheet in it: on a ground of its own, in light and dark."""
        return _template().render(figure=self, style=style_sheet())

    @property
    def has_links(self) -> bool:
        """Whether something in it leads somewhere."""
        return any(isinstance(shape, Group) and shape.href for shape in self.shapes)


@cache
def style_sheet() -> Markup:
    """The looks of figures, with colours, for a file of its own."""
    return Markup("").join(Markup((STATIC_FOLDER / name).read_text("utf-8")) for name in (_COLOURS, STYLE_SHEET))


def text_width(text: str, size: float = 12.0) -> float:
    """About how many pixels letters of `size` take."""
    return size * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.56 for letter in text)


def fitted(text: str, width: float, size: float = 12.0) -> str:
    """`text` on one line, cut to about `width` pixels in letters of `size`."""
    line = one_line(text)
    if text_width(line, size) <= width:
        return line
    while line and text_width(f"{line}…", size) > width:
        line = line[:-1]
    return f"{line.rstrip()}…"


def _kind_of(shape: Shape) -> str:
    return type(shape).__name__


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@cache
def _template() -> Template:
    names = {"kind_of": _kind_of, "n": _number, "one_line": one_line}
    return load_template(Path(__file__).with_name("figure.svg.j2"), names)
