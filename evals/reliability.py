"""Calibration of `probability_complete`: how often the evidence is complete when a policy says p.

Two samples: the last round of every run (the probability a user sees), and every round of every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.walks.goldens import GoldenQuery
from evals.walks.prefixes import cut_after
from evals.walks.recorded import RecordedRun
from evals.walks.scoring import is_complete

Array = NDArray[np.float64]

_BINS = 10


@dataclass(frozen=True, slots=True)
class Reliability:
    """`bins`: mean probability, share of complete evidence and size of each of ten equal-width bins that holds any.
    `ece`: their mean distance, weighted by size; `brier`: the mean squared error. Both None for no points."""

    bins: list[tuple[float, float, int]]
    ece: float | None
    brier: float | None
    n: int


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


def expected_calibration_error(probabilities: Array, labels: Array) -> float:
    """Mean distance of probability and share of positive labels over ten equal bins, weighted by their size."""
    bins = _bins(probabilities)
    return float(
        sum(
            abs(probabilities[bins == item].mean() - labels[bins == item].mean()) * (bins == item).mean()
            for item in np.unique(bins)
        )
    )


def reliability(probabilities: Array, labels: Array) -> list[tuple[float, float, int]]:
    """Mean probability, share of positive labels and size of each of the ten bins that holds any."""
    bins = _bins(probabilities)
    return [
        (
            round(float(probabilities[bins == item].mean()), 3),
            round(float(labels[bins == item].mean()), 3),
            int((bins == item).sum()),
        )
        for item in np.unique(bins)
    ]


def reliability_of(points: Sequence[tuple[float, bool]]) -> Reliability:
    """Of pairs of a stated probability and whether it held."""
    if not points:
        return Reliability([], None, None, 0)
    probabilities = np.array([probability for probability, _ in points])
    labels = np.array([complete for _, complete in points], dtype=np.float64)
    return Reliability(
        bins=reliability(probabilities, labels),
        ece=expected_calibration_error(probabilities, labels),
        brier=float(((probabilities - labels) ** 2).mean()),
        n=len(points),
    )


def _bins(probabilities: Array) -> NDArray[np.int64]:
    return np.minimum((probabilities * _BINS).astype(np.int64), _BINS - 1)
