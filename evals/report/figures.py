"""The report's figures as SVG: drawn from numbers alone, coloured by the page's style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

from markupsafe import Markup, escape

from evals.intervals import Interval
from webrag_core.reliability import Reliability

_APART = 20.0
_TICKS = (1, 2, 3, 5, 10, 20, 30)


@dataclass(frozen=True, slots=True)
class Mark:
    """A system in the plane of pages and success. `kind` is its style: run, baseline or oracle."""

    label: str
    kind: str
    pages: float
    success: Interval


@dataclass(frozen=True, slots=True)
class _Plane:
    """A square of data, [0, 1] upwards, drawn into a box of pixels."""

    width: int
    height: int
    left: int = 46
    right: int = 16
    top: int = 34
    bottom: int = 42

    def x(self, share: float) -> float:
        return round(self.left + share * (self.width - self.left - self.right), 1)

    def y(self, share: float) -> float:
        return round(self.height - self.bottom - share * (self.height - self.top - self.bottom), 1)

    def frame(self, x_ticks: Mapping[str, float], x_label: str, y_label: str) -> list[str]:
        """Grid, ticks and labels."""
        parts = []
        for tenth in range(0, 11, 2):
            y = self.y(tenth / 10)
            parts.append(f'<line class="grid" x1="{self.x(0)}" x2="{self.x(1)}" y1="{y}" y2="{y}"/>')
            parts.append(f'<text class="tick end" x="{self.x(0) - 7}" y="{y + 4}">{tenth * 10} %</text>')
        for name, share in x_ticks.items():
            parts.append(f'<text class="tick middle" x="{self.x(share)}" y="{self.y(0) + 17}">{escape(name)}</text>')
        middle = self.x(0.5)
        parts.append(f'<text class="axis middle" x="{middle}" y="{self.height - 5}">{escape(x_label)}</text>')
        parts.append(f'<text class="axis" x="4" y="14">{escape(y_label)}</text>')
        return parts

    def svg(self, parts: Sequence[str], title: str) -> Markup:
        """The finished figure, as wide as its column."""
        head = f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(title)}">'
        return Markup("".join([head, *parts, "</svg>"]))


def success_against_pages(marks: Sequence[Mark], curve: Sequence[float], most: int) -> Markup:
    """Each system at its mean pages (up to `most`) and success; `curve[k - 1]` is the share of items whose gold pages
    are all among the first k fetched."""
    plane = _Plane(820, 340, right=190)

    def across(pages: float) -> float:
        return log(max(1.0, min(pages, most))) / log(max(2, most))

    ticks = {str(tick): across(tick) for tick in _TICKS if tick <= most}
    parts = plane.frame(ticks, "pages fetched, seed included (logarithmic)", "evidence complete")
    if curve:
        points = " ".join(f"{plane.x(across(k))},{plane.y(share)}" for k, share in enumerate(curve, start=1))
        parts.append(f'<polyline class="curve" points="{points}"/>')
    taken: list[tuple[float, float]] = []
    for number, mark in enumerate(marks, start=1):
        x, y = plane.x(across(mark.pages)), plane.y(mark.success.mean)
        while any(abs(x - other) < _APART - 1 and abs(y - height) < _APART - 1 for other, height in taken):
            x += _APART  # side by side: none may hide another
        taken.append((x, y))
        low, high = plane.y(mark.success.low), plane.y(mark.success.high)
        tip = f"{mark.label}: {mark.success} at {mark.pages:.1f} pages"
        parts.append(
            f'<g class="mark {escape(mark.kind)}"><title>{escape(tip)}</title>'
            f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low}" y2="{high}"/>'
            f'<circle cx="{x:.1f}" cy="{y}" r="9"/><text class="middle" x="{x:.1f}" y="{y + 4}">{number}</text>'
            f'<circle cx="654" cy="{24 + 24 * number}" r="9"/>'
            f'<text class="middle" x="654" y="{28 + 24 * number}">{number}</text></g>'
            f'<text x="670" y="{28 + 24 * number}">{escape(mark.label)}</text>'
        )
    return plane.svg(parts, "evidence complete against pages fetched")


def reliability_diagram(
    curve: Reliability, *, stated: str = "probability_complete", observed: str = "evidence complete"
) -> Markup:
    """The observed share against the stated probability; a disc's area is the number of decisions."""
    plane = _Plane(380, 380)
    ticks = {f"{tenth / 10:g}": tenth / 10 for tenth in range(0, 11, 2)}
    parts = plane.frame(ticks, stated, observed)
    for edge in range(1, 10):
        x = plane.x(edge / 10)
        parts.append(f'<line class="bin" x1="{x}" x2="{x}" y1="{plane.y(0)}" y2="{plane.y(1)}"/>')
    parts.append(f'<line class="diagonal" x1="{plane.x(0)}" y1="{plane.y(0)}" x2="{plane.x(1)}" y2="{plane.y(1)}"/>')
    largest = max((size for _, _, size in curve.bins), default=1)
    for probability, share, size in curve.bins:
        x, y = plane.x(probability), plane.y(share)
        tip = f"stated {probability:.2f}, observed {share:.2f}, {size} decisions"
        parts.append(
            f'<g class="mark run"><title>{escape(tip)}</title>'
            f'<line class="gap" x1="{x}" x2="{x}" y1="{y}" y2="{plane.y(probability)}"/>'
            f'<circle cx="{x}" cy="{y}" r="{4 + 10 * sqrt(size / largest):.1f}"/>'
            f'<text class="middle" x="{x}" y="{y + 4}">{size}</text></g>'
        )
    return plane.svg(parts, "reliability diagram")


def bar(share: float) -> Markup:
    """A small bar for a table cell, `share` of its full length."""
    wide = round(60 * max(0.0, min(1.0, share)), 1)
    return Markup(f'<svg class="bar" viewBox="0 0 60 8" aria-hidden="true"><rect width="{wide}" height="8"/></svg>')
