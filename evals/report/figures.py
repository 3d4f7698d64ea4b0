"""The report's figures: systems in the plane of pages and success, and whether a probability is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

from evals.intervals import Interval
from webrag_core.drawing.figure import DataTable, Figure
from webrag_core.drawing.marks import Mark, MarkKind, mark_plane
from webrag_core.drawing.reliability import reliability_diagram
from webrag_core.reliability import Reliability

SystemKind = Literal["run", "baseline", "oracle"]
_TICKS = (1, 2, 3, 5, 10, 20, 30)
_KINDS: dict[SystemKind, MarkKind] = {"run": "full", "baseline": "hollow", "oracle": "square"}


@dataclass(frozen=True, slots=True)
class SystemMark:
    """A system in the plane of pages and success."""

    label: str
    kind: SystemKind
    pages: float
    success: Interval


def success_against_pages(systems: Sequence[SystemMark], curve: Sequence[float], most: int) -> Figure:
    """Each system at its mean pages (up to `most`) and success; `curve[k - 1]` is the share of items whose gold pages
    are all among the first k fetched."""

    def across(pages: float) -> float:
        return log(max(1.0, min(pages, most))) / log(max(2, most))

    marks = [
        Mark(
            system.label,
            _KINDS[system.kind],
            across(system.pages),
            system.success.mean,
            system.success.low,
            system.success.high,
            f"{system.label}: {system.success} at {system.pages:.1f} pages",
        )
        for system in systems
    ]
    rows = tuple(
        (f"{number} {system.label}", system.kind, f"{system.pages:.1f}", str(system.success))
        for number, system in enumerate(systems, start=1)
    )
    return mark_plane(
        "Evidence complete against pages fetched",
        marks,
        DataTable(("System", "Kind", "Pages", "Evidence complete"), rows),
        x_ticks={str(tick): across(tick) for tick in _TICKS if tick <= most},
        x_name="pages fetched, seed included (logarithmic)",
        y_name="evidence complete",
        curve=[(across(k), share) for k, share in enumerate(curve, start=1)],
    )


def completeness_diagram(curve: Reliability) -> Figure:
    """Whether evidence was complete as often as was stated."""
    return reliability_diagram(curve, stated="probability_complete", observed="evidence complete", cases="decisions")
