"""Scores of recorded walks as metadata: numbers that the UI plots over time, tables, and the report's figures."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from webrag_dagster.markdown import rows_markdown
from webrag_dagster.metadata import Metadata, table

if TYPE_CHECKING:
    from evals.intervals import Interval
    from evals.judging.regret import Regret
    from evals.walks.goldens import GoldenQuery
    from evals.walks.recorded import RecordedRun

_STYLE = (
    "text{font:12px sans-serif;fill:#333}.tick,.axis{fill:#777;font-size:11px}.middle{text-anchor:middle}"
    ".end{text-anchor:end}.grid,.bin{stroke:#ddd}.bin{stroke-dasharray:1 4}.diagonal{stroke:#777;stroke-dasharray:5 4}"
    ".mark circle{fill:#2f5fd0}.mark text{fill:#fff;font-size:11px}.gap{stroke:#2f5fd0;stroke-width:2;opacity:.6}"
)


def walk_metadata(
    goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun], regrets: Mapping[str, Regret]
) -> Metadata:
    """Means (the UI plots them), table by kind of question, every item with what it lost, calibration."""
    from evals.reliability import reliability_at_stop, reliability_per_round
    from evals.report.figures import reliability_diagram
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
        "calibration": dg.MetadataValue.md(picture(str(reliability_diagram(per_round)), "stated against observed")),
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


def picture(svg: str, label: str) -> str:
    """A figure of the report as a Markdown image, with the style that the report's page would give it."""
    head, rest = svg.split(">", 1)
    width, height = head.split('viewBox="0 0 ', 1)[1].split('"', 1)[0].split()
    head = f'{head} xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    styled = f'{head}><style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>{rest}'
    return f"![{label}](data:image/svg+xml;base64,{base64.b64encode(styled.encode()).decode()})"


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
