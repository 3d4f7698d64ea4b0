"""`webrag eval …`: the evaluation commands, added to the CLI through the `webrag.commands` entry points."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Annotated, TextIO

import typer

from evals import answers_command, judging_commands, replay_command
from evals.feedback import release_command
from evals.jsonl import new_file
from evals.retrieval.data import DEFAULT_DOCUMENTS, DEFAULT_QUESTIONS, load_documents, load_questions
from evals.routing.command import routes
from evals.walks.goldens import DEFAULT_GOLDEN, load_goldens
from webrag_core.acquisition.urls import canonicalise
from webrag_core.cli.output import Json, err, out, print_json, print_table
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

eval_app = typer.Typer(no_args_is_help=True, help="Measure the loop's decisions, the retrieval and the answers.")


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the CLI."""
    app.add_typer(eval_app, name="eval")
    judging_commands.register(eval_app)
    eval_app.command()(routes)
    answers_command.register(eval_app)
    replay_command.register(app)
    release_command.register()


@eval_app.command()
def sitewalk(
    golden: Annotated[Path, typer.Option(help="Golden queries, JSONL.")] = DEFAULT_GOLDEN,
    warc: Annotated[
        Path | None, typer.Option(help="WARC snapshot; unset = the one named by the golden queries.")
    ] = None,
    items: Annotated[
        int | None, typer.Option(help="Number of golden queries, every kind in turn; unset = all.")
    ] = None,
    policy: Annotated[str, typer.Option(help="Stop policy.")] = "calibrated",
    run_log: Annotated[Path, typer.Option("--out", help="File for the run log, JSONL.")] = Path("runs/sitewalk.jsonl"),
    until_cap: Annotated[
        bool, typer.Option("--until-cap", help="Never stop before the page limit: a recording to try stop policies on.")
    ] = False,
    stored: Annotated[bool, typer.Option("--stored", help="Index the whole site first, and search all of it.")] = False,
    start: Annotated[
        str | None, typer.Option(help="Start page of all questions; unset = the one of each question.")
    ] = None,
    twins: Annotated[
        bool, typer.Option("--twins", help="Ask each question also of the site without the pages that answer it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the loop from each golden's seed page; write a run log, print the scores."""
    from evals.judging.baselines import baseline_table
    from evals.judging.score_tables import print_scores, score_cells
    from evals.reliability import reliability_at_stop, reliability_per_round
    from evals.walks.recorded import load_run_log
    from evals.walks.scoring import METRICS, aggregate
    from evals.walks.sitewalk import UNTIL_CAP, log_digest, run_suite, suite_settings
    from evals.walks.suites import DEMO_SITE, covered, sample_goldens, sites_of
    from evals.walks.twins import with_twins
    from webrag_core.orchestration.policies import get_policy

    goldens = load_goldens(golden)
    [site, *more] = sites_of(goldens, warc)
    if more:
        raise InvalidInputError("the golden queries cover several sites; one run evaluates a single site")
    if site == DEMO_SITE and warc is None:
        whole, goldens = len(goldens), covered(goldens, site)
        err.print(f"only the demo site is installed: it holds the pages of {len(goldens)} of {whole} questions")
    goldens = goldens if items is None else sample_goldens(goldens, items)
    if start is not None:
        goldens = [golden.model_copy(update={"seed_url": canonicalise(start)}) for golden in goldens]
    goldens = with_twins(goldens) if twins else goldens
    settings = load_settings()
    get_policy(policy, settings)
    site_settings = suite_settings(settings, site, stored=stored)
    with new_file(run_log) as stream, progress(len(goldens), "sitewalk") as advance:
        records = asyncio.run(
            run_suite(
                goldens,
                warc=site,
                policy=policy,
                settings=site_settings,
                out=stream,
                advance=advance,
                until_cap=until_cap,
                stored=stored,
            )
        )
    table = aggregate(goldens, records)
    runs = load_run_log(run_log)
    others = baseline_table(goldens, runs, settings)
    calibration = {"at_stop": reliability_at_stop(goldens, runs), "per_round": reliability_per_round(goldens, runs)}
    if as_json:
        print_json(
            {
                "run_log": str(run_log),
                "digest": log_digest(records),
                "policy": UNTIL_CAP if until_cap else policy,
                "scores": score_cells(table),
                "baselines": score_cells(others),
                "calibration": {name: dataclasses.asdict(curve) for name, curve in calibration.items()},
            }
        )
        return
    print_scores(table, METRICS)
    print_scores(others, METRICS, "baselines")
    for name, curve in calibration.items():
        if curve.ece is not None:
            bins = ", ".join(f"{stated:.2f} -> {observed:.2f} ({size})" for stated, observed, size in curve.bins)
            out.print(f"probability_complete {name}: ECE {curve.ece:.3f} over {curve.n}; stated -> observed: {bins}")
    out.print(f"run log: {run_log}", markup=False, highlight=False)
    out.print(f"digest without timings: {log_digest(records)}", markup=False, highlight=False)


@eval_app.command()
def retrieval(
    questions: Annotated[Path, typer.Option(help="Questions with evidence spans, JSONL.")] = DEFAULT_QUESTIONS,
    documents: Annotated[Path, typer.Option(help="Their documents, JSONL.")] = DEFAULT_DOCUMENTS,
    distractors: Annotated[
        list[Path] | None, typer.Option(help="Documents to search among, without questions; repeatable.")
    ] = None,
    results: Annotated[Path, typer.Option("--out", help="File for the rankings, JSONL.")] = Path(
        "runs/retrieval.jsonl"
    ),
    as_json: Json = False,
) -> None:
    """Rank passages for questions with known evidence spans; write the rankings, print the scores."""
    from evals.retrieval.quality import ask, bench_settings, open_bench
    from evals.retrieval.scoring import METRICS, aggregate, lowest_third

    own_documents = load_documents(documents)
    golden_questions = load_questions(questions, own_documents)
    others = [document for path in distractors or [] for document in load_documents(path)]
    low = lowest_third(golden_questions, {document.id: document for document in own_documents})

    async def work(stream: TextIO) -> tuple[int, dict[str, dict[str, dict[str, float]]]]:
        everything = [*own_documents, *others]
        with progress(len(everything), "indexing") as indexed:
            bench = open_bench(everything, bench_settings(load_settings(), everything), indexed)
            async with bench as opened:
                with progress(len(golden_questions), "questions") as advance:
                    return len(opened.parents), await ask(opened, golden_questions, stream, advance)

    with new_file(results) as stream:
        parents, scores = asyncio.run(work(stream))
    table = {name: aggregate(golden_questions, scores_of, low) for name, scores_of in scores.items()}
    if as_json:
        cells = {
            name: {group: {m: dataclasses.asdict(cell) for m, cell in row.items()} for group, row in groups.items()}
            for name, groups in table.items()
        }
        print_json({"results": str(results), "parents": parents, "scores": cells})
        return
    rows = [
        (name, group, row[METRICS[0]].n, *(f"{row[m].mean:.3f} [{row[m].low:.3f}, {row[m].high:.3f}]" for m in METRICS))
        for name, groups in table.items()
        for group, row in groups.items()
    ]
    print_table(("system", "questions", "n", *METRICS), rows)
    out.print(f"{parents} parents; rankings: {results}", markup=False, highlight=False)
