"""Fit the probability that the evidence is complete (`webrag_core.orchestration.policies.calibrated`).

    MAX_CANDIDATES_PER_ITERATION=1 webrag eval sitewalk --policy fixed-k:5 --twins --out runs/python.jsonl
    python -m evals.fitting.completeness runs/python.jsonl runs/rust.jsonl [--write]

The rows are the rounds of walks that never stop, one page each. A round is complete when its evidence holds every gold
quote: the label that `probability_complete` is judged by. Each question weighs the same, each twin `TWIN_WEIGHT`.
Printed: tables for runs with and without the reading model, with and without previews (all from the same walks, which
the reader ordered), and how well each holds on items left out one at a time and on each site left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evals.fitting.fits import Array, fit_plain, print_table, provenance
from evals.reliability import auc
from evals.walks.prefixes import cut_after
from evals.walks.recorded import RecordedRun, load_run_log
from evals.walks.scoring import is_complete
from evals.walks.suites import goldens_of
from evals.walks.twins import is_twin
from webrag_core.config import Settings, load_settings
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.policies.calibrated import (
    FEATURES,
    TABLE,
    CompletenessTable,
    features,
)
from webrag_core.reliability import expected_calibration_error, reliability

ROUNDS = 12
"""Rounds of each walk that are fitted: later ones are seldom reached."""

TWIN_WEIGHT = 0.15
"""Weight of an unanswerable twin, so that one question in five has no answer. It says for which mixture of questions
the probability is calibrated; how many twins are claimed is a matter of `COMPLETE_AT`."""

_RIDGE = 0.01


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of several walks: features of shape (n, k), labels, and the site and item that each belongs to."""

    rows: Array
    labels: Array
    sites: Sequence[str]
    items: Sequence[str]

    @property
    def weights(self) -> Array:
        """So that every question weighs the same, and every twin `TWIN_WEIGHT`."""
        _, index, counts = np.unique(self.items, return_inverse=True, return_counts=True)
        twin = np.array([is_twin(item) for item in self.items])
        return np.asarray(np.where(twin, TWIN_WEIGHT, 1.0) / counts[index])

    def only(self, chosen: Array) -> Sample:
        """The chosen rows (a boolean each)."""
        places = [int(place) for place in np.flatnonzero(chosen)]
        sites, items = [self.sites[place] for place in places], [self.items[place] for place in places]
        return Sample(self.rows[places], self.labels[places], sites, items)


def sample_of(runs: Sequence[RecordedRun], table: str, golden: Path | None = None) -> Sample:
    """Rows of recorded walks with the features of `table`.

    Raises InvalidInputError when no golden file knows them, and for a log without the evidence of its rounds.
    """
    goldens = {item.id: item for item in goldens_of(runs, golden)}
    rows, labels, sites, items = [], [], [], []
    for run in runs:
        if run.id not in goldens:
            continue
        for last in range(min(ROUNDS, len(run.rounds))):
            record = cut_after(run, last)
            if record["evidence"] is None:
                raise InvalidInputError(f"{run.id}: the evidence of round {last} is not recorded (record again)")
            rows.append(features(run.rounds[last].signals, table))
            labels.append(float(is_complete(goldens[run.id], record)))
            sites.append(goldens[run.id].site)
            items.append(run.id)
    return Sample(np.array(rows), np.array(labels), sites, items)


def fit(sample: Sample) -> CompletenessTable:
    """The ridge falls on standardised features; the coefficients are those of the plain ones, rounded."""
    return CompletenessTable(*fit_plain(sample.rows, sample.labels, sample.weights, _RIDGE, digits=3))


def probabilities(table: CompletenessTable, sample: Sample) -> Array:
    """Shape (n,)."""
    return np.asarray(1 / (1 + np.exp(-(table.constant + sample.rows @ np.array(table.coefficients)))))


def left_out(sample: Sample, groups: Sequence[str]) -> Array:
    """The probability of every row by a fit to all rows of other groups; `groups` names the group of each row."""
    names = np.asarray(groups)
    predicted = np.zeros(len(names))
    for name in np.unique(names):
        test_rows = names == name
        predicted[test_rows] = probabilities(fit(sample.only(~test_rows)), sample.only(test_rows))
    return predicted


def figures(predicted: Array, sample: Sample) -> dict[str, Any]:
    """Ranking quality over all rows of `sample`; calibration error and the reliability curve over those of no twin:
    twins are most of the rows and little of the weight."""
    labels, no_twin = sample.labels, np.array([not is_twin(item) for item in sample.items])
    return {
        "rows": len(labels),
        "auc": round(auc(predicted, labels), 3),
        "complete": round(float(labels[no_twin].mean()), 3),
        "ece": round(expected_calibration_error(predicted[no_twin], labels[no_twin]), 3),
        "reliability": reliability(predicted[no_twin], labels[no_twin]),
    }


def stored_table(sample: Sample, table: str, settings: Settings) -> dict[str, Any]:
    """The table as the core ships it, with its provenance; sites left out one by one where there are several."""
    fitted = fit(sample)
    names = list(dict.fromkeys(sample.sites))
    validation: dict[str, Any] = {"item left out": figures(left_out(sample, sample.items), sample)}
    if len(names) > 1:
        predicted, sites = left_out(sample, sample.sites), np.asarray(sample.sites)
        validation["site left out"] = {
            name: figures(predicted[sites == name], sample.only(sites == name)) for name in names
        }
    return {
        "constant": fitted.constant,
        "coefficients": list(fitted.coefficients),
        "provenance": provenance(
            settings,
            label="the evidence holds every gold quote (evals.walks.scoring.is_complete)",
            features=FEATURES[table],
            reader=table.partition(",")[0],
            data=names,
            n=len(set(sample.items)),
            rows=len(sample.labels),
            figures=validation,
        ),
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="run logs of walks that never stop")
    parser.add_argument("--golden", type=Path, default=None, help="their golden queries, unless this package's own")
    parser.add_argument("--write", action="store_true", help="replace the tables that the core ships")
    arguments = parser.parse_args()
    runs = [run for path in arguments.runs for run in load_run_log(path)]
    settings = load_settings()
    tables = {name: stored_table(sample_of(runs, name, arguments.golden), name, settings) for name in FEATURES}
    print_table(tables, TABLE, write=arguments.write)


if __name__ == "__main__":
    main()
