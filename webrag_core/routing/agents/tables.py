"""Agent `tables`: cells of tables and definition lists, each with its whole row."""

from __future__ import annotations

from webrag_core.corpus.version_texts import version_texts
from webrag_core.retrieval.tables.lookup import lookup
from webrag_core.retrieval.tables.models import TableCell
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import TablesLookup, Task
from webrag_core.routing.results import Finding, Output

LEAST_SCORE = 0.55
"""Score of a cell below which it is not named: cells of other sites than the question's never reached .48."""


class TablesAgent:
    """Implements `Agent`."""

    async def run(self, task: Task, context: Context) -> Output:
        """Name the rows whose cells answer best; nothing where none does well."""
        params = task.params
        assert isinstance(params, TablesLookup)
        filters = params.filters()
        cells = [
            cell
            for cell in await lookup(context.corpus, params.query, filters, k=params.k)
            if cell.score >= LEAST_SCORE
        ]
        async with context.corpus.database.connection() as connection:
            texts = await version_texts(connection, [cell.version_id for cell in cells])
        rows: dict[tuple[int, int], Finding] = {}
        for cell in cells:
            text = texts.get(cell.version_id)
            if text is not None:
                rows.setdefault((cell.version_id, cell.row_start), _finding(cell, text))
        return Output(findings=list(rows.values()), note="" if rows else "no table holds such a value")


def _finding(cell: TableCell, text: str) -> Finding:
    row = " ".join(header.plain for header in cell.row_header)
    names = [name for name in (row, "" if cell.column is None else cell.column.plain) if name]
    return Finding.of(
        text[cell.row_start : cell.row_end],
        group="In tables",
        label=": ".join([" – ".join(names), cell.plain] if names else [cell.plain])[:200],
        url=cell.url,
        title=cell.title,
        heading=cell.heading,
        version_id=cell.version_id,
        char_start=cell.row_start,
    )
