"""The gate as an asset check: a run's scores against those of the newest runs that passed, item by item; against the
best of the last ones; and against a floor that only a person moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from evals.judging.gate import TOLERANCE, Change, Fall, Verdict, below_best, compare, mean_of
from webrag_dagster.markdown import rows_markdown
from webrag_dagster.metadata import Metadata, table

Scores = Mapping[str, Mapping[str, float]]
"""Item -> metric -> score."""

SCORES, PASSED, POLICY, ACCEPTED, FLOOR = "item_scores", "gate_passed", "policy", "gate_accepted", "gate_floor"
"""Metadata of an evaluation asset by which later runs are judged: scores by item, whether the gate let them through,
the stop policy where there is one, whether a person accepted them, and the floor: means of the run that a person
accepted last, or of the first one, by metric. Kept in Dagster's own event log, so that a run on another machine finds
them."""

RECENT = 30
"""Runs among which the best one is looked for."""

_PAGE, _PAGES = 25, 40


@dataclass(frozen=True, slots=True)
class Base:
    """What to compare with: scores by item, and the run that each item's are from, newest first."""

    scores: Scores
    runs: Mapping[str, str]
    recent: Mapping[str, Scores] = field(default_factory=dict)
    """Scores of the last runs that passed, by run, none before the one that a person accepted."""
    floor: Mapping[str, float] = field(default_factory=dict)
    """Means by metric of the run that a person accepted last, or of the first one, on the same items."""


def last_passing(
    instance: dg.DagsterInstance, asset: str, policy: str | None = None, items: Collection[str] | None = None
) -> Base | None:
    """For each of `items` (None = all) its scores in the newest materialization under this policy that passed.

    A run on few items thus hides nothing that an earlier one showed of the others. None when the newest thousand
    materializations of `asset` hold nothing of them.
    """
    scores: dict[str, Mapping[str, float]] = {}
    runs: dict[str, str] = {}
    recent: dict[str, Scores] = {}
    floor: Mapping[str, float] | None = None
    is_open = True
    cursor: str | None = None
    for _ in range(_PAGES):
        page = instance.fetch_materializations(dg.AssetKey(asset), limit=_PAGE, cursor=cursor)
        for record in page.records:
            passed = _passed(record, policy)
            for item, row in passed.items():
                if item not in scores and (items is None or item in items):
                    scores[item], runs[item] = row, record.run_id
            if not passed or (items is not None and passed.keys() != set(items)):
                continue
            if is_open and len(recent) < RECENT:
                recent[record.run_id] = passed
            is_open = is_open and not _value(record, ACCEPTED)
            floor = (_value(record, FLOOR) or {}) if floor is None else floor
        result = items is not None and len(scores) == len(items) and (not is_open or len(recent) >= RECENT)
        if not page.has_more or result:
            break
        cursor = page.cursor
    return Base(scores, runs, recent, floor or {}) if scores else None


def gate(
    name: str,
    base: Base | None,
    now: Scores,
    *,
    clusters: Mapping[str, str],
    metrics: Sequence[str],
    accept: bool,
    policy: str | None = None,
) -> tuple[dg.AssetCheckResult, Metadata]:
    """The check result, and what the materialization has to carry for the next run.

    `base` as of `last_passing` for the same `policy`. Items without a base are not compared: no run of theirs passed
    yet, and this one becomes their base if it passes. `accept` makes a worse run the new base, on purpose.
    """
    now = _rounded(now)  # as the base was when it was stored: the same score again must not look like a movement
    before = {item: scores for item, scores in base.scores.items() if item in now} if base is not None else {}
    if base is None or not before:
        result = dg.AssetCheckResult(
            check_name=name,
            passed=True,
            description=f"No earlier run{_under(policy)} that passed: this one is what the next must match.",
        )
        return result, _gate_metadata(now, True, policy, accepted=accept)
    runs = Counter(base.runs[item] for item in before)
    verdict = compare(now, before, clusters=clusters, metrics=metrics)
    falls = below_best(now, base.recent, metrics=metrics) + _below_floor(now, base.floor)
    passed = (verdict.passes and not falls) or accept
    result = dg.AssetCheckResult(
        check_name=name,
        passed=passed,
        severity=dg.AssetCheckSeverity.ERROR,
        description=" ".join(
            [_words(verdict, accept), *map(_fall, falls), _base(runs, policy, unknown=len(now) - len(before))]
        ),
        metadata={
            "compared_with": dg.MetadataValue.dagster_run(next(iter(runs))),
            "items_compared": dg.MetadataValue.int(len(before)),
            "tolerance": dg.MetadataValue.float(TOLERANCE),
            "differences": dg.MetadataValue.md("\n".join(rows_markdown([_row(change) for change in verdict.changes]))),
            "moved": table(
                {"metric": change.metric, "item": item, "before": round(old, 3), "now": round(new, 3), "moved": word}
                for change in verdict.changes
                for word, moved in (("worse", change.worse), ("better", change.better))
                for item, (old, new) in moved.items()
            ),
            **{f"{change.metric}_difference": _number(change.difference.mean) for change in verdict.changes},
        },
    )
    return result, _gate_metadata(now, passed, policy, accepted=accept, floor=base.floor)


