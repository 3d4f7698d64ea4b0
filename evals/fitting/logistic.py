"""Logistic regression with a ridge, by Newton's method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_STEPS = 50


def fit_logistic(rows: Array, labels: Array, weights: Array, ridge: float) -> Array:
    """Coefficients (constant first) that minimise the weighted mean log loss plus `ridge` / 2 times their squared sum.

    `rows` has shape (n, k), `labels` (0 or 1) and `weights` (at least 0, not all 0) shape (n,); `ridge` above 0.
    """
    x = np.column_stack([np.ones(len(rows)), rows])
    share = weights / weights.sum()
    beta = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-x @ beta))
        gradient = x.T @ (share * (p - labels)) + ridge * beta
        hessian = (x * (share * p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(beta))
        beta -= np.linalg.solve(hessian, gradient)
    return np.asarray(beta)
