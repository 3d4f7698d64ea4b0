"""Look a value up: a search for passages with tables, their whole tables, and the cells that the question asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from webrag_core.corpus.version_texts import version_texts
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.request import EVERYTHING, ScopeFilter, SearchRequest
from webrag_core.retrieval.searcher import Searcher
from webrag_core.retrieval.tables.models import Slice, TableCell
from webrag_core.retrieval.tables.parsing import Cell, tables_at
from webrag_core.retrieval.tables.scoring import Candidate, ScoredCell, best_cells

FLAGS = ("definition_list", "table")
"""Flags of the passages that are looked at."""
_PASSAGES = 20  # best first, whose tables are read


@dataclass(frozen=True, slots=True)
class FoundTables:
    """Tables in the passages of a search, best passages first, each with the passage; `idf` weighs the terms of the
    question."""

    candidates: list[Candidate]
    passages: list[RetrievedChunk]
    idf: dict[str, float]


async def lookup(corpus: Corpus, question: str, filters: ScopeFilter = EVERYTHING, *, k: int = 5) -> list[TableCell]:
    """The `k` cells of stored tables and definition lists that answer the question best, best first; possibly none.

    `filters` restrict the pages; of flags in them, those for tables count. Nothing is computed from several cells: that
    could not be proved. Raises InvalidInputError for an empty question, a filter with unknown names and k < 1.
    """
    if k < 1:
        raise InvalidInputError(f"k must be at least 1, got {k}")
    tables = await find_tables(corpus, question, filters)
    # in a thread: it takes longer than other queries may wait for the event loop
    best = await asyncio.to_thread(best_cells, question, tables.idf, tables.candidates, k)
    return [_result(tables.candidates[item.candidate], tables.passages[item.candidate], item) for item in best]


async def find_tables(corpus: Corpus, question: str, filters: ScopeFilter = EVERYTHING) -> FoundTables:
    """Search for passages with tables, and read whole each table that one of them has a part of. Raises as `lookup`."""
    flags = [flag for flag in FLAGS if filters.flags is None or flag in filters.flags]
    request = SearchRequest(query=question, filters=replace(filters, flags=flags))
    model_id = await corpus.model_id()
    retrieved = await Searcher(corpus.database, corpus.embedder, model_id, corpus.settings).search(request)
    by_version: dict[int, list[RetrievedChunk]] = {}
    for chunk in retrieved.chunks[:_PASSAGES]:
        by_version.setdefault(chunk.version_id, []).append(chunk)
    async with corpus.database.connection() as connection:
        texts = await version_texts(connection, by_version)
    tables = FoundTables([], [], retrieved.term_idf)
    for version_id in [item for item in by_version if item in texts]:
        await asyncio.to_thread(_read, texts[version_id], by_version[version_id], tables)
    return tables


def _read(text: str, chunks: Sequence[RetrievedChunk], tables: FoundTables) -> None:
    """Add the tables of one version that `chunks`, best first, have parts of."""
    for table in tables_at(text, [(chunk.char_start, chunk.char_end) for chunk in chunks]):
        best = next(chunk for chunk in chunks if chunk.char_start < table.end and table.start < chunk.char_end)
        tables.candidates.append(Candidate(text, table, best.title or "", best.relevance or 0.0, best.language))
        tables.passages.append(best)


def _result(candidate: Candidate, page: RetrievedChunk, best: ScoredCell) -> TableCell:
    text, row, cell = candidate.text, best.row, best.cell
    return TableCell(
        text=cell.of(text),
        start=cell.start,
        end=cell.end,
        kind=candidate.table.kind,
        row_header=[_slice(text, cell) for cell in row.cells[: row.keys] if cell.end > cell.start],
        column=None if cell.header is None or cell.header.end == cell.header.start else _slice(text, cell.header),
        row_start=row.start,
        row_end=row.end,
        url=page.source_url,
        title=page.title,
        heading=" > ".join(candidate.table.heading_path) or None,
        document_id=page.document_id,
        version_id=page.version_id,
        version_sha256=page.version_sha256,
        score=best.score,
    )


def _slice(text: str, cell: Cell) -> Slice:
    return Slice(text=cell.of(text), start=cell.start, end=cell.end)
