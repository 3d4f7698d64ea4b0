"""`make plots`: draw what evaluations measured, out of the files that they wrote, for the documentation.

`make bench-sitewalk` and `make bench-answers` write the files, into `runs/`. Nothing is measured here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from docs_tools.pages import DOCS, REPOSITORY
from evals.answers.key_report import calibrations
from evals.answers.recorded_answers import judge_again
from evals.answers.suite_list import own_key_sets
from evals.judging.baselines import baselines
from evals.reliability import reliability_at_stop
from evals.report.figures import SystemKind, SystemMark, completeness_diagram, success_against_pages
from evals.report.page import success_curve
from evals.walks.goldens import GoldenQuery, load_goldens
from evals.walks.recorded import RecordedRun, load_run_log
from evals.walks.scoring import score_item, summarise
from evals.walks.suites import own_suites
from webrag_core.config import Settings
from webrag_core.drawing.figure import Figure
from webrag_core.drawing.reliability import reliability_diagram
from webrag_core.reliability import Reliability

PAGE = DOCS / "explanation" / "plots.md"
RUNS = REPOSITORY / "runs"
ANSWERS = "answers-reporting.jsonl"
"""Where `make bench-answers` puts the answers."""
_MOST_PAGES = 30
_METRICS = ("pages", "quotes")


@dataclass(frozen=True, slots=True)
class Walked:
    """The questions of a site with a run of each."""

    site: str
    goldens: Sequence[GoldenQuery]
    runs: Sequence[RecordedRun]


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture in docs/images, with what stands above it and below it."""

    name: str
    heading: str
    text: str
    figure: Figure


def walked_sites(folder: Path) -> list[Walked]:
    """The sites that nothing was fitted on of which `folder` has a run log: SITE.jsonl, or SITE-twins.jsonl. A log that
    lacks a question of its site is left out, and named on stderr."""
    sites = []
    for name, suite in own_suites("reporting").items():
        file = next(
            (path for path in (folder / f"{name}-twins.jsonl", folder / f"{name}.jsonl") if path.exists()), None
        )
        if file is None:
            continue
        goldens = load_goldens(suite.golden)
        ids = {golden.id for golden in goldens}
        runs = [run for run in load_run_log(file) if run.id in ids]
        if len(runs) == len(goldens):
            sites.append(Walked(name, goldens, runs))
        else:
            print(f"{file} has {len(runs)} of {len(goldens)} questions: left out", file=sys.stderr)
    return sites


def plots(walked: Sequence[Walked], answers: Path | None) -> list[Plot]:
    """What can be drawn of these runs."""
    drawn = []
    if walked:
        goldens = [golden for site in walked for golden in site.goldens]
        runs = [run for site in walked for run in site.runs]
        drawn.append(
            Plot(
                "plot-cost-quality",
                "What pages buy",
                "Walks from the start page of a site, nothing stored: how many pages were read for a question, and how"
                " often all needed quotes stood in the evidence then. Up and to the left is better. The square is the"
                " best that any walk could do. The broken line is what the choice of links alone allows: the share of"
                " questions whose pages are all among the first ones fetched.",
                success_against_pages(_marks(walked, goldens, runs), success_curve(goldens, runs), _MOST_PAGES),
            )
        )
        curve = reliability_at_stop(goldens, runs)
        drawn.append(
            Plot(
                "plot-completeness",
                "Is the stated completeness true?",
                f"The same walks, where they stopped: the stated probability that the evidence is complete, against how"
                f" often it was. {_error(curve)}",
                completeness_diagram(curve),
            )
        )
    if answers is not None:
        answered_keys = judge_again(answers, own_key_sets("reporting"))
        curve = calibrations(answered_keys)["answered"]
        sites = ", ".join(dict.fromkeys(item.suite for item in answered_keys))
        drawn.append(
            Plot(
                "plot-confidence",
                "Is the stated confidence true?",
                f"Answers in prose to {len(answered_keys)} questions of people about stored sites ({sites}), those that"
                " were answered at all: the stated confidence, against how often the answer was right."
                f" {_error(curve)}",
                reliability_diagram(curve, stated="confidence", observed="right", cases="answers"),
            )
        )
    return drawn


def page(drawn: Sequence[Plot], sites: Sequence[str], day: date) -> str:
    """The page of the plots: each picture, then its data as a table."""
    lines = [
        "# Plots of the evaluation",
        "",
        "This page is for people who want to see at a glance how good the decisions are, and what the percentages are",
        "worth. `make plots` draws it out of what `make bench-sitewalk` and `make bench-answers` wrote; nothing was",
        f"fitted on these sites. Drawn on {day.isoformat()}.",
        "",
        *(
            [f"Walks of {', '.join(sites)}. [Evaluation](../evaluation.md) has the figures of all sites.", ""]
            if sites
            else []
        ),
    ]
    for plot in drawn:
        table = plot.figure.table
        lines += [f"## {plot.heading}", "", plot.text, ""]
        lines += [f"![{plot.figure.title}: the table below has the data](../images/{plot.name}.svg)", ""]
        lines += [f"| {' | '.join(cells)} |" for cells in (table.columns, ("---",) * len(table.columns), *table.rows)]
        lines.append("")
    return "\n".join(lines)


def _marks(walked: Sequence[Walked], goldens: Sequence[GoldenQuery], runs: Sequence[RecordedRun]) -> list[SystemMark]:
    """Each site, all of them together, and what is known of every question without walking: stopping at once, and the
    oracle."""
    marks = []
    groups = [(site.site, site.goldens, site.runs) for site in walked]
    if len(walked) > 1:
        groups.append(("all of them", goldens, runs))
    for name, of_site, its_runs in groups:
        by_id = {run.id: run.record for run in its_runs}
        scores = {golden.id: score_item(golden, by_id[golden.id]) for golden in of_site}
        cells = summarise(of_site, scores, _METRICS)["all"]
        marks.append(SystemMark(name, "run", cells["pages"].mean, cells["quotes"]))
    for system in baselines(goldens, runs, Settings()):
        # a policy that would have gone on is known for some questions only: a mean of those says nothing
        if not system.unknown:
            cells = summarise(goldens, system.scores, _METRICS).get("all", {})
            if "quotes" in cells:
                kind: SystemKind = "oracle" if system.name == "oracle" else "baseline"
                marks.append(SystemMark(system.name, kind, cells["pages"].mean, cells["quotes"]))
    return marks


def _error(curve: Reliability) -> str:
    return "" if curve.ece is None else f"They differ by {curve.ece:.2f} on average, over {curve.n}."


def main() -> None:
    """Draw what there are files for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=RUNS, help="Folder of the files.")
    folder = parser.parse_args().runs
    walked = walked_sites(folder)
    answers = folder / ANSWERS
    drawn = plots(walked, answers if answers.exists() else None)
    if not drawn:
        sys.exit(f"{folder} has no file to draw: run make bench-sitewalk or make bench-answers")
    for plot in drawn:
        (DOCS / "images" / f"{plot.name}.svg").write_text(plot.figure.document())
    PAGE.write_text(page(drawn, [site.site for site in walked], datetime.now(UTC).date()))


if __name__ == "__main__":
    main()
