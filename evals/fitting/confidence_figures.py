"""Ranking and calibration of the confidences that a fit gives to the golden questions of sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.answers.evidence import RecordedEvidence
from evals.reliability import Array, auc, expected_calibration_error, reliability
from evals.walks.twins import is_twin


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
        "unanswerable at band high": rounded_mean(predicted[unanswerable] >= 0.8),
        "unanswerable answered": rounded_mean(predicted[unanswerable] >= 0.5),
        "answered": rounded_mean(own >= 0.5),
        "right when answered": rounded_mean(right[own >= 0.5]),
        "answered at 10% wrong": round(surest / len(order), 3),
        "reliability": reliability(own, right),
    }


def rounded_mean(values: NDArray[Any]) -> float | None:
    """Rounded; None of nothing."""
    return round(float(values.mean()), 3) if len(values) else None
