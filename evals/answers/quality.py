"""How right answers in prose are: gold sentences cited, confidence, proofs, beside baselines.

    python -m evals.answers.evidence --split reporting --out runs/evidence-reporting.jsonl
    python -m evals.answers.quality runs/evidence-reporting.jsonl

With the tables that the core ships, which were fitted on other sites. `any`: a sentence holds half of a gold quote;
`all`: of every need. Highlights are what is shown where no answer is given, here for every question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.answers.composing import MAX_WORDS, Composed, compose_all
from evals.answers.evidence import RecordedEvidence, load_evidence
from evals.answers.scoring import needs_held
from evals.reliability import Array, auc, expected_calibration_error, reliability
from evals.walks.twins import is_twin
from webrag_core.answering.compose.by_model import offered_units
from webrag_core.answering.compose.features import FEATURES, unit_features
from webrag_core.answering.compose.highlights import highlights
from webrag_core.answering.confidence import confidence_of

TOLD = 60
"""Sentences that a reranker would score."""


def needs_in(item: RecordedEvidence, composed: Composed, places: Sequence[int]) -> set[int]:
    """The needs of which these units hold a gold quote."""
    units = [composed.units[place] for place in places]
    return needs_held(item.golden, [(unit.chunk.source_url, unit.text) for unit in units])


def first_words(composed: Composed, order: NDArray[np.intp], words: int = MAX_WORDS) -> list[int]:
    """The units of `order` that fit, best first."""
    places: list[int] = []
    for place in order:
        length = len(composed.units[place].text.split())
        if length <= words:
            places.append(int(place))
            words -= length
    return places


def needs_by_row(item: RecordedEvidence, composed: Composed) -> dict[str, set[int]]:
    """The needs of which an answer holds a gold quote, for each row of the report: ours, baselines, and what whoever
    chooses could reach at most."""
    order = composed.scores[0].order
    fitted = np.argsort(-composed.scores[0].fitted, kind="stable")
    ranks = np.argsort([unit.rank for unit in composed.units], kind="stable")
    words = unit_features(item.golden.query, composed.units)[:, FEATURES.index("coverage")]
    shown = [place for one in highlights(composed.units, order) for place in one.units]
    places: dict[str, Sequence[int]] = {
        "highlights of 400 words": shown,
        "baseline: words of the question": first_words(composed, np.argsort(-words)),
        "baseline: best passage first": first_words(composed, ranks),
        "a reranker told the gold, 60 sentences": [int(place) for place in fitted[:TOLD]],
        "a chat model told the gold, what it is sent": offered_units(composed.draft),
        "in the evidence": range(len(composed.units)),
    }
    return {
        "said": composed.needs(item.golden),
        **{name: needs_in(item, composed, units) for name, units in places.items()},
    }


def hits_of(item: RecordedEvidence, composed: Composed) -> dict[str, bool]:
    """Whether the answer to a question says a gold quote, and whether its highlights hold one."""
    needs = needs_by_row(item, composed)
    return {"said": bool(needs["said"]), "highlights": bool(needs["highlights of 400 words"])}


def report(pairs: Sequence[tuple[RecordedEvidence, Composed]]) -> dict[str, Any]:
    """Figures over all questions of one file."""
    answerable = [(item, composed) for item, composed in pairs if item.golden.kind != "unanswerable"]
    rows: dict[str, list[tuple[bool, bool]]] = {}
    for item, composed in answerable:
        for name, needs in needs_by_row(item, composed).items():
            rows.setdefault(name, []).append((bool(needs), len(needs) == len(item.golden.gold_pages)))
    sure = np.array([confidence_of(c.choices, c.scores, a.gathered) for a, c in pairs])
    right = np.array([float(composed.holds_all(item.golden)) for item, composed in pairs])
    proofs = Counter(choice.saying.proof for _, composed in pairs for choice in composed.choices)
    return {
        "answerable": len(answerable),
        **{
            name: {
                "any": round(float(np.mean([a for a, _ in hits])), 3),
                "all": round(float(np.mean([b for _, b in hits])), 3),
            }
            for name, hits in rows.items()
        },
        "words, median": float(np.median([sum(o.saying.words for o in c.choices) for _, c in answerable])),
        "sentences, mean": round(float(np.mean([len(c.choices) for _, c in answerable])), 2),
        "proofs": dict(proofs),
        "confidence": confidence_figures([item for item, _ in pairs], sure, right),
    }


def confidence_figures(items: Sequence[RecordedEvidence], predicted: Array, labels: Array) -> dict[str, Any]:
    """Ranking and calibration of confidences over the questions that are no twins; claims among the unanswerable."""
    twin = np.array([is_twin(one.golden.id) for one in items])
    unanswerable = np.array([one.golden.kind == "unanswerable" for one in items])
    own, right = predicted[~twin], labels[~twin]
    order = np.argsort(-own, kind="stable")
    wrong = np.cumsum(1 - right[order]) / np.arange(1, len(order) + 1)
    surest = max((place + 1 for place in range(len(order)) if wrong[place] <= 0.1), default=0)
    return {
        "questions": int((~twin).sum()),
        "unanswerable": int(unanswerable.sum()),
        "auc": round(auc(own, right), 3),
        "auc with twins": round(auc(predicted, labels), 3),
        "ece": round(expected_calibration_error(own, right), 3),
        "unanswerable at band high": _mean(predicted[unanswerable] >= 0.8),
        "unanswerable answered": _mean(predicted[unanswerable] >= 0.5),
        "answered": _mean(own >= 0.5),
        "right when answered": _mean(right[own >= 0.5]),
        "answered at 10% wrong": round(surest / len(order), 3),
        "reliability": reliability(own, right),
    }


def _mean(values: NDArray[Any]) -> float | None:
    """Rounded; None of nothing."""
    return round(float(values.mean()), 3) if len(values) else None


def main() -> None:
    """Print one JSON object, for all sites and for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path)
    arguments = parser.parse_args()
    items = list(load_evidence(arguments.evidence))
    pairs = [(one, composed.chosen()) for one, composed in asyncio.run(compose_all(items, read=True))]
    suites = dict.fromkeys(one.suite for one in items)
    by_suite = {suite: report([pair for pair in pairs if pair[0].suite == suite]) for suite in suites}
    print(json.dumps({"all": report(pairs), **by_suite}, indent=1))


if __name__ == "__main__":
    main()
