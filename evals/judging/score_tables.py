"""Tables of intervals, for people and for machines."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from evals.intervals import Interval
from webrag_core.cli.output import print_table

Scores = Mapping[str, Mapping[str, Interval]]
"""Group (or system) -> metric -> interval."""


def score_cells(table: Scores) -> dict[str, dict[str, dict[str, Any]]]:
    """The table as plain data."""
    return {name: {metric: dataclasses.asdict(cell) for metric, cell in row.items()} for name, row in table.items()}


def print_scores(table: Scores, metrics: Sequence[str], heading: str = "group") -> None:
    """One row per group, one cell per metric: mean [low, high]."""
    rows = []
    for name, row in table.items():
        n = max((cell.n for cell in row.values()), default=0)
        rows.append((name, n, *(str(row[metric]) if metric in row else "–" for metric in metrics)))
    print_table((heading, "n", *metrics), rows)
