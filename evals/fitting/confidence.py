"""Fit the support of sentences and the confidence in answers (`webrag_core.answering.confidence`).

    python -m evals.fitting.confidence runs/evidence-fitting.jsonl [--write]

Rows of the support are the units that the reader read, of every question; their label is that they hold half of a gold
quote. Rows of the confidence are whole answers; theirs is that the sentences hold a gold quote of every need. Each
question weighs the same, each unanswerable twin `TWIN_WEIGHT`. Printed: both tables, and how they hold on each site
left out.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evals.answers.composing import Composed, compose_all
from evals.answers.evidence import RecordedEvidence, load_evidence
from evals.answers.scoring import HIT, gold_shares
from evals.fitting.completeness import TWIN_WEIGHT
from evals.fitting.confidence_figures import confidence_figures
from evals.fitting.fits import Array, fit_plain, print_table, provenance
from evals.walks.twins import is_twin
from webrag_core.answering import confidence
from webrag_core.answering.compose.sentence_scores import UnitScores
from webrag_core.answering.confidence import CONFIDENCE_FEATURES, SUPPORT_FEATURES, TABLE, Logistic
from webrag_core.config import load_settings
from webrag_core.providers.reading_model import NAME

_RIDGE = 0.002


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows with labels and weights, of one question each or of several."""

    rows: Array
    labels: Array
    weights: Array


def fit(samples: Sequence[Sample]) -> Logistic:
    """The ridge falls on standardised features."""
    rows = np.vstack([sample.rows for sample in samples])
    labels = np.concatenate([sample.labels for sample in samples])
    weights = np.concatenate([sample.weights for sample in samples])
    return Logistic(*fit_plain(rows, labels, weights, _RIDGE, digits=4))


def support_sample(item: RecordedEvidence, composed: Composed, scores: UnitScores) -> Sample:
    """The units of one question that can have support."""
    rows, chosen = confidence.support_features(scores)
    units = [composed.units[index] for index in chosen]
    shares = [gold_shares(item.golden, unit.chunk.source_url, unit.text) for unit in units]
    labels = np.array([max(share.values(), default=0.0) >= HIT for share in shares], dtype=np.float64)
    return Sample(rows, labels, np.full(len(rows), weight_of(item) / max(1, len(rows))))


def weight_of(item: RecordedEvidence) -> float:
    """Of a question among all."""
    return TWIN_WEIGHT if is_twin(item.golden.id) else 1.0


def confidence_sample(item: RecordedEvidence, composed: Composed) -> Sample:
    """One answer."""
    _, features = confidence.confidence_features(composed.choices, composed.draft, item.gathered)
    label = np.array([composed.holds_all(item.golden)], dtype=np.float64)
    return Sample(features[None, :], label, np.array([weight_of(item)]))


def left_out(items: Sequence[RecordedEvidence], samples: Sequence[Sample]) -> dict[str, Any]:
    """Figures over all questions, each judged by a fit to the other sites."""
    suites = [one.suite for one in items]
    predicted = np.zeros(len(items))
    for suite in dict.fromkeys(suites):
        fitted = fit([sample for sample, own in zip(samples, suites, strict=True) if own != suite])
        for place, own in enumerate(suites):
            if own == suite:
                predicted[place] = fitted.of(samples[place].rows)[0]
    return confidence_figures(items, predicted, np.array([sample.labels[0] for sample in samples]))


def table_of(fitted: Logistic, features: Sequence[str]) -> dict[str, Any]:
    """As it is stored."""
    return {"features": list(features), "constant": fitted.constant, "coefficients": list(fitted.coefficients)}


def main() -> None:
    """Print one JSON object; --write replaces the tables that the core ships."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    walked = list(load_evidence(arguments.evidence))
    tables: dict[str, Any] = {"support": {}, "confidence": {}}
    report: dict[str, Any] = {}
    for name in ("unread", "read"):
        scored = asyncio.run(compose_all(walked, read=name == "read"))
        whole = [(one, draft) for one, draft in scored if len(draft.scores) == 1]
        support = fit([support_sample(one, draft, draft.scores[0]) for one, draft in whole])
        tables["support"][name] = table_of(support, SUPPORT_FEATURES[name])
        items = [one for one, _ in scored]
        samples = [confidence_sample(one, draft.chosen(support.of)) for one, draft in scored]
        tables["confidence"][name] = table_of(fit(samples), CONFIDENCE_FEATURES[name])
        report[name] = left_out(items, samples)
    tables["provenance"] = provenance(
        load_settings(),
        label="the sentences hold a gold quote of every need (evals.answers.scoring)",
        features=CONFIDENCE_FEATURES["read"],
        data=list(dict.fromkeys(one.suite for one in walked)),
        n=len(walked),
        rows=len(walked),
        figures={"site left out": report},
        reader=NAME,
    )
    print_table(tables, TABLE, write=arguments.write)


if __name__ == "__main__":
    main()
