"""A plane of data: from shares of its two axes to pixels, with a grid, ticks and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from webrag_core.drawing.figure import Label, Line


@dataclass(frozen=True, slots=True)
class Plane:
    """A picture of `width` × `height` pixels with margins around the data. Shares are in [0, 1], upwards and to the
    right."""

    width: float = 320.0
    height: float = 220.0
    left: float = 42.0
    right: float = 20.0
    top: float = 26.0
    bottom: float = 38.0

    def x(self, share: float) -> float:
        """The pixel of a share of the horizontal axis."""
        return self.left + share * (self.width - self.left - self.right)

    def y(self, share: float) -> float:
        """The pixel of a share of the vertical axis."""
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def frame(
        self, x_ticks: Mapping[str, float], y_ticks: Mapping[str, float], x_name: str, y_name: str
    ) -> list[Line | Label]:
        """A line for each tick of the vertical axis, names of all ticks and of the axes."""
        parts: list[Line | Label] = []
        for name, share in y_ticks.items():
            y = self.y(share)
            parts.append(Line("grid", self.x(0), y, self.x(1), y))
            parts.append(Label("soft", self.x(0) - 6, y + 4, name, "end"))
        parts += [Label("soft", self.x(share), self.y(0) + 15, name, "middle") for name, share in x_ticks.items()]
        parts.append(Label("soft", self.x(0.5), self.height - 6, x_name, "middle"))
        parts.append(Label("soft", 2, 12, y_name))
        return parts


TENTHS = {f"{tenth * 10} %": tenth / 10 for tenth in range(0, 11, 2)}
"""Ticks of a share."""
