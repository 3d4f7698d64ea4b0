"""`webrag eval routes`: the router's rules against their goldens, and the regret of each way to choose among agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webrag_core.cli.output import Json, out, print_json, print_line, print_table


def routes(
    arms: Annotated[
        Path | None, typer.Option(help="Recorded arms (evals.routing.arms); unset = those of the reporting sites.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every rule of the router, and measure its regret against the best agent in hindsight."""
    from evals.routing.arms import read_arms, recorded
    from evals.routing.regret import planning, scores
    from evals.routing.rules import check, load_routes

    checked = check(load_routes())
    wrong = [check for check in checked if not check.right]
    rows = read_arms(arms or recorded("reporting"))
    table = scores(rows)
    times = planning(rows)
    if as_json:
        print_json(
            {
                "goldens": len(checked),
                "wrong": [{"id": case.golden.id, "rules": case.rules, "expected": case.golden.rules} for case in wrong],
                "scores": table,
                "planning_ms": times,
            }
        )
    else:
        for case in wrong:
            print_line(
                f"{case.golden.id} {case.golden.question}: {case.rules}, expected {case.golden.rules}", style="red"
            )
        out.print(f"rules: {len(checked) - len(wrong)} of {len(checked)} goldens")
        for state, figures in table.items():
            out.print(f"corpus {state}")
            print_table(
                ("router", *next(iter(figures.values()))), [(router, *row.values()) for router, row in figures.items()]
            )
        out.print(f"planning: {times['p50']:.1f} ms median, {times['p95']:.1f} ms at the 95th percentile")
    if wrong:
        raise typer.Exit(1)
