"""Fit what the router expects (`webrag_core/routing/routes.json`) on recorded arms of the fitting sites.

    python -m evals.routing.fit [--arms FILE] [--write]

Figures: each fitting site is predicted by the fit on the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from evals.fitting.fits import Array, auc, fit_plain, print_table, provenance
from evals.routing.arms import read_arms, recorded
from evals.routing.offline import Judged, Row, both, features_of, search_only, walk_only
from webrag_core.config import load_settings
from webrag_core.routing.expected import ARM_FEATURES, COMPLETE_FEATURES, TABLE, Arm, arm_features, complete_features

_RIDGE = 0.02
_DIGITS = 4
_ARMS: dict[Arm, Callable[[Row], Judged]] = {"search": search_only, "walk": walk_only, "both": both}


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", type=Path, default=recorded("fitting"), help="recorded arms")
    parser.add_argument("--write", action="store_true", help="replace the table that the core ships")
    arguments = parser.parse_args()
    rows = [row for row in read_arms(arguments.arms) if row["needs"]]
    searched = [row for row in rows if "corpus" in row]
    inputs = np.array(
        [complete_features(row["corpus"]["complete"], row["features"]["stored_links"]) for row in searched]
    )
    labels = np.array([search_only(row).found for row in searched])
    sites = np.array([row["suite"] for row in searched])
    table: dict[str, Any] = {
        "complete": _logistic(inputs, labels),
        "arms": {arm: _arm(rows, arm) for arm in get_args(Arm)},
        "provenance": provenance(
            load_settings(),
            label="the evidence holds every gold quote",
            features=[*COMPLETE_FEATURES, *ARM_FEATURES],
            data=sorted({row["suite"] for row in rows}),
            n=len({row["id"] for row in rows}),
            rows=len(rows),
            figures={"auc, site left out": round(_left_out(inputs, labels, sites), 3)},
        ),
    }
    print_table(table, TABLE, write=arguments.write)


def _arm(rows: Sequence[Row], arm: Arm) -> dict[str, Any]:
    """Where nothing is stored, only the walk was run."""
    own = [row for row in rows if arm == "walk" or "corpus" in row]
    inputs = np.array([arm_features(features_of(row)) for row in own])
    judged = [_ARMS[arm](row) for row in own]
    return {
        "found": _logistic(inputs, np.array([one.found for one in judged])),
        "pages": _linear(inputs, np.array([one.pages for one in judged])),
        "seconds": _linear(inputs, np.array([one.seconds for one in judged])),
    }


def _logistic(inputs: Array, labels: Array) -> dict[str, Any]:
    constant, coefficients = fit_plain(inputs, labels, np.ones(len(labels)), _RIDGE, _DIGITS)
    return {"constant": constant, "coefficients": list(coefficients)}


def _linear(inputs: Array, values: Array) -> dict[str, Any]:
    """Least squares with a small penalty, on centred inputs."""
    mean = inputs.mean(axis=0)
    centred = inputs - mean
    penalty = _RIDGE * len(values) * np.eye(inputs.shape[1])
    slopes = np.linalg.solve(centred.T @ centred + penalty, centred.T @ (values - values.mean()))
    slopes = np.round(slopes, _DIGITS)
    return {"constant": round(float(values.mean() - slopes @ mean), _DIGITS), "coefficients": slopes.tolist()}


def _left_out(inputs: Array, labels: Array, sites: Array) -> float:
    predicted = np.zeros(len(labels))
    for site in np.unique(sites):
        own = sites == site
        row = _logistic(inputs[~own], labels[~own])
        predicted[own] = row["constant"] + inputs[own] @ np.array(row["coefficients"])
    return auc(predicted, labels)


if __name__ == "__main__":
    main()
