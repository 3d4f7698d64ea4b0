"""Values looked up in tables and definition lists of frozen sites: is the right cell the first, among the first five?

    python -m evals.retrieval.tables [--site NAME …] [--home FOLDER] [--failures]

A cell is right when it has the text of a gold cell, on its page and in its row. Each site is stored whole, once
(`--home` keeps it). Weights were chosen on postgresql-15; the other sites are reported as they came. Beside it stand:

    first row       the first row of the table that shares most words with the question, among the tables found
    nearest row     the row of all tables found that shares most words with the question

The cells of their rows that name nothing are listed from left to right.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

from pydantic import BaseModel, Field

from evals.intervals import interval
from evals.jsonl import load_jsonl
from evals.storing import store_site
from evals.walks.goldens import EVALS
from evals.walks.suites import own_suites
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.config import load_settings
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.tables.lookup import FoundTables, find_tables, lookup
from webrag_core.retrieval.tables.parsing import Row
from webrag_core.retrieval.tables.scoring import Candidate

QUESTIONS = EVALS / "golden" / "table-questions.jsonl"
SYSTEMS = ("lookup", "nearest row", "first row")
FIRST = (1, 5)
_TUNED_ON = ("postgresql-15",)


class GoldCell(BaseModel):
    """A right cell: its exact text, on a page, in a row that holds `row`."""

    url: str
    row: str
    text: str


class TableQuestion(BaseModel):
    """A question about a value; any of the cells answers it."""

    id: str
    site: str
    question: str
    answers: list[GoldCell] = Field(min_length=1)

    def is_right(self, url: str, row: str, text: str) -> bool:
        """Whether a cell is one of the gold ones."""
        return any(answer.url == url and answer.row in row and answer.text == text for answer in self.answers)


@dataclass(slots=True)
class Results:
    """By system and question: whether each listed cell is right, best first; and the milliseconds of each look-up."""

    listed: dict[str, dict[str, list[bool]]] = field(default_factory=lambda: {name: {} for name in SYSTEMS})
    milliseconds: list[float] = field(default_factory=list)

    def hits(self, system: str, items: Sequence[str], first: int) -> list[float]:
        """1 for each question with a right cell among the first ones, else 0."""
        return [float(any(self.listed[system][item][:first])) for item in items]


def load_questions(path: Path = QUESTIONS) -> list[TableQuestion]:
    """The questions of a file. Raises InvalidInputError naming the first bad line."""
    return load_jsonl(path, TableQuestion.model_validate, "a question about a table", lambda question: question.id)


def shared_words(question: str, text: str) -> int:
    """How many terms of the question stand in a text (Markdown)."""
    return len(set(terms(question)).intersection(terms(plain_text(text))))


def baselines(question: str, result: FoundTables) -> dict[str, list[tuple[Candidate, Row]]]:
    """The row that each baseline names, if any table was found."""
    if not result.candidates:
        return {"nearest row": [], "first row": []}
    table = max(
        result.candidates,
        key=lambda candidate: shared_words(question, candidate.text[candidate.table.start : candidate.table.end]),
    )
    rows = [(candidate, row) for candidate in result.candidates for row in _rows(candidate)]
    nearest = max(rows, key=lambda row: shared_words(question, _row_text(*row)))
    return {"nearest row": [nearest], "first row": [(table, _rows(table)[0])]}


def _rows(candidate: Candidate) -> Sequence[Row]:
    """The rows of a table without one that may be its header, where there are others."""
    rows = candidate.table.rows
    return [row for row in rows if not row.doubtful] or rows


def _row_text(candidate: Candidate, row: Row) -> str:
    return candidate.text[row.start : row.end]


def _cells(candidate: Candidate, row: Row) -> Iterator[str]:
    return (cell.of(candidate.text) for cell in row.cells[row.keys :])


async def ask_site(site: str, questions: Sequence[TableQuestion], home: Path, results: Results) -> None:
    """Store a site unless it is, and ask its questions of every system."""
    warc = own_suites()[site].warc
    acquirer = WarcAcquirer(warc)
    settings = load_settings(webrag_home=home / site, database_url=None, webrag_warc=warc, webrag_max_age=None)
    async with Corpus.open(settings, acquirer) as corpus:
        await store_site(corpus, site, acquirer.page_urls())
        await corpus.indexer.finish_bulk()
        await lookup(corpus, "the first one loads the model")
        for question in questions:
            started = time.perf_counter()
            cells = await lookup(corpus, question.question, k=max(FIRST))
            results.milliseconds.append((time.perf_counter() - started) * 1000)
            result = await find_tables(corpus, question.question)
            texts = {
                page.version_id: candidate.text
                for candidate, page in zip(result.candidates, result.passages, strict=True)
            }
            results.listed["lookup"][question.id] = [
                question.is_right(cell.url, texts[cell.version_id][cell.row_start : cell.row_end], cell.text)
                for cell in cells
            ]
            urls = {
                id(candidate): page.source_url
                for candidate, page in zip(result.candidates, result.passages, strict=True)
            }
            for name, rows in baselines(question.question, result).items():
                results.listed[name][question.id] = [
                    question.is_right(urls[id(candidate)], _row_text(candidate, row), text)
                    for candidate, row in rows
                    for text in _cells(candidate, row)
                ]


def table(results: Results, by_site: Mapping[str, Sequence[TableQuestion]]) -> list[str]:
    """Lines: hit@1 and hit@5 by system and site, and over the sites that nothing was chosen on."""
    held_out = [item for site, some in by_site.items() if site not in _TUNED_ON for item in some]
    groups = {**by_site, "held out together": held_out} if held_out else dict(by_site)
    lines = []
    for name, questions in groups.items():
        lines.append(f"{name}{' (weights chosen here)' if name in _TUNED_ON else ''}: {len(questions)} questions")
        for system in SYSTEMS:
            scores = (interval(results.hits(system, [question.id for question in questions], first)) for first in FIRST)
            lines.append(f"  {system:12}" + "".join(f"  @{k} {score}" for k, score in zip(FIRST, scores, strict=True)))
    return lines


def main() -> None:
    """Print the table and the times; with `--failures` the questions whose right cell is not the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", action="append", help="only this site; repeatable")
    parser.add_argument("--home", type=Path, help="folder that keeps the stored sites")
    parser.add_argument("--failures", action="store_true")
    options = parser.parse_args()
    by_site: dict[str, list[TableQuestion]] = {}
    for question in load_questions():
        if not options.site or question.site in options.site:
            by_site.setdefault(question.site, []).append(question)
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        for site, questions in by_site.items():
            asyncio.run(ask_site(site, questions, options.home or Path(folder), results))
    print("\n".join(table(results, by_site)))
    steps = quantiles(results.milliseconds, n=20)
    print(f"a look-up: p50 {steps[9]:.0f} ms, p95 {steps[18]:.0f} ms")
    if options.failures:
        for question in (item for some in by_site.values() for item in some):
            if not any(results.listed["lookup"][question.id][:1]):
                print(question.id, question.question, results.listed["lookup"][question.id])


if __name__ == "__main__":
    main()
