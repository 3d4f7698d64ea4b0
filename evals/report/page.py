"""The report of recorded runs: one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.intervals import Interval
from evals.judging.baselines import System, baselines
from evals.judging.oracle import Links
from evals.judging.regret import FIELDS, Regret, regret_table, regrets_of
from evals.reliability import reliability_at_stop, reliability_per_round
from evals.report.figures import SystemKind, SystemMark, completeness_diagram, success_against_pages
from evals.report.items import ItemView, item_view
from evals.walks.goldens import CLUSTER, GoldenQuery
from evals.walks.recorded import RecordedRun
from evals.walks.scoring import pages_in_order, round_complete, score_item, summarise
from webrag_core.config import Settings
from webrag_core.drawing.figure import Figure, style_sheet
from webrag_core.html_template import load_template
from webrag_core.reliability import Reliability

HEADLINE = ("quotes", "success", "pages", "stop_exact", "false_claim", "utility", "net")
"""Metrics of the headline table, in its order."""

_MOST_PAGES = 30
_TEMPLATE = Path(__file__).with_name("report.html.j2")


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run log under the name it has in the report."""

    name: str
    runs: Sequence[RecordedRun]


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    name: str
    kind: SystemKind
    cells: Mapping[str, Interval]
    known: int
    unknown: int


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    at_stop: Reliability
    per_round: Reliability
    at_stop_figure: Figure
    per_round_figure: Figure
    regrets: Mapping[str, Mapping[str, Interval]]
    widest: Mapping[str, float]
    items: Sequence[ItemView]


def render_report(
    logs: Sequence[NamedRun],
    *,
    goldens: Sequence[GoldenQuery],
    recording: Sequence[RecordedRun] | None,
    links: Links,
    settings: Settings,
) -> str:
    """The whole page. `logs` have at least one run log, and every golden a run in each.

    `recording` (of `eval sitewalk --until-cap`) tells the baselines; None = as far as the first log tells them.
    `links` are those of the whole site. All texts of pages are escaped.
    """
    ran = [
        System(log.name, {golden.id: score_item(golden, _by_id(log)[golden.id].record) for golden in goldens})
        for log in logs
    ]
    runs = recording if recording is not None else logs[0].runs
    rows = _rows(goldens, ran, baselines(goldens, runs, settings))
    marks = [
        SystemMark(row.name, row.kind, row.cells["pages"].mean, row.cells["quotes"])
        for row in rows
        if "quotes" in row.cells
    ]
    return load_template(_TEMPLATE).render(
        style=style_sheet(),
        rows=rows,
        metrics=HEADLINE,
        figure=success_against_pages(marks, success_curve(goldens, runs), _MOST_PAGES),
        sections=[_section(log, goldens, links) for log in logs],
        fields=FIELDS,
        items=len(goldens),
        cluster=CLUSTER,
        clusters=rows[0].cells["pages"].clusters,
        has_recording=recording is not None,
        kinds=list(dict.fromkeys(golden.kind for golden in goldens)),
    )


def success_curve(goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun]) -> list[float]:
    """Share of the answerable items whose gold pages are all among the first k pages that were fetched, k = 1 … 30."""
    by_id = {run.id: run for run in runs}
    needed = []
    for golden in goldens:
        if golden.kind == "unanswerable" or golden.id not in by_id:
            continue
        places = {page: place for place, page in enumerate(pages_in_order(by_id[golden.id].record), start=1)}
        needed.append(round_complete(golden, places))
    if not needed:
        return []
    return [sum(at is not None and at <= k for at in needed) / len(needed) for k in range(1, _MOST_PAGES + 1)]


def _rows(goldens: Sequence[GoldenQuery], ran: Sequence[System], others: Sequence[System]) -> list[_Row]:
    rows = []
    for number, system in enumerate([*ran, *others], start=1):
        kind: SystemKind = "run" if number <= len(ran) else "oracle" if system.name == "oracle" else "baseline"
        cells = summarise(goldens, system.scores, HEADLINE).get("all", {})
        rows.append(_Row(number, system.name, kind, cells, len(system.scores), len(system.unknown)))
    return rows


def _section(log: NamedRun, goldens: Sequence[GoldenQuery], links: Links) -> _Section:
    runs = _by_id(log)
    regrets: dict[str, Regret] = regrets_of(goldens, {item: run.record for item, run in runs.items()}, links)
    table = regret_table(goldens, regrets)
    at_stop = reliability_at_stop(goldens, log.runs)
    per_round = reliability_per_round(goldens, log.runs)
    return _Section(
        name=log.name,
        at_stop=at_stop,
        per_round=per_round,
        at_stop_figure=completeness_diagram(at_stop),
        per_round_figure=completeness_diagram(per_round),
        regrets=table,
        widest={field: max((row[field].mean for row in table.values() if field in row), default=0) for field in FIELDS},
        items=[item_view(golden, runs[golden.id], regrets[golden.id], links) for golden in goldens],
    )


def _by_id(log: NamedRun) -> dict[str, RecordedRun]:
    return {run.id: run for run in log.runs}
