"""Reliability of stated probabilities: how often something holds where p is stated for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BINS = 10


@dataclass(frozen=True, slots=True)
class Reliability:
    """`bins`: mean probability, share of what held and size of each of ten equal-width bins that holds any. `ece`:
    their mean distance, weighted by size; `brier`: the mean squared error. Both None for no points."""

    bins: list[tuple[float, float, int]]
    ece: float | None
    brier: float | None
    n: int


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
    """Of pairs of a stated probability in [0, 1] and whether it held."""
    if not points:
        return Reliability([], None, None, 0)
    probabilities = np.array([probability for probability, _ in points])
    labels = np.array([held for _, held in points], dtype=np.float64)
    return Reliability(
        bins=reliability(probabilities, labels),
        ece=expected_calibration_error(probabilities, labels),
        brier=float(((probabilities - labels) ** 2).mean()),
        n=len(points),
    )


def _bins(probabilities: Array) -> NDArray[np.int64]:
    return np.minimum((probabilities * _BINS).astype(np.int64), _BINS - 1)
