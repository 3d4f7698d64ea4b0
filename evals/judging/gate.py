"""The gate: a run against an earlier one on the same items, paired, with intervals, and the items that moved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.intervals import Interval, interval
from evals.walks.goldens import GoldenQuery, cluster_of
from evals.walks.recorded import RecordedRun
from evals.walks.scoring import score_item
from webrag_core.errors import InvalidInputError

GATED = ("success", "quotes", "stop_exact", "utility", "net")
"""Metrics that must not fall; more is better in each."""

TOLERANCE = 0.04
"""How far a mean may fall before that alone is a regression, however wide its interval."""

CONFIDENCE = 0.998
"""Of the intervals: a fall by chance lies beyond its interval once in a thousand comparisons."""

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """One metric: the mean of the paired differences, run minus base, and the items that moved with their scores
    (base, run)."""

    metric: str
    difference: Interval
    worse: Mapping[str, tuple[float, float]]
    better: Mapping[str, tuple[float, float]]
    fails: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """All metrics. `missing` are items of the base that the run lacks: they fail the gate as well."""

    changes: Sequence[Change]
    missing: Sequence[str]

    @property
    def passes(self) -> bool:
        """True when nothing fell and nothing is missing."""
        return not self.missing and not any(change.fails for change in self.changes)


def judge(
    goldens: Sequence[GoldenQuery],
    run: Sequence[RecordedRun],
    base: Sequence[RecordedRun],
    tolerance: float = TOLERANCE,
) -> Verdict:
    """Compare two run logs item by item, as `compare` does. Raises InvalidInputError when they share no item."""
    now, before = {item.id: item for item in run}, {item.id: item for item in base}
    known = [golden for golden in goldens if golden.id in before]
    if not any(golden.id in now for golden in known):
        raise InvalidInputError("the two run logs share no item of the golden file")
    return compare(
        {golden.id: score_item(golden, now[golden.id].record) for golden in known if golden.id in now},
        {golden.id: score_item(golden, before[golden.id].record) for golden in known},
        clusters={golden.id: cluster_of(golden) for golden in known},
        tolerance=tolerance,
    )


def compare(
    now: Mapping[str, Mapping[str, float]],
    before: Mapping[str, Mapping[str, float]],
    *,
    clusters: Mapping[str, str],
    metrics: Sequence[str] = GATED,
    tolerance: float = TOLERANCE,
) -> Verdict:
    """Compare scores by item. `clusters` names each item's cluster; more is better in each of `metrics`.

    A metric regresses when its whole interval lies below zero, or when its mean falls by more than `tolerance`.
    Raises InvalidInputError when no item is in both.
    """
    shared = [item for item in before if item in now]
    if not shared:
        raise InvalidInputError("the two runs share no item")
    changes = []
    for metric in metrics:
        pairs = {
            item: (float(before[item][metric]), float(now[item][metric]))
            for item in shared
            if metric in before[item] and metric in now[item]
        }
        if pairs:
            changes.append(_change(metric, pairs, [clusters[item] for item in pairs], tolerance))
    return Verdict(changes, [item for item in before if item not in now])


def _change(metric: str, pairs: Mapping[str, tuple[float, float]], clusters: Sequence[str], tolerance: float) -> Change:
    difference = interval([new - old for old, new in pairs.values()], clusters, confidence=CONFIDENCE)
    return Change(
        metric=metric,
        difference=difference,
        worse={item: pair for item, pair in pairs.items() if pair[1] < pair[0] - _SAME},
        better={item: pair for item, pair in pairs.items() if pair[1] > pair[0] + _SAME},
        fails=difference.high < -_SAME or difference.mean < -tolerance - _SAME,
    )


@dataclass(frozen=True, slots=True)
class Fall:
    """A metric whose mean lies below that of an earlier run, or below the floor. `difference`: run minus that."""

    metric: str
    difference: float
    run: str


def below_best(
    now: Mapping[str, Mapping[str, float]],
    earlier: Mapping[str, Mapping[str, Mapping[str, float]]],
    *,
    metrics: Sequence[str] = GATED,
    tolerance: float = TOLERANCE,
) -> list[Fall]:
    """Metrics that fell by more than `tolerance` since the best of some earlier runs (run -> scores by item).

    Small steps down that pass one by one add up here. Only runs on the same items as `now` count, means alone are
    compared: the best of many is best by chance too, so that an interval would be too narrow.
    """
    falls = []
    for metric in metrics:
        means = {
            run: mean
            for run, scores in earlier.items()
            if scores.keys() == now.keys()
            if (mean := mean_of(scores, metric)) is not None
        }
        mine = mean_of(now, metric)
        if mine is None or not means:
            continue
        best = max(means, key=lambda run: means[run])
        if mine - means[best] < -tolerance - _SAME:
            falls.append(Fall(metric, mine - means[best], best))
    return falls


def mean_of(scores: Mapping[str, Mapping[str, float]], metric: str) -> float | None:
    """Mean of a metric over the items that have it; None where none has."""
    values = [row[metric] for row in scores.values() if metric in row]
    return math.fsum(values) / len(values) if values else None
