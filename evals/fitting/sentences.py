"""Fit which sentences of the evidence answer (`webrag_core.answering.compose.sentence_scores`).

    python -m evals.answers.evidence --split fitting --out runs/evidence-fitting.jsonl
    python -m evals.fitting.sentences runs/evidence-fitting.jsonl [--write]

A conditional logit over the units of each answerable question whose evidence holds its gold: the label is that a unit
holds half of a gold quote. The reader's weight is fitted after it, over the units that the reader would read. Printed:
the share of questions with a gold sentence in the first 120 and 400 words, each site left out of its fit, beside
baselines.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.answers.evidence import RecordedEvidence, load_evidence
from evals.answers.scoring import HIT, gold_shares
from evals.fitting.fits import Array, print_table, provenance
from webrag_core.answering.compose.features import FEATURES, unit_features
from webrag_core.answering.compose.sentence_scores import READ, TABLE, read_text, totals
from webrag_core.answering.units import units_of
from webrag_core.config import load_settings
from webrag_core.providers.reading_model import NAME
from webrag_core.retrieval.reader import reading_scores

_RIDGE = 0.1
_WORDS = (120, 400)


@dataclass(frozen=True, slots=True)
class Row:
    """The units of one question: features, readings of the likeliest by an untrained rule (NaN for others), labels,
    words."""

    suite: str
    features: Array
    labels: Array
    words: list[int]
    query: str
    texts: list[str]


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights of the features, and of the reader's score."""

    weights: Array
    reading: float


def row_of(item: RecordedEvidence) -> Row | None:
    """The units of an answerable question's evidence; None for one without any."""
    units = units_of(item.gathered.ranked)
    if not units or item.golden.kind == "unanswerable":
        return None
    shares = [gold_shares(item.golden, unit.chunk.source_url, unit.text) for unit in units]
    return Row(
        item.suite,
        unit_features(item.golden.query, units),
        np.array([max(share.values(), default=0.0) >= HIT for share in shares], dtype=np.float64),
        [len(unit.text.split()) for unit in units],
        item.golden.query,
        [read_text(unit) for unit in units],
    )


def fit_weights(tables: Sequence[Array], labels: Sequence[Array], ridge: float = _RIDGE) -> Array:
    """Conditional logit: weights of plain features, shape (k,); the ridge falls on standardised ones."""
    from scipy.optimize import minimize

    rows = np.vstack(tables)
    spread = rows.std(axis=0) + 1e-9
    scaled = [table / spread for table in tables]

    def loss(beta: Array) -> tuple[float, Array]:
        total, gradient = 0.0, np.zeros(len(beta))
        for table, label in zip(scaled, labels, strict=True):
            utility = table @ beta
            share = np.exp(utility - utility.max())
            share /= share.sum()
            hit = float(share @ label)
            total -= np.log(hit + 1e-12)
            gradient -= table.T @ (share * label / (hit + 1e-12) - share)
        count = len(scaled)
        return total / count + ridge / 2 * float(beta @ beta), gradient / count + ridge * beta

    optimum = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(optimum.x / spread)


def fit(rows: Sequence[Row]) -> Fit:
    """Weights, then the reader's, from the rows that hold gold."""
    with_gold = [row for row in rows if row.labels.any()]
    weights = fit_weights([row.features for row in with_gold], [row.labels for row in with_gold])
    tables, labels = [], []
    for row in with_gold:
        fitted = row.features @ weights
        best = np.argsort(-fitted, kind="stable")[:READ]
        if row.labels[best].any():
            tables.append(np.column_stack([fitted[best], readings_of(row, best)]))
            labels.append(row.labels[best])
    slope, reading = fit_weights(tables, labels, ridge=0.0)
    return Fit(weights, float(reading / slope))


_READ: dict[tuple[str, str], float] = {}


def readings_of(row: Row, places: NDArray[np.intp]) -> Array:
    """What the reader says of these units; each pair is read once per process."""
    unread = [row.texts[place] for place in places if (row.query, row.texts[place]) not in _READ]
    if unread:
        for text, score in zip(unread, reading_scores(row.query, unread), strict=True):
            _READ[row.query, text] = score
    return np.array([_READ[row.query, row.texts[place]] for place in places])


def ranked_by(fitted: Fit) -> Callable[[Row], Array]:
    """The scores of the product, with these weights."""

    def score(row: Row) -> Array:
        scores = row.features @ fitted.weights
        reading = np.full(len(scores), np.nan)
        best = np.argsort(-scores, kind="stable")[:READ]
        reading[best] = readings_of(row, best)
        return totals(scores, reading, fitted.reading)

    return score


def figures(rows: Sequence[Row], score: Callable[[Row], Array]) -> dict[str, float]:
    """Share of questions with a gold sentence first, and in the first words, sentences of any length in order."""
    hits = {"first": 0.0} | {f"{words} words": 0.0 for words in _WORDS}
    for row in rows:
        order = np.argsort(-score(row), kind="stable")
        hits["first"] += row.labels[order[0]]
        for words in _WORDS:
            room = words
            for place in order:
                if row.words[place] <= room:
                    room -= row.words[place]
                    if row.labels[place]:
                        hits[f"{words} words"] += 1
                        break
    return {name: round(float(count) / len(rows), 3) for name, count in hits.items()}


def left_out(rows: Sequence[Row]) -> dict[str, Any]:
    """Figures of each site by a fit to the others, of all of them together, and of baselines."""
    suites = list(dict.fromkeys(row.suite for row in rows))
    fits = {suite: ranked_by(fit([row for row in rows if row.suite != suite])) for suite in suites}
    coverage, relevance = FEATURES.index("coverage"), FEATURES.index("rank")
    return {
        "all": figures(rows, lambda row: fits[row.suite](row)),
        **{suite: figures([row for row in rows if row.suite == suite], fits[suite]) for suite in suites},
        "baseline: words of the question": figures(rows, lambda row: row.features[:, coverage]),
        "baseline: best passage first": figures(rows, lambda row: row.features[:, relevance]),
        "gold in the pool": {"share": round(float(np.mean([row.labels.any() for row in rows])), 3)},
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true", help="replace the weights that the core ships")
    arguments = parser.parse_args()
    rows = [row for path in arguments.evidence for item in load_evidence(path) if (row := row_of(item)) is not None]
    fitted = fit(rows)
    table = {
        "weights": {name: round(float(weight), 3) for name, weight in zip(FEATURES, fitted.weights, strict=True)},
        "reading": round(fitted.reading, 3),
        "provenance": provenance(
            load_settings(),
            label=f"the unit holds {HIT:.0%} of a gold quote (evals.answers.scoring)",
            features=FEATURES,
            data=list(dict.fromkeys(row.suite for row in rows)),
            n=len(rows),
            rows=sum(len(row.labels) for row in rows),
            figures={"site left out": left_out(rows)},
            reader=NAME,
        ),
    }
    print_table(table, TABLE, write=arguments.write)


if __name__ == "__main__":
    main()
