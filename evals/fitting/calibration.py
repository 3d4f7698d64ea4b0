"""Fits what raw retrieval scores mean, and says how well that holds on questions it has not seen.

Every question is asked three times: of all documents (weight 1), of the other sets' documents (weight 0.3) and of all
documents with the evidence left out of the result (weight 0.05). Without the last two the table would know nothing of
questions that have no answer here.

`python -m evals.fitting.calibration` prints the figures; `--write` also writes the table that the core ships.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.fitting.fits import Array, fit_logistic, isotonic, provenance
from evals.retrieval.data import (
    DEFAULT_DOCUMENTS,
    DEFAULT_QUESTIONS,
    BenchDocument,
    RetrievalQuestion,
    load_documents,
    load_questions,
)
from evals.retrieval.quality import Bench, bench_settings, open_bench
from evals.retrieval.scoring import covers
from webrag_core.config import Settings, load_settings
from webrag_core.reliability import expected_calibration_error, reliability
from webrag_core.retrieval import calibration
from webrag_core.retrieval.calibration import FEATURES, RelevanceTable, features
from webrag_core.retrieval.scope import Scope
from webrag_core.retrieval.searcher import Searcher

TOP = 10
"""Chunks of each asking that are fitted and judged."""

_WEIGHTS = {"all": 1.0, "elsewhere": 0.3, "without": 0.05}
_FOLDS = 5
_RIDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Asking:
    """Raw scores of what one question found, best first, and which of it covers evidence."""

    question: str
    set: str
    kind: str
    scores: Array
    relevant: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sample:
    """The first `TOP` chunks of many askings: features, labels, weights, and the fold of their question."""

    features: Array
    labels: Array
    weights: Array
    folds: NDArray[np.int64]
    answerable: NDArray[np.bool_]


def sample_of(askings: Sequence[Asking]) -> Sample:
    """Rows of these askings; a question lies in one fold."""
    folds = {question: index % _FOLDS for index, question in enumerate(dict.fromkeys(a.question for a in askings))}
    parts = [(asking, features(asking.scores)[:TOP], asking.relevant[:TOP]) for asking in askings]
    sizes = [len(labels) for _, _, labels in parts]
    return Sample(
        np.concatenate([rows for _, rows, _ in parts]),
        np.concatenate([labels for _, _, labels in parts]).astype(np.float64),
        np.repeat([_WEIGHTS[asking.kind] for asking in askings], sizes),
        np.repeat([folds[asking.question] for asking in askings], sizes),
        np.repeat([asking.kind == "all" for asking in askings], sizes),
    )


def fit(sample: Sample, keep: NDArray[np.bool_] | None = None) -> RelevanceTable:
    """Logistic regression, then isotonic regression on its linear score."""
    chosen = np.ones(len(sample.labels), dtype=bool) if keep is None else keep
    rows, y, weights = sample.features[chosen], sample.labels[chosen], sample.weights[chosen]
    beta = np.round(fit_logistic(rows, y, weights, _RIDGE), 4)
    knots, levels = isotonic(np.column_stack([np.ones(len(rows)), rows]) @ beta, y, weights)
    a, b, c, d, e = (float(value) for value in beta)
    return RelevanceTable(
        (a, b, c, d, e),
        tuple(float(knot) for knot in np.round(knots, 4)),
        tuple(float(level) for level in np.round(levels, 4)),
    )


def cross_validated(sample: Sample) -> Array:
    """Each row's probability from a table that has not seen its question."""
    out = np.zeros(len(sample.labels))
    for fold in range(_FOLDS):
        test_rows = sample.folds == fold
        out[test_rows] = fit(sample, ~test_rows).from_features(sample.features[test_rows])
    return out


