"""Fit what a search is expected to bring (`webrag_core/routing/routes.json`) on recorded arms of the fitting sites.

    python -m evals.fitting.routes [--arms FILE] [--write]

Figures: each fitting site is predicted by the fit on the others.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from evals.fitting.fits import Array, fit_plain, print_table, provenance
from evals.reliability import auc
from evals.routing.arms import read_arms, recorded
from evals.routing.offline import search_only
from webrag_core.config import load_settings
from webrag_core.routing.expected import COMPLETE_FEATURES, TABLE, complete_features

_RIDGE = 0.02
_DIGITS = 4


def main() -> None:
    """Command line entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", type=Path, default=recorded("fitting"), help="recorded arms")
    parser.add_argument("--write", action="store_true", help="replace the table that the core ships")
    arguments = parser.parse_args()
    searched = [row for row in read_arms(arguments.arms) if row["needs"] and "corpus" in row]
    inputs = np.array(
        [complete_features(row["corpus"]["complete"], row["features"]["stored_links"]) for row in searched]
    )
    labels = np.array([search_only(row).found for row in searched])
    sites = np.array([row["suite"] for row in searched])
    table: dict[str, Any] = {
        "complete": _logistic(inputs, labels),
        "provenance": provenance(
            load_settings(),
            label="the evidence holds every gold quote",
            features=list(COMPLETE_FEATURES),
            data=sorted({row["suite"] for row in searched}),
            n=len({row["id"] for row in searched}),
            rows=len(searched),
            figures={"auc, site left out": round(_left_out(inputs, labels, sites), 3)},
        ),
    }
    print_table(table, TABLE, write=arguments.write)


def _logistic(inputs: Array, labels: Array) -> dict[str, Any]:
    constant, coefficients = fit_plain(inputs, labels, np.ones(len(labels)), _RIDGE, _DIGITS)
    return {"constant": constant, "coefficients": list(coefficients)}


def _left_out(inputs: Array, labels: Array, sites: Array) -> float:
    predicted = np.zeros(len(labels))
    for site in np.unique(sites):
        here = sites == site
        row = _logistic(inputs[~here], labels[~here])
        predicted[here] = row["constant"] + inputs[here] @ np.array(row["coefficients"])
    return auc(predicted, labels)


if __name__ == "__main__":
    main()
