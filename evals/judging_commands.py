"""The `webrag eval` commands that judge recorded runs and policies: regret, report, gate, decisions, ragas."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from webrag_core.cli.output import Json, complain, out, print_json, print_table
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

Golden = Annotated[Path | None, typer.Option(help="The golden queries, JSONL; unset = this package's own.")]
Warc = Annotated[Path | None, typer.Option(help="WARC snapshot; unset = the one named by the golden queries.")]


def register(eval_app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (regret, report, gate, decisions, ragas):
        eval_app.command()(command)


def regret(
    run: Annotated[Path, typer.Argument(help="A run log, JSONL.")],
    golden: Golden = None,
    warc: Warc = None,
    as_json: Json = False,
) -> None:
    """Compare each run with the oracle: missing evidence, wasted pages, early stops."""
    from evals.judging.regret import FIELDS, regret_table, regrets_of
    from evals.judging.score_tables import print_scores, score_cells
    from evals.walks.recorded import load_run_log
    from evals.walks.suites import goldens_of, links_of, pages_of, sites_of

    runs = load_run_log(run)
    goldens = goldens_of(runs, golden)
    links = links_of(sites_of(goldens, warc), pages_of(goldens, runs))
    regrets = regrets_of(goldens, {run.id: run.record for run in runs}, links)
    table = regret_table(goldens, regrets)
    if as_json:
        print_json(
            {
                "groups": score_cells(table),
                "items": {item: dataclasses.asdict(regret) for item, regret in regrets.items()},
            }
        )
        return
    lost = [(item, *(int(getattr(regret, name)) for name in FIELDS), regret.cause) for item, regret in regrets.items()
            if not regret.none]  # fmt: skip
    print_table(("id", *FIELDS, "why"), lost)
    print_scores(table, FIELDS)


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run logs, JSONL.")],
    html: Annotated[Path, typer.Option(help="File for the HTML page.")] = Path("runs/report.html"),
    recording: Annotated[
        Path | None,
        typer.Option(help="A run log of `eval sitewalk --until-cap`: the baselines stop it, each in its own way."),
    ] = None,
    golden: Golden = None,
    warc: Warc = None,
    as_json: Json = False,
) -> None:
    """Write a self-contained HTML report: intervals, baselines, calibration, regret, and every item by round."""
    from evals.report.page import NamedRun, render_report
    from evals.walks.recorded import load_run_log
    from evals.walks.suites import goldens_of, links_of, sites_of

    logs = [NamedRun(path.stem, load_run_log(path)) for path in runs]
    stops = load_run_log(recording) if recording else None
    shared = set.intersection(*({run.id for run in log.runs} for log in logs))
    goldens = [item for item in goldens_of(logs[0].runs, golden) if item.id in shared]
    if not goldens:
        raise InvalidInputError("the run logs share no item")
    links = links_of(sites_of(goldens, warc))
    page = render_report(logs, goldens=goldens, recording=stops, links=links, settings=load_settings())
    try:
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"{html} cannot be written: {error.strerror}") from error
    if as_json:
        print_json({"html": str(html), "items": len(goldens), "runs": [log.name for log in logs]})
        return
    out.print(f"{html}: {len(goldens)} items, {len(logs)} runs", markup=False, highlight=False)


def gate(
    run: Annotated[Path, typer.Argument(help="The run log to judge, JSONL.")],
    against: Annotated[
        Path, typer.Option(help="The run log to compare with, as an earlier `eval sitewalk --out FILE` wrote it.")
    ],
    tolerance: Annotated[float, typer.Option(min=0, max=1, help="Maximum drop of a mean.")] = 0.04,
    golden: Golden = None,
    as_json: Json = False,
) -> None:
    """Compare two run logs item by item; list the changed items; exit 1 when a metric fell."""
    from evals.judging.gate import judge
    from evals.walks.recorded import load_run_log
    from evals.walks.suites import goldens_of

    base = load_run_log(against)
    verdict = judge(goldens_of(base, golden), load_run_log(run), base, tolerance)
    if as_json:
        print_json({"passes": verdict.passes, **dataclasses.asdict(verdict)})
    else:
        columns = ("metric", "n", "difference", "worse", "better", "")
        print_table(
            columns,
            [
                (
                    change.metric,
                    change.difference.n,
                    f"{change.difference.mean:+.3f} [{change.difference.low:+.3f}, {change.difference.high:+.3f}]",
                    len(change.worse),
                    len(change.better),
                    "REGRESSION" if change.fails else "",
                )
                for change in verdict.changes
            ],
        )
        for change in verdict.changes:
            for name, moved in (("worse", change.worse), ("better", change.better)):
                moves = ", ".join(f"{item} {old:.2f} -> {new:.2f}" for item, (old, new) in moved.items())
                if moves:
                    out.print(f"{change.metric}, {name}: {moves}", markup=False, highlight=False)
        if verdict.missing:
            out.print(f"missing: {', '.join(verdict.missing)}", markup=False, highlight=False)
    if not verdict.passes:
        raise typer.Exit(1)


def decisions(
    golden: Annotated[Path | None, typer.Option(help="Decision goldens, JSONL; unset = this package's own.")] = None,
    policy: Annotated[str | None, typer.Option(help="Use this policy instead of the one named by each golden.")] = None,
    as_json: Json = False,
) -> None:
    """Check signal histories that must and must not fire each rule of a policy; exit 1 on a wrong decision."""
    from evals.judging.decisions import DEFAULT_DECISIONS, decide_goldens, default_settings, load_decision_goldens
    from webrag_core.orchestration.policies import get_policy

    goldens = load_decision_goldens(golden or DEFAULT_DECISIONS)
    decided = decide_goldens(goldens, get_policy(policy, default_settings({})) if policy else None)
    wrong = [decision for decision in decided if not decision.right]
    rules = {
        rule: {
            name: [sum(item.right for item in group), len(group)]
            for name, fires in (("must", True), ("must_not", False))
            if (
                group := [
                    decision for decision in decided if decision.golden.rule == rule and decision.golden.fires is fires
                ]
            )
        }
        for rule in dict.fromkeys(golden.rule for golden in goldens)
    }
    failures = [
        {
            "id": case.golden.id,
            "why": case.golden.why,
            "expected": f"{case.golden.expect.action} [{case.golden.expect.rule}]",
            "decided": f"{case.decision.action} [{case.decision.rule}]",
        }
        for case in wrong
    ]
    if as_json:
        print_json({"goldens": len(decided), "right": len(decided) - len(wrong), "rules": rules, "wrong": failures})
    else:
        cells = [[f"{pair[0]} of {pair[1]}" if (pair := row.get(name)) else "–" for name in ("must", "must_not")]
                 for row in rules.values()]  # fmt: skip
        print_table(("rule", "must fire", "must not"), [(rule, *row) for rule, row in zip(rules, cells, strict=True)])
        for failure in failures:
            complain("{id}: {why}: expected {expected}, decided {decided}".format(**failure))
        out.print(f"{len(decided) - len(wrong)} of {len(decided)} right", markup=False, highlight=False)
    if wrong:
        raise typer.Exit(1)


def ragas(
    run: Annotated[Path, typer.Argument(help="A run log, JSONL.")],
    golden: Golden = None,
    judge_url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint of a judge, as http://127.0.0.1:8000/v1.")
    ] = None,
    judge_model: Annotated[str | None, typer.Option(help="The judge's model.")] = None,
    judge_key_file: Annotated[Path | None, typer.Option(help="File with the judge's API key, if required.")] = None,
    as_json: Json = False,
) -> None:
    """Compute Ragas metrics: by ids and strings offline, by a model's judgement with an endpoint."""
    from evals.judging.ragas_scores import judged_scorers, offline_scorers, samples_of, score_samples
    from evals.walks.recorded import load_run_log
    from evals.walks.suites import goldens_of

    runs = load_run_log(run)
    samples = samples_of(goldens_of(runs, golden), runs)
    scorers = offline_scorers()
    if (judge_url is None) != (judge_model is None):
        raise InvalidInputError("--judge-url and --judge-model go together")
    if judge_url and judge_model:
        scorers |= judged_scorers(judge_url, judge_model, _key(judge_key_file))
    with progress(len(samples) * len(scorers), "ragas") as advance:
        metrics = asyncio.run(score_samples(samples, scorers, advance))
    if as_json:
        print_json(
            {"items": len(samples), "metrics": {name: dataclasses.asdict(metric) for name, metric in metrics.items()}}
        )
        return
    rows = [
        (name, metric.mean.n if metric.mean else 0, metric.mean or "–", metric.not_a_number)
        for name, metric in metrics.items()
    ]
    print_table(("metric", "n", "mean", "not a number"), rows)
    for name, metric in metrics.items():
        for error in metric.errors:
            complain(f"{name}: {error}")


def _key(path: Path | None) -> str:
    if path is None:
        return "none"
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} cannot be read as text") from error
