"""Chunks by size."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.drawing.columns import Column, columns
from webrag_core.drawing.figure import DataTable, Figure


def size_figure(sizes: Sequence[tuple[str, int]]) -> Figure:
    """How many child chunks there are from each number of tokens on, from small to large; at least one range."""
    return columns(
        "Child chunks by size",
        [Column(tokens, count, f"{count:,} chunks") for tokens, count in sizes],
        DataTable(("Tokens from", "Chunks"), tuple((tokens, f"{count:,}") for tokens, count in sizes)),
        x_name="tokens from",
        y_name="chunks",
        most=f"{max(count for _, count in sizes):,}",
    )
