"""Which cell does a question ask for? The row by what names it, the column by its header. Pure.

    score(cell) = .60 explained    IDF-weighted share of the question's terms, each with the weight of the best place
                                   in which it stands
                + .20 named        share of the words of the row's name that the question holds; nearly 1 where it
                                   holds another cell whole
                + .10 token match  soft match of the question with name, header and cell (`retrieval.scoring`)
                + .10 passage      relevance of the passage in which the row was found

A term counts whole in the name of the row and in the header of the cell's own column, less in the cell, the headings
and the rest of the row. A cell that the question holds whole names its row as well, and is hardly what it asks for; so
a cell of the first column can be the answer ("which type takes 8 bytes?").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.passages import extract_passages
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected
from webrag_core.retrieval.scoring import profile, score_passages
from webrag_core.retrieval.tables.parsing import Cell, Row, Table

EXPLAINED_SHARE = 0.60
NAMED_SHARE = 0.20
TOKEN_SHARE = 0.10
PASSAGE_SHARE = 0.10

_IN_CELL = 0.7  # weight of a term there, where one in the name of the row has 1
_IN_HEADINGS = 0.6
_ELSEWHERE = 0.5
_GIVEN = 0.7  # factor of a cell that the question holds whole
_STATED = 0.8  # share of the name that another cell stands for
_DOUBTFUL = 0.5  # factor of a first row that may be a header
_SENTENCES = 2  # of one definition that are listed
_READ = 60  # cells, best first, whose tokens are compared
_READ_CHARS = 300  # of a cell, whose tokens are compared
_MAX_READ = 4_000  # characters of a cell, whose words are


@dataclass(frozen=True, slots=True)
class Candidate:
    """A table of a text that a search found. `relevance` in [0, 1] is that of the best passage with a part of it."""

    text: str
    table: Table
    title: str
    relevance: float
    language: str | None = None


@dataclass(frozen=True, slots=True)
class ScoredCell:
    """A cell with its score in [0, 1]; `candidate` is the index of its table."""

    candidate: int
    row: Row
    cell: Cell
    score: float
    is_sentence: bool = False


def best_cells(question: str, idf: Mapping[str, float], candidates: Sequence[Candidate], k: int) -> list[ScoredCell]:
    """The `k` best cells, best first; equal ones in the order of the tables. `idf` holds the weights of the question's
    terms. A cell in whose row no term of the question stands is none."""
    language = detected(question)
    weights = dict.fromkeys(terms(question, language), 1.0) | dict(idf)
    total = sum(weights.values())
    if total <= 0:
        return []
    cells = [
        ScoredCell(place, row, cell, score, candidate.table.kind == "definition_list" and cell.header is None)
        for place, candidate in enumerate(candidates)
        for row, cell, score in _scored(candidate, weights, total)
    ]
    cells.sort(key=lambda cell: -cell.score)
    best = cells[: max(k, _READ)]
    texts = [_read_text(candidates[item.candidate], item) for item in best]
    matches = score_passages(profile(question, weights), extract_passages(texts, language)).token_match
    read = [replace(item, score=item.score + TOKEN_SHARE * float(m)) for item, m in zip(best, matches, strict=True)]
    return _spread(sorted(read, key=lambda item: -item.score))[:k]


def _spread(cells: Sequence[ScoredCell]) -> list[ScoredCell]:
    """Without the further sentences of one definition."""
    sentences: Counter[int] = Counter()
    results = []
    for cell in cells:
        if cell.is_sentence:
            sentences[cell.candidate] += 1
            if sentences[cell.candidate] > _SENTENCES:
                continue
        results.append(cell)
    return results


def _scored(candidate: Candidate, weights: Mapping[str, float], total: float) -> Iterator[tuple[Row, Cell, float]]:
    """Every cell of a table that may answer, with its score but for the token match."""
    text, table, language = candidate.text, candidate.table, candidate.language
    above = _terms(" ".join((*table.heading_path, candidate.title)), language)
    for row in table.rows:
        cells = [_terms(cell.of(text), language) for cell in row.cells]
        whole = frozenset[str]().union(*cells)
        if whole.isdisjoint(weights):
            continue
        name = frozenset[str]().union(*cells[: row.keys])
        around = above if row.section is None else above | _terms(row.section.of(text), language)
        given = [bool(cell_terms) and cell_terms <= weights.keys() for cell_terms in cells]
        for place, (cell, cell_terms) in enumerate(zip(row.cells, cells, strict=True)):
            if cell.end == cell.start:
                continue
            header = frozenset[str]() if cell.header is None else _terms(cell.header.of(text), language)
            is_name = place < row.keys
            covered = frozenset[str]().union(
                *(cells[n] for n, all_given in enumerate(given) if all_given and n != place)
            )
            known = covered if is_name else covered | name
            explained = 0.0
            for term, weight in weights.items():
                if term in known or term in header:
                    explained += weight
                elif term in cell_terms:
                    explained += 0 if is_name else _IN_CELL * weight
                elif term in around:
                    explained += _IN_HEADINGS * weight
                elif term in whole:
                    explained += _ELSEWHERE * weight
            named = sum(term in weights for term in known) / len(known) if known else 0.0
            if covered:  # asked the other way round: the name is what is not known yet
                named = max(named, 1.0 if is_name else _STATED)
            score = EXPLAINED_SHARE * explained / total + NAMED_SHARE * named + PASSAGE_SHARE * candidate.relevance
            yield row, cell, score * (_GIVEN if given[place] else 1) * (_DOUBTFUL if row.doubtful else 1)


@lru_cache(maxsize=20_000)  # headers and names come again with every cell, tables with every question
def _terms(markdown: str, language: str | None) -> frozenset[str]:
    return frozenset(terms(plain_text(markdown[:_MAX_READ]), language))


def _read_text(candidate: Candidate, scored_cell: ScoredCell) -> str:
    text = candidate.text
    name = " ".join(cell.of(text) for cell in scored_cell.row.cells[: scored_cell.row.keys])
    header = scored_cell.cell.header.of(text) if scored_cell.cell.header else ""
    return plain_text(f"{name} {header} {scored_cell.cell.of(text)[:_READ_CHARS]}")
