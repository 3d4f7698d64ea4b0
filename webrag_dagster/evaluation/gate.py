"""The gate as an asset check: a run's scores against those of the last run that passed, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import dagster as dg

from evals.judging.gate import TOLERANCE, Change, Verdict, compare
from webrag_dagster.markdown import rows_markdown
from webrag_dagster.metadata import Metadata, table

Scores = Mapping[str, Mapping[str, float]]
"""Item -> metric -> score."""

SCORES, PASSED = "item_scores", "gate_passed"
"""Metadata of an evaluation asset by which later runs are judged: the scores by item, and whether the gate let them
through. They are kept in Dagster's own event log, so that a run on another machine finds them."""

_LOOK_BACK = 100


@dataclass(frozen=True, slots=True)
class Base:
    """The run to compare with."""

    run_id: str
    scores: Scores


def last_passing(instance: dg.DagsterInstance, asset: str) -> Base | None:
    """The newest materialization of `asset` that its gate let through; None when the last hundred hold none."""
    for record in instance.fetch_materializations(dg.AssetKey(asset), limit=_LOOK_BACK).records:
        materialization = record.asset_materialization
        if materialization is None:
            continue
        kept, passed = materialization.metadata.get(SCORES), materialization.metadata.get(PASSED)
        if passed is not None and passed.value and isinstance(kept, dg.JsonMetadataValue):
            return Base(record.run_id, kept.data if isinstance(kept.data, dict) else {})
    return None


def gate(
    name: str,
    base: Base | None,
    now: Scores,
    *,
    clusters: Mapping[str, str],
    metrics: Sequence[str],
    accept: bool,
) -> tuple[dg.AssetCheckResult, Metadata]:
    """The check result, and what the materialization has to carry for the next run.

    Items that one of the two runs did not ask are not compared. Nothing to compare with: passes, and becomes the base.
    `accept` makes a worse run the new base, on purpose.
    """
    before = {item: scores for item, scores in base.scores.items() if item in now} if base is not None else {}
    if base is None or not before:
        result = dg.AssetCheckResult(
            check_name=name,
            passed=True,
            description="No earlier run that passed: this one is what the next must match.",
        )
        return result, _kept(now, True)
    verdict = compare(now, before, clusters=clusters, metrics=metrics)
    passed = verdict.passes or accept
    result = dg.AssetCheckResult(
        check_name=name,
        passed=passed,
        severity=dg.AssetCheckSeverity.ERROR,
        description=_words(verdict, accept),
        metadata={
            "compared_with": dg.MetadataValue.dagster_run(base.run_id),
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
    return result, _kept(now, passed)


def _kept(now: Scores, passed: bool) -> Metadata:
    numbers = {item: {name: round(float(score), 6) for name, score in scores.items()} for item, scores in now.items()}
    return {PASSED: dg.MetadataValue.bool(passed), SCORES: dg.MetadataValue.json(numbers)}


def _words(verdict: Verdict, accept: bool) -> str:
    fell = [change for change in verdict.changes if change.fails]
    if not fell:
        moved = {item for change in verdict.changes for item in (*change.worse, *change.better)}
        return f"No metric fell; {len(moved)} items moved." if moved else "Nothing moved."
    told = "; ".join(
        f"{change.metric} {change.difference.mean:+.2f} [{change.difference.low:+.2f}, {change.difference.high:+.2f}],"
        f" worse: {', '.join(sorted(change.worse))}"
        for change in fell
    )
    return ("Accepted although it fell: " if accept else "Fell: ") + told


def _row(change: Change) -> dict[str, object]:
    return {
        "metric": change.metric,
        "difference": f"{change.difference.mean:+.3f}",
        "95 % interval": f"{change.difference.low:+.3f} … {change.difference.high:+.3f}",
        "items worse": len(change.worse),
        "items better": len(change.better),
        "verdict": "fell" if change.fails else "holds",
    }


def _number(value: float) -> dg.FloatMetadataValue:
    return dg.MetadataValue.float(round(value, 4))
