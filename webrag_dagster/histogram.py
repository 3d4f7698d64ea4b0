"""Bars as a small picture that needs no library and no network: SVG in a data URI."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT = 520, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 24, 42
_COLOUR = "#2f5fd0"


def bar_plot(title: str, unit: str, bars: Sequence[tuple[str, int]]) -> str:
    """Markdown image of counts: one bar per (label, count), labelled axis, largest count marked."""
    encoded = base64.b64encode(_svg(title, unit, bars).encode()).decode()
    return f"![{title}](data:image/svg+xml;base64,{encoded})"


def _svg(title: str, unit: str, bars: Sequence[tuple[str, int]]) -> str:
    most = max((count for _, count in bars), default=0) or 1
    inner, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"'
        f' viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        _text(_LEFT, 14, title, "start", "#222"),
        f'<path d="M{_LEFT} {_TOP + height}H{_WIDTH - _RIGHT}" stroke="#999"/>',
        _text(_LEFT - 6, _TOP + 8, f"{most:,}", "end"),
        _text(_LEFT - 6, _TOP + height, "0", "end"),
        _text(_LEFT + inner / 2, _HEIGHT - 6, unit, "middle"),
    ]
    step = inner / max(1, len(bars))
    every = max(1, round(34 / step))
    for index, (label, count) in enumerate(bars):
        x, tall = _LEFT + index * step, height * count / most
        parts.append(
            f'<rect x="{x + 1:.1f}" y="{_TOP + height - tall:.1f}" width="{max(1.0, step - 2):.1f}"'
            f' height="{tall:.1f}" fill="{_COLOUR}"><title>{escape(label)}: {count}</title></rect>'
        )
        if index % every == 0:
            parts.append(_text(x + 1, _TOP + height + 14, label))
    return "".join([*parts, "</svg>"])


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "#666") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