async def ask_all(bench: Bench, questions: Sequence[RetrievalQuestion]) -> list[Asking]:
    """Every question in its three kinds (two, when there is one set only)."""
    corpus = bench.corpus
    searcher = Searcher(corpus.database, corpus.embedder, await corpus.model_id(), corpus.settings)
    async with corpus.database.connection() as connection:
        cursor = await connection.execute("SELECT canonical_url, id FROM documents")
        ids = {bench.names[url]: document_id for url, document_id in await cursor.fetchall()}
    homes: dict[str, set[str]] = {}
    for question in questions:
        homes.setdefault(question.set, set()).update(span.document for span in question.evidence)
    out = []
    for question in questions:
        elsewhere = {ids[name] for other, names in homes.items() if other != question.set for name in names}
        for kind, scope in (("all", bench.scope), ("elsewhere", Scope.of(dict.fromkeys(elsewhere, 0)))):
            if scope.is_empty:
                continue
            chunks = (await searcher.retrieve(question.question, scope, mode="chunk")).chunks
            scores = np.array([chunk.raw_score for chunk in chunks])
            relevant = np.array(
                [
                    any(
                        covers(bench.names[chunk.source_url], chunk.char_start, chunk.char_end, span)
                        for span in question.evidence
                    )
                    for chunk in chunks
                ],
                dtype=bool,
            )
            out.append(Asking(question.id, question.set, kind, scores, relevant))
            if kind == "all":
                out.append(Asking(question.id, question.set, "without", scores[~relevant], relevant[~relevant]))
    return [asking for asking in out if len(asking.scores)]


def report(askings: Sequence[Asking]) -> dict[str, object]:
    """ECE on the askings that have an answer: cross-validated, and of each set under a table fitted on the others."""
    whole = sample_of(askings)
    known = cross_validated(whole)
    seen = whole.answerable
    figures: dict[str, object] = {
        "in_domain": round(expected_calibration_error(known[seen], whole.labels[seen]), 4),
        "reliability": reliability(known[seen], whole.labels[seen]),
    }
    best = known[~seen & (whole.features[:, 3] == 0)]
    if len(best):
        figures["best_of_unanswerable"] = round(float(best.mean()), 4)
    sets = list(dict.fromkeys(asking.set for asking in askings))
    for name in sets if len(sets) > 1 else []:
        table = fit(sample_of([asking for asking in askings if asking.set != name]))
        unseen = sample_of([asking for asking in askings if asking.set == name and asking.kind == "all"])
        error = expected_calibration_error(table.from_features(unseen.features), unseen.labels)
        figures[f"unseen_{name}"] = round(error, 4)
    return figures


def stored_table(askings: Sequence[Asking], settings: Settings) -> dict[str, object]:
    """The table as the core ships it, with its provenance."""
    sample = sample_of(askings)
    table = fit(sample)
    return {
        "coefficients": table.coefficients,
        "knots": table.knots,
        "levels": table.levels,
        "provenance": provenance(
            settings,
            label="the chunk covers evidence of the question (evals.retrieval.scoring.covers)",
            features=FEATURES,
            data=list(dict.fromkeys(asking.set for asking in askings)),
            n=len({asking.question for asking in askings}),
            rows=len(sample.labels),
            figures=report(askings),
        ),
    }


async def _collect(documents: list[BenchDocument], questions: list[RetrievalQuestion]) -> list[Asking]:
    async with open_bench(documents, bench_settings(load_settings(), documents)) as bench:
        return await ask_all(bench, questions)


def main() -> None:
    """Print the figures; with `--write` write `webrag_core/retrieval/relevance.json`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--questions", type=Path, default=DEFAULT_QUESTIONS)
    parser.add_argument("--documents", type=Path, default=DEFAULT_DOCUMENTS)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    documents = load_documents(arguments.documents)
    askings = asyncio.run(_collect(documents, load_questions(arguments.questions, documents)))
    print(json.dumps(report(askings)))
    if arguments.write:
        Path(calibration.__file__).with_name("relevance.json").write_text(
            json.dumps(stored_table(askings, load_settings())) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
