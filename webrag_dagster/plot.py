"""Scores per round as a small picture that needs no library and no network: SVG in a data URI."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webrag_core.orchestration.models import Round

_WIDTH, _HEIGHT = 480, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 20, 34, 40
_TOP_COLOUR, _MEAN_COLOUR = "#2f5fd0", "#c2621b"


def score_plot(rounds: Sequence[Round]) -> str:
    """Markdown image: best and mean reranked score of each round, 0 to 1, with what led to the round."""
    encoded = base64.b64encode(_svg(rounds).encode()).decode()
    return f"![best and mean score per round](data:image/svg+xml;base64,{encoded})"


def _svg(rounds: Sequence[Round]) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"'
        f' viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(tick)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{tick:.2f}", "end"))
    for done in rounds:
        x = _x(done.round, len(rounds))
        parts.append(_text(x, _HEIGHT - _BOTTOM + 16, f"round {done.round}", "middle"))
        parts.append(
            _text(x, _HEIGHT - _BOTTOM + 30, (done.action_taken or "seed").replace("_", " "), "middle", "#777")
        )
    top = [done.signals.top_score for done in rounds]
    mean = [done.signals.score_mean for done in rounds]
    for number, (name, colour, scores) in enumerate((("best", _TOP_COLOUR, top), ("mean", _MEAN_COLOUR, mean))):
        points = [(_x(index, len(rounds)), _y(score)) for index, score in enumerate(scores)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), score in zip(points, scores, strict=True):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
            parts.append(_text(x, y + (16 if number else -8), f"{score:.2f}", "middle", colour))
        parts.append(f'<rect x="{_LEFT + 70 * number}" y="10" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(_LEFT + 70 * number + 15, 19, name))
    return "".join([*parts, "</svg>"])


def _x(index: int, count: int) -> float:
    inner = _WIDTH - _LEFT - _RIGHT
    return _LEFT + inner * (index + 0.5) / max(1, count)


def _y(score: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - min(1.0, max(0.0, score)))


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "#444") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
