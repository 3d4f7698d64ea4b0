"""Fits the probability that the evidence is complete (`webrag_core.orchestration.policies.calibrated`).

    MAX_CANDIDATES_PER_ITERATION=1 webrag eval sitewalk --until-cap --out runs/python.jsonl
    python -m evals.fitting.completeness runs/python.jsonl [--test runs/rust.jsonl] [--write]

The rows are the first rounds of walks that never stop, one page each; a round is complete when every need has one of
its gold pages among those taken in. Each item weighs the same. Printed: the coefficients, and how well probabilities
hold on items left out one at a time and on the walks of `--test`, which the fit has not seen.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.fitting.calibration import expected_calibration_error, reliability
from evals.fitting.logistic import Array, fit_logistic
from evals.walks.prefixes import cut_after
from evals.walks.recorded import RecordedRun, load_run_log
from evals.walks.scoring import score_item
from evals.walks.suites import goldens_of
from webrag_core.orchestration.policies.calibrated import TABLE, CompletenessTable, features

ROUNDS = 12
"""Rounds of each walk that are fitted: later ones are seldom reached."""

_RIDGE = 0.01


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of several walks: features of shape (n, 5), labels, and the number of the item that each belongs to."""

    rows: Array
    labels: Array
    items: Array

    @property
    def weights(self) -> Array:
        """So that every item weighs the same."""
        _, index, counts = np.unique(self.items, return_inverse=True, return_counts=True)
        return np.asarray(1.0 / counts[index])

    def only(self, chosen: Array) -> Sample:
        """The chosen rows (a boolean each)."""
        return Sample(self.rows[chosen], self.labels[chosen], self.items[chosen])


def sample_of(runs: Sequence[RecordedRun], golden: Path | None = None) -> Sample:
    """Rows of recorded walks. Raises InvalidInputError when no golden file knows them."""
    goldens = {one.id: one for one in goldens_of(runs, golden)}
    rows, labels, items = [], [], []
    for number, run in enumerate(one for one in runs if one.id in goldens):
        for last in range(min(ROUNDS, len(run.rounds))):
            scores = score_item(goldens[run.id], cut_after(run, last))
            rows.append(features([each.signals for each in run.rounds[: last + 1]]))
            labels.append(float(scores.get("success", 0.0)))
            items.append(float(number))
    return Sample(np.array(rows), np.array(labels), np.array(items))


def fit(sample: Sample, fitted_on: Sequence[str]) -> CompletenessTable:
    """The ridge falls on standardised features; the coefficients are those of the plain ones, rounded."""
    mean, spread = sample.rows.mean(axis=0), sample.rows.std(axis=0) + 1e-9
    beta = fit_logistic((sample.rows - mean) / spread, sample.labels, sample.weights, _RIDGE)
    slopes = np.round(beta[1:] / spread, 3)
    a, b, c, d, e = (float(value) for value in slopes)
    return CompletenessTable(round(float(beta[0] - slopes @ mean), 3), (a, b, c, d, e), tuple(fitted_on))


def probabilities(table: CompletenessTable, sample: Sample) -> Array:
    """Shape (n,)."""
    return np.asarray(1 / (1 + np.exp(-(table.constant + sample.rows @ np.array(table.coefficients)))))


def left_out(sample: Sample) -> Array:
    """The probability of every row by a fit to all other items."""
    found = np.zeros(len(sample.labels))
    for item in np.unique(sample.items):
        mine = sample.items == item
        found[mine] = probabilities(fit(sample.only(~mine), ()), sample.only(mine))
    return found


def figures(told: Array, labels: Array) -> dict[str, object]:
    """Ranking quality, calibration error and the reliability curve of these probabilities."""
    return {
        "rows": len(labels),
        "complete": round(float(labels.mean()), 3),
        "auc": round(auc(told, labels), 3),
        "ece": round(expected_calibration_error(told, labels), 3),
        "reliability": reliability(told, labels),
    }


def auc(told: Array, labels: Array) -> float:
    """Probability that a complete row is told a higher one than an incomplete row; ties count half, NaN without one
    of each (Hanley and McNeil 1982)."""
    complete, incomplete = told[labels > 0], told[labels <= 0]
    if not len(complete) or not len(incomplete):
        return float("nan")
    above = complete[:, None] - incomplete[None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="run logs of walks that never stop")
    parser.add_argument("--golden", type=Path, default=None, help="their golden queries, unless this package's own")
    parser.add_argument("--test", type=Path, nargs="*", default=[], help="run logs that the fit must not see")
    parser.add_argument("--write", action="store_true", help="replace the table that the core ships")
    arguments = parser.parse_args()
    runs = [run for path in arguments.runs for run in load_run_log(path)]
    sample = sample_of(runs, arguments.golden)
    table = fit(sample, [path.stem for path in arguments.runs])
    stored = {
        "constant": table.constant,
        "coefficients": list(table.coefficients),
        "fitted_on": list(table.fitted_on),
    }
    found: dict[str, object] = {**stored, "left_out": figures(left_out(sample), sample.labels)}
    for path in arguments.test:
        unseen = sample_of(load_run_log(path), arguments.golden)
        found[path.stem] = figures(probabilities(table, unseen), unseen.labels)
    print(json.dumps(found, indent=2))
    if arguments.write:
        TABLE.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
