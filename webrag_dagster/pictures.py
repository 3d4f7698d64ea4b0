"""Figures as the UI can show them: an image in Markdown, with its data as a table below it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.markdown import rows_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webrag_core.drawing.figure import Figure
    from webrag_core.orchestration.models import Round

_ROWS = 100


def picture(figure: Figure) -> dg.MarkdownMetadataValue:
    """The image, what the figure says beside it, and the first rows of its data."""
    table = figure.table
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows[:_ROWS]]
    rest = [f"*{len(table.rows) - _ROWS} more rows are left out.*"] if len(table.rows) > _ROWS else []
    parts = [image(figure), figure.note, "\n".join(rows_markdown(rows)), *rest]
    return dg.MetadataValue.md("\n\n".join(filter(None, parts)))


def image(figure: Figure) -> str:
    """The image alone, for where the data stands beside it. It lies in its address: nothing is loaded."""
    data = base64.b64encode(figure.document().encode()).decode()
    return f"![{figure.title}](data:image/svg+xml;base64,{data})"


def score_image(rounds: Sequence[Round]) -> str:
    """The scores of the rounds of a run, whose table stands beside it."""
    from webrag_core.showing.score_figure import score_figure

    return image(score_figure(rounds))
