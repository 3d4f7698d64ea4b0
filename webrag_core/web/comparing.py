"""The comparison of two versions, cut into parts that a browser loads at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from webrag_core.history.compare import PageComparison
from webrag_core.history.diff_rows import DiffRow, DiffRun, diff_runs

_PART_BYTES = 90_000
_CELL_BYTES = 20_000
_ROW_BYTES = 220  # of the tags around a row


@dataclass(frozen=True, slots=True)
class ComparisonPart:
    """Part `number` of `parts`, from 1. `is_cut`: the end of a very long block is left out."""

    runs: tuple[DiffRun, ...]
    number: int
    parts: int
    is_cut: bool

    @property
    def anchors(self) -> frozenset[str]:
        """Where moved blocks stand in this part: `from-1` and `to-1` are the two places of the first one."""
        rows = (row for run in self.runs if not run.folded for row in run.rows if row.joined)
        return frozenset(f"{'from' if row.kind == 'away' else 'to'}-{row.joined}" for row in rows)


def comparison_part(comparison: PageComparison, number: int) -> ComparisonPart:
    """A part of the comparison, the last one where there are fewer."""
    parts: list[list[DiffRun]] = [[]]
    size, is_cut = 0, False
    for run in _pieces(comparison):
        rows = tuple(map(_short, run.rows))
        is_cut = is_cut or rows != run.rows
        needed = 0 if run.folded else sum(map(_bytes, rows))
        if parts[-1] and size + needed > _PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(replace(run, rows=rows))
        size += needed
    chosen = min(max(number, 1), len(parts))
    return ComparisonPart(tuple(parts[chosen - 1]), chosen, len(parts), is_cut)


def _pieces(comparison: PageComparison) -> Iterator[DiffRun]:
    """The runs; one of many rows in pieces."""
    for run in diff_runs(comparison):
        if run.folded:
            yield run
            continue
        for start in range(0, len(run.rows), 10):
            yield replace(run, rows=run.rows[start : start + 10], headings=() if start else run.headings)


def _short(row: DiffRow) -> DiffRow:
    return replace(row, left=_cut(row.left), right=_cut(row.right))


def _cut(cell: Markup) -> Markup:
    """A cell, without its marks and its end where it is very long."""
    text = cell.encode()
    if len(text) <= _CELL_BYTES:
        return cell
    plain = cell.striptags().encode()[: _CELL_BYTES // 2].decode(errors="ignore")
    return escape(f"{plain}…")


def _bytes(row: DiffRow) -> int:
    return len(row.left.encode()) + len(row.right.encode()) + _ROW_BYTES
