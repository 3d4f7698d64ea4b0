"""The work of `retrieval_scores`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import dagster as dg

from evals.retrieval.data import DEFAULT_DOCUMENTS, DEFAULT_QUESTIONS, load_documents, load_questions
from evals.retrieval.quality import ask, bench_settings, open_bench
from evals.retrieval.scoring import METRICS, aggregate, lowest_third
from webrag_core.errors import InvalidInputError
from webrag_dagster.evaluation.run_files import run_files
from webrag_dagster.evaluation.scores import number
from webrag_dagster.evaluation.suite import Scored
from webrag_dagster.markdown import rows_markdown

if TYPE_CHECKING:
    from webrag_core.config import Settings

SYSTEMS = ("local", "bm25")
"""What a user gets, and the plainest thing beside it."""


async def rank(context: dg.AssetExecutionContext, settings: Settings, *, sample: int) -> Scored:
    """One run of the benchmark on every n-th question, `sample` of them at most. Raises InvalidInputError."""
    documents = load_documents(DEFAULT_DOCUMENTS)
    questions = load_questions(DEFAULT_QUESTIONS, documents)
    if sample < 1:
        raise InvalidInputError(f"a sample of {sample} questions says nothing; ask for at least one")
    questions = questions[:: max(1, -(-len(questions) // sample))]
    files = run_files(settings, "retrieval_scores", context.run.run_id)
    async with open_bench(documents, bench_settings(settings, documents)) as bench:
        context.log.info(
            f"{len(documents)} documents, {len(bench.parents)} parents indexed; {len(questions)} questions"
        )
        started = time.perf_counter()
        with files.log.open("w", encoding="utf-8") as stream:
            scores = await ask(bench, questions, stream, systems=SYSTEMS)
        seconds = time.perf_counter() - started
        parents = len(bench.parents)
    low = lowest_third(questions, {document.id: document for document in documents})
    tables = {name: aggregate(questions, scores_of, low) for name, scores_of in scores.items()}
    rows: list[dict[str, object]] = [
        {
            "system": name,
            "questions": group,
            "n": row[METRICS[0]].n,
            **{metric: f"{row[metric].mean:.3f} [{row[metric].low:.3f}, {row[metric].high:.3f}]" for metric in METRICS},
        }
        for name, groups in tables.items()
        for group, row in groups.items()
    ]
    return Scored(
        metadata={
            "scores": dg.MetadataValue.md("\n".join(rows_markdown(rows))),
            **{metric: number(cell.mean) for metric, cell in tables["local"]["all"].items()},
            "bm25_mrr@10": number(tables["bm25"]["all"]["mrr@10"].mean),
            **{
                f"{group}_mrr@10": number(row["mrr@10"].mean)
                for group, row in tables["local"].items()
                if group != "all"
            },
            "questions": dg.MetadataValue.int(len(questions)),
            "documents": dg.MetadataValue.int(len(documents)),
            "parents": dg.MetadataValue.int(parents),
            "seconds": number(seconds),
            "rankings": dg.MetadataValue.path(files.keep(files.log)),
        },
        scores=scores["local"],
        clusters={question.id: question.evidence[0].document for question in questions},
    )
