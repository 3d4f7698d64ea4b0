"""Calibration of `probability_complete`: how often the evidence is complete when a policy says p.

Two samples: the last round of every run (the probability a user sees), and every round of every run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evals.walks.goldens import GoldenQuery
from evals.walks.prefixes import cut_after
from evals.walks.recorded import RecordedRun
from evals.walks.scoring import is_complete
from webrag_core.reliability import Reliability, reliability_of

Array = NDArray[np.float64]


def auc(probabilities: Array, labels: Array) -> float:
    """Probability that a positive row ranks above a negative one; ties count half, NaN without one of each."""
    positive, negative = probabilities[labels > 0], np.sort(probabilities[labels <= 0])
    if not len(positive) or not len(negative):
        return float("nan")
    below_and_not_above = np.searchsorted(negative, positive) + np.searchsorted(negative, positive, side="right")
    return float(below_and_not_above.mean()) / 2 / len(negative)


def reliability_at_stop(goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun]) -> Reliability:
    """Of the probability that each run ended with."""
    known = {golden.id: golden for golden in goldens}
    return reliability_of(
        [
            (float(run.record["confidence"]), is_complete(known[run.id], run.record))
            for run in runs
            if run.id in known and run.record.get("confidence") is not None
        ]
    )


def reliability_per_round(goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun]) -> Reliability:
    """Of every recorded decision, against the evidence of its round; rounds that were recorded without are left out."""
    known = {golden.id: golden for golden in goldens}
    points = []
    for run in runs:
        if run.id not in known:
            continue
        for number, done in enumerate(run.rounds):
            record = cut_after(run, number)
            if done.probability is not None and record["evidence"] is not None:
                points.append((done.probability, is_complete(known[run.id], record)))
    return reliability_of(points)
