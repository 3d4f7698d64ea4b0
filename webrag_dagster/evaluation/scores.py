"""Scores of recorded walks as metadata: numbers that the UI plots over time, tables, and the report's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.markdown import rows_markdown
from webrag_dagster.metadata import Metadata, table
from webrag_dagster.pictures import picture

if TYPE_CHECKING:
    from evals.intervals import Interval
    from evals.judging.regret import Regret
    from evals.walks.goldens import GoldenQuery
    from evals.walks.recorded import RecordedRun


def walk_metadata(
    goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun], regrets: Mapping[str, Regret]
) -> Metadata:
    """Means (the UI plots them), table by kind of question, every item with what it lost, calibration."""
    from evals.reliability import reliability_at_stop, reliability_per_round
    from evals.report.figures import completeness_diagram
    from evals.walks.scoring import METRICS, aggregate

    by_id = {run.id: run.record for run in runs}
    scores = aggregate(goldens, list(by_id.values()))
    at_stop, per_round = reliability_at_stop(goldens, runs), reliability_per_round(goldens, runs)
    seconds = sum(float(record["wall_s"]) for record in by_id.values())
    numbers: Metadata = {name: number(cell.mean) for name, cell in scores["all"].items()}
    if at_stop.ece is not None:
        numbers["calibration_error_at_stop"] = number(at_stop.ece)
    if per_round.ece is not None:
        numbers["calibration_error_per_round"] = number(per_round.ece)
    return {
        "scores": dg.MetadataValue.md(scores_markdown(scores, METRICS)),
        "calibration": picture(completeness_diagram(per_round)),
        **numbers,
        "items": dg.MetadataValue.int(len(goldens)),
        "seconds": number(seconds),
        "item_list": table(_item(golden, by_id[golden.id], regrets.get(golden.id)) for golden in goldens),
    }


def scores_markdown(groups: Mapping[str, Mapping[str, Interval]], metrics: Sequence[str]) -> str:
    """Mean and 95 % interval per group and metric."""
    rows: list[dict[str, object]] = []
    for group, cells in groups.items():
        size = max((cell.n for cell in cells.values()), default=0)
        values = {metric: str(cells[metric]) if metric in cells else "–" for metric in metrics}
        rows.append({"questions": group, "n": size, **values})
    return "\n".join(rows_markdown(rows))


def number(value: float) -> dg.FloatMetadataValue:
    """A number as the UI shows it."""
    return dg.MetadataValue.float(round(float(value), 4))


def _item(
    golden: GoldenQuery, record: Mapping[str, object], regret: Regret | None
) -> dict[str, str | int | float | bool | None]:
    from evals.walks.scoring import score_item

    scores = score_item(golden, record)
    return {
        "item": golden.id,
        "kind": golden.kind,
        "success": "" if "success" not in scores else "yes" if scores["success"] else "no",
        "quotes": "" if "quotes" not in scores else "yes" if scores["quotes"] else "no",
        "pages": int(scores["pages"]),
        "oracle pages": golden.oracle_pages,
        "stop": str(record["stop"]),
        "lost because": regret.cause if regret is not None else "",
        "question": golden.query,
    }