def _below_floor(now: Scores, floor: Mapping[str, float]) -> list[Fall]:
    """Metrics whose mean lies below the floor, by more than the tolerance."""
    means = {metric: mean_of(now, metric) for metric in floor}
    falls = [(metric, mean - floor[metric]) for metric, mean in means.items() if mean is not None]
    return [Fall(metric, difference, FLOOR) for metric, difference in falls if difference < -TOLERANCE - 1e-9]


def _passed(record: dg.EventLogRecord, policy: str | None) -> Scores:
    """The scores of one materialization; none when the gate did not let it through or another policy was at work."""
    metadata = record.asset_materialization.metadata if record.asset_materialization is not None else {}
    passed, scores, run_policy = metadata.get(PASSED), metadata.get(SCORES), metadata.get(POLICY)
    if passed is None or not passed.value or (run_policy.value if run_policy is not None else None) != policy:
        return {}
    return scores.data if isinstance(scores, dg.JsonMetadataValue) and isinstance(scores.data, dict) else {}


def _rounded(scores: Scores) -> Scores:
    return {item: {name: round(float(score), 6) for name, score in row.items()} for item, row in scores.items()}


def _value(record: dg.EventLogRecord, name: str) -> Any:
    """Of the metadata of one materialization; None where it is absent."""
    value = record.asset_materialization.metadata.get(name) if record.asset_materialization is not None else None
    return None if value is None else value.value


def _gate_metadata(
    now: Scores, passed: bool, policy: str | None, *, accepted: bool, floor: Mapping[str, float] | None = None
) -> Metadata:
    """What the next run needs of this one. Its own means are the floor where there was none, or a person accepts it."""
    metrics = dict.fromkeys(metric for row in now.values() for metric in row)
    means = {metric: mean for metric in metrics if (mean := mean_of(now, metric)) is not None}
    metadata: Metadata = {
        PASSED: dg.MetadataValue.bool(passed),
        SCORES: dg.MetadataValue.json(now),
        ACCEPTED: dg.MetadataValue.bool(accepted),
        FLOOR: dg.MetadataValue.json(means if accepted or not floor else dict(floor)),
    }
    return metadata if policy is None else {**metadata, POLICY: dg.MetadataValue.text(policy)}


def _fall(fall: Fall) -> str:
    """One sentence on a metric that went down in steps."""
    than = "the run that was accepted last, or the first one" if fall.run == FLOOR else f"run {fall.run[:8]}"
    return f"{fall.metric} is {fall.difference:+.2f} against {than}."


def _under(policy: str | None) -> str:
    return "" if policy is None else f" under policy {policy}"


def _base(runs: Counter[str], policy: str | None, *, unknown: int) -> str:
    """Which runs the base is from, with the items from each, and how many items have none."""
    names = {run_id: f"run {run_id[:8]}" if run_id else "reports outside runs" for run_id in runs}
    parts = ", ".join(f"{items} items of {names[run_id]}" for run_id, items in runs.items())
    new = f"; {unknown} items have none yet" if unknown else ""
    return f"Base{_under(policy)}: {parts}{new}."


def _words(verdict: Verdict, accept: bool) -> str:
    fell = [change for change in verdict.changes if change.fails]
    if not fell:
        moved = {item for change in verdict.changes for item in (*change.worse, *change.better)}
        return f"No metric fell; {len(moved)} items moved." if moved else "Nothing moved."
    metrics = "; ".join(
        f"{change.metric} {change.difference.mean:+.2f} [{change.difference.low:+.2f}, {change.difference.high:+.2f}],"
        f" worse: {', '.join(sorted(change.worse))}"
        for change in fell
    )
    return f"{'Accepted although it fell' if accept else 'Fell'}: {metrics}."


def _row(change: Change) -> dict[str, object]:
    return {
        "metric": change.metric,
        "difference": f"{change.difference.mean:+.3f}",
        "99.8 % interval": f"{change.difference.low:+.3f} … {change.difference.high:+.3f}",
        "items worse": len(change.worse),
        "items better": len(change.better),
        "verdict": "fell" if change.fails else "holds",
    }


def _number(value: float) -> dg.FloatMetadataValue:
    return dg.MetadataValue.float(round(value, 4))
