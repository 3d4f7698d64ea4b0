"""What the recency boost costs where dates say nothing: the retrieval benchmark's documents with dates drawn by lot.

No preference for a recent page helps here, so what it changes it costs. The figures are a lower bound: the documents
are few and long, and the rivals of a passage often stand in its own document. Prints, for each boost, the scores and
their paired differences to no boost, with 95 % bootstrap intervals. `python -m benchmarks.corpus.recency`
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from evals.intervals import interval
from evals.retrieval.data import (
    DEFAULT_DOCUMENTS,
    DEFAULT_QUESTIONS,
    BenchDocument,
    RetrievalQuestion,
    load_documents,
    load_questions,
)
from evals.retrieval.quality import KEPT, Bench, bench_settings, open_bench
from evals.retrieval.scoring import score_question
from webrag_core.cli.output import print_table
from webrag_core.config import load_settings
from webrag_core.retrieval.request import RECENT_YEARS, Pattern

BOOSTS = (0.0, 0.05, 0.1, 0.2, 0.8)
"""None, three small ones, and the project's own from which the formula comes."""

_METRICS = ("hits@4", "mrr@10")
_LATEST = 2024


def year_of(document: BenchDocument) -> int:
    """One of the years of the window and as many before it, by the document's name: the same in every run."""
    return _LATEST - hashlib.sha256(document.id.encode()).digest()[0] % (2 * RECENT_YEARS)


async def date_by_lot(bench: Bench, documents: Sequence[BenchDocument]) -> None:
    """Give every stored version a date."""
    async with bench.corpus.database.connection() as connection:
        for document in documents:
            await connection.execute(
                "UPDATE document_versions v SET published = %s FROM documents d"
                " WHERE d.id = v.document_id AND d.canonical_url = %s",
                (datetime(year_of(document), 6, 1, tzinfo=UTC), document.url),
            )


async def measure(bench: Bench, questions: Sequence[RetrievalQuestion], boost: float) -> dict[str, dict[str, float]]:
    """Scores by question id."""
    scores = {}
    for question in questions:
        units = (await bench.by_pattern(Pattern.RERANKED, question.question, recency_boost=boost))[:KEPT]
        scores[question.id] = score_question(question.evidence, units, bench.relevant(question))
    return scores


async def main() -> None:
    """Print the table."""
    documents = load_documents(DEFAULT_DOCUMENTS)
    questions = load_questions(DEFAULT_QUESTIONS, documents)
    async with open_bench(documents, bench_settings(load_settings(), documents)) as bench:
        await date_by_lot(bench, documents)
        found = {boost: await measure(bench, questions, boost) for boost in BOOSTS}
    rows = []
    for boost, scores in found.items():
        cells = []
        for metric in _METRICS:
            mean = interval([scores[one.id][metric] for one in questions]).mean
            change = interval([scores[one.id][metric] - found[0.0][one.id][metric] for one in questions])
            cells += [f"{mean:.3f}", f"{change.mean:+.4f} [{change.low:+.4f}, {change.high:+.4f}]"]
        rows.append((f"{boost:g}", len(questions), *cells))
    print_table(("boost", "n", *(name for metric in _METRICS for name in (metric, "change"))), rows)


if __name__ == "__main__":
    asyncio.run(main())
