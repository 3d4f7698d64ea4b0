"""`webrag eval …`: the evaluation commands, added to the CLI through the `webrag.commands` entry points."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from evals.goldens import DEFAULT_GOLDEN, DEFAULT_SITE, load_goldens
from webrag_core.cli_output import Json, out, print_json, print_table, progress
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

eval_app = typer.Typer(no_args_is_help=True, help="Measure the loop's decisions on frozen sites.")


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the CLI."""
    app.add_typer(eval_app, name="eval")


@eval_app.callback()
def _group() -> None:
    """Keeps `sitewalk` a sub-command while it is the only one."""


@eval_app.command()
def sitewalk(
    golden: Annotated[Path, typer.Option(help="Golden queries, JSONL.")] = DEFAULT_GOLDEN,
    warc: Annotated[Path, typer.Option(help="The frozen site.")] = DEFAULT_SITE,
    policy: Annotated[str, typer.Option(help="Stop policy.")] = "seed-matrix",
    run_log: Annotated[Path, typer.Option("--out", help="Where the run log goes, JSONL.")] = Path(
        "runs/sitewalk.jsonl"
    ),
    as_json: Json = False,
) -> None:
    """Walk from each golden's seed page; write a run log, print the scores."""
    from evals.scoring import METRICS, aggregate
    from evals.sitewalk import run_suite, suite_settings
    from webrag_core.orchestration.policies import get_policy

    goldens = load_goldens(golden)
    settings = load_settings()
    get_policy(policy, settings)
    own = suite_settings(settings, warc)
    try:
        run_log.parent.mkdir(parents=True, exist_ok=True)
        stream = run_log.open("w", encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"{run_log} cannot be written: {error.strerror}") from error
    with stream, progress(len(goldens), "sitewalk") as advance:
        records = asyncio.run(run_suite(goldens, warc=warc, policy=policy, settings=own, out=stream, advance=advance))
    table = aggregate(goldens, records)
    if as_json:
        scores = {group: {name: dataclasses.asdict(cell) for name, cell in row.items()} for group, row in table.items()}
        print_json({"run_log": str(run_log), "policy": policy, "scores": scores})
        return
    rows = []
    for group, row in table.items():
        n = max((cell.n for cell in row.values()), default=0)
        cells = [f"{row[m].mean:.2f} [{row[m].low:.2f}, {row[m].high:.2f}]" if m in row else "–" for m in METRICS]
        rows.append((group, n, *cells))
    print_table(("group", "n", *METRICS), rows)
    out.print(f"run log: {run_log}", markup=False, highlight=False)
