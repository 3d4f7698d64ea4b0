"""What the fits share: logistic and isotonic regression, the provenance of a table.

Needs the dev requirements (scipy). Logistic regression is Newton's method by hand: scikit-learn leaves the constant out
of the penalty, which gives other numbers, and is not needed for anything else. SciPy takes seconds to import:
only the functions that use it do.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.confidence import Logistic
from webrag_core.config import Settings
from webrag_core.providers.embedder import identity_of
from webrag_core.retrieval.calibration import model_name

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


def fit_plain(rows: Array, labels: Array, weights: Array, ridge: float, digits: int) -> tuple[float, tuple[float, ...]]:
    """Constant and coefficients for the plain features, rounded; as `fit_logistic`, the ridge on standardised ones."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    beta = fit_logistic((rows - mean) / spread, labels, weights, ridge)
    slopes = np.round(beta[1:] / spread, digits)
    return round(float(beta[0] - slopes @ mean), digits), tuple(float(value) for value in slopes)


def isotonic(x: Array, y: Array, weights: Array) -> tuple[Array, Array]:
    """Isotonic regression: the middle of each block of `x`, and its level. Both rise."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(x, kind="stable")
    fitted = isotonic_regression(y[order], weights=weights[order])
    first, last = fitted.blocks[:-1], fitted.blocks[1:] - 1
    return (x[order][first] + x[order][last]) / 2, fitted.x[first]


def table_of(fitted: Logistic, features: Sequence[str]) -> dict[str, Any]:
    """As it is stored."""
    return {"features": list(features), "constant": fitted.constant, "coefficients": list(fitted.coefficients)}


def print_table(table: Mapping[str, Any], path: Path, *, write: bool) -> None:
    """Print a fitted table as JSON; `write` replaces the one at `path`, which the core ships."""
    content = json.dumps(table, indent=2)
    print(content)
    if write:
        path.write_text(content + "\n", encoding="utf-8")


def made_now() -> dict[str, str]:
    """The date and the commit that a fit is made on."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=10", "HEAD"]
    commit = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit}


def provenance(
    settings: Settings,
    *,
    label: str,
    features: Sequence[str],
    data: Sequence[str],
    n: int,
    rows: int,
    figures: Mapping[str, Any],
    reader: str = "none",
) -> dict[str, Any]:
    """The `provenance` of a table that is fitted now, with `settings` (`webrag_core.retrieval.calibration`)."""
    return {
        "label": label,
        "features": list(features),
        "data": list(data),
        "n": n,
        "rows": rows,
        **made_now(),
        "models": {
            "embedding": model_name(identity_of(settings)),
            "reranker": settings.reranker_provider,
            "reader": reader,
        },
        "figures": dict(figures),
    }
