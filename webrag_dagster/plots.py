"""Two small charts as SVG in a Markdown image: no library, no network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webrag_core.orchestration.models import Round

_BEST, _MEAN = "#2f5fd0", "#c2621b"


def score_plot(rounds: Sequence[Round]) -> str:
    """Best and mean reranked score of each round, 0 to 1, with the action that led to the round."""
    width, height, left, right, top, bottom = 480, 230, 40, 20, 34, 40

    def x_of(index: int) -> float:
        return left + (width - left - right) * (index + 0.5) / max(1, len(rounds))

    def y_of(score: float) -> float:
        return top + (height - top - bottom) * (1 - min(1.0, max(0.0, score)))

    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<path d="M{left} {y_of(tick):.1f}H{width - right}" stroke="#ddd"/>')
        parts.append(_text(left - 6, y_of(tick) + 4, f"{tick:.2f}", "end"))
    for index, done in enumerate(rounds):
        parts.append(_text(x_of(index), height - bottom + 16, f"round {done.round}", "middle"))
        action = (done.action_taken or "seed").replace("_", " ")
        parts.append(_text(x_of(index), height - bottom + 30, action, "middle", "#777"))
    best = [done.signals.top_score for done in rounds]
    mean = [done.signals.score_mean for done in rounds]
    for number, (name, colour, scores) in enumerate((("best", _BEST, best), ("mean", _MEAN, mean))):
        points = [(x_of(index), y_of(score)) for index, score in enumerate(scores)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), score in zip(points, scores, strict=True):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
            parts.append(_text(x, y + (16 if number else -8), f"{score:.2f}", "middle", colour))
        parts.append(f'<rect x="{left + 70 * number}" y="10" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(left + 70 * number + 15, 19, name))
    return _image("best and mean score per round", width, height, parts)


def bar_plot(title: str, unit: str, bars: Sequence[tuple[str, int]]) -> str:
    """One bar per (label, count), with the largest count on the axis."""
    width, height, left, right, top, bottom = 520, 200, 48, 12, 24, 42
    most = max((count for _, count in bars), default=0) or 1
    inner, tallest = width - left - right, height - top - bottom
    parts = [
        _text(left, 14, title, colour="#222"),
        f'<path d="M{left} {top + tallest}H{width - right}" stroke="#999"/>',
        _text(left - 6, top + 8, f"{most:,}", "end"),
        _text(left - 6, top + tallest, "0", "end"),
        _text(left + inner / 2, height - 6, unit, "middle"),
    ]
    step = inner / max(1, len(bars))
    every = max(1, round(34 / step))
    for index, (label, count) in enumerate(bars):
        x, tall = left + index * step, tallest * count / most
        parts.append(
            f'<rect x="{x + 1:.1f}" y="{top + tallest - tall:.1f}" width="{max(1.0, step - 2):.1f}"'
            f' height="{tall:.1f}" fill="{_BEST}"><title>{escape(label)}: {count}</title></rect>'
        )
        if index % every == 0:
            parts.append(_text(x + 1, top + tallest + 14, label))
    return _image(title, width, height, parts)


def _image(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' font-family="sans-serif" font-size="11"><rect width="{width}" height="{height}" fill="#fff"/>'
        f"{''.join(parts)}</svg>"
    )
    return f"![{title}](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})"


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "#555") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
