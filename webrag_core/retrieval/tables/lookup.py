"""Look a value up: a search for passages with tables, their whole tables, and the cells that the question asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

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


async def lookup(corpus: Corpus, question: str, filters: ScopeFilter = EVERYTHING, *, k: int = 5) -> list[TableCell]:
    """The `k` cells of stored tables and definition lists that answer the question best, best first; possibly none.

    `filters` restrict the pages; of flags in them, those for tables count. Nothing is computed from several cells: that
    could not be proved. Raises InvalidInputError for an empty question, a filter with unknown names and k < 1.
    """
    if k < 1:
        raise InvalidInputError(f"k must be at least 1, got {k}")
    flags = [flag for flag in FLAGS if filters.flags is None or flag in filters.flags]
    request = SearchRequest(query=question, filters=replace(filters, flags=flags))
    model_id = await corpus.indexer.model_id()
    retrieved = await Searcher(corpus.database, corpus.indexer.embedder, model_id, corpus.settings).search(request)
    chunks = retrieved.chunks[:_PASSAGES]
    texts = await _texts(corpus, sorted({chunk.version_id for chunk in chunks}))
    # in a thread: a large page takes longer to parse than other queries may wait
    return await asyncio.to_thread(_cells, question, retrieved.term_idf, chunks, texts, k)


async def _texts(corpus: Corpus, versions: Sequence[int]) -> dict[int, str]:
    """The kept texts of versions."""
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT id, markdown FROM document_versions WHERE id = ANY(%s) AND pruned_at IS NULL", (list(versions),)
        )
        return dict(await cursor.fetchall())


def _cells(
    question: str, idf: Mapping[str, float], chunks: Sequence[RetrievedChunk], texts: Mapping[int, str], k: int
) -> list[TableCell]:
    by_version: dict[int, list[RetrievedChunk]] = {}
    for chunk in chunks:
        if chunk.version_id in texts:
            by_version.setdefault(chunk.version_id, []).append(chunk)
    candidates: list[Candidate] = []
    pages: list[RetrievedChunk] = []
    for version_id, found in by_version.items():
        text = texts[version_id]
        for table in tables_at(text, [(chunk.char_start, chunk.char_end) for chunk in found]):
            meeting = [one for one in found if one.char_start < table.end and table.start < one.char_end]
            relevance = max(one.relevance or 0.0 for one in meeting)
            candidates.append(Candidate(text, table, meeting[0].title or "", relevance))
            pages.append(meeting[0])
    return [
        _result(candidates[one.candidate], pages[one.candidate], one)
        for one in best_cells(question, idf, candidates, k)
    ]


def _result(candidate: Candidate, page: RetrievedChunk, found: ScoredCell) -> TableCell:
    text, row, cell = candidate.text, found.row, found.cell
    return TableCell(
        text=cell.of(text),
        start=cell.start,
        end=cell.end,
        kind=candidate.table.kind,
        row_header=[_slice(text, one) for one in row.cells[: row.keys] if one.end > one.start],
        column=None if cell.header is None or cell.header.end == cell.header.start else _slice(text, cell.header),
        row_start=row.start,
        row_end=row.end,
        url=page.source_url,
        title=page.title,
        heading=" > ".join(candidate.table.heading_path) or None,
        document_id=page.document_id,
        version_id=page.version_id,
        version_sha256=page.version_sha256,
        score=found.score,
    )


def _slice(text: str, cell: Cell) -> Slice:
    return Slice(text=cell.of(text), start=cell.start, end=cell.end)
