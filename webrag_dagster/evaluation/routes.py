"""The work of `route_scores`."""

from __future__ import annotations

import dagster as dg

from evals.routing.arms import read_arms, recorded
from evals.routing.offline import by_rules
from evals.routing.regret import planning, scores
from evals.routing.rules import check, load_routes
from webrag_dagster.evaluation.gate import gate, last_passing
from webrag_dagster.evaluation.scores import number
from webrag_dagster.metadata import table

METRIC = "found"


def score_routes(instance: dg.DagsterInstance, *, check_name: str, accept: bool) -> dg.MaterializeResult[None]:
    """Goldens of the rules, and the router judged on the recorded arms of the sites that nothing was fitted on."""
    checked = check(load_routes())
    wrong = [one for one in checked if not one.right]
    rows = read_arms(recorded("reporting"))
    figures = scores(rows)
    found = {f"{row['id']} {row['state']}": {METRIC: by_rules(row).found} for row in rows if row["needs"]}
    verdict, gate_metadata = gate(
        "no_regression",
        last_passing(instance, "route_scores", items=found),
        found,
        clusters={f"{row['id']} {row['state']}": row["suite"] for row in rows},
        metrics=(METRIC,),
        accept=accept,
    )
    right = dg.AssetCheckResult(
        check_name=check_name,
        passed=not wrong,
        description=f"{len(wrong)} of {len(checked)} goldens are planned otherwise" if wrong else None,
        metadata={
            "wrong": table(
                {
                    "golden": one.golden.id,
                    "question": one.golden.question,
                    "planned by": ", ".join(one.rules),
                    "expected": ", ".join(one.golden.rules),
                }
                for one in wrong
            )
        },
    )
    by_state = {f"regret_{state}": number(own["rules"]["regret"]) for state, own in figures.items()}
    return dg.MaterializeResult(
        metadata={
            **by_state,
            **{f"found_{state}": number(own["rules"]["found"]) for state, own in figures.items()},
            "planning_ms": number(planning(rows)["p50"]),
            "goldens": dg.MetadataValue.int(len(checked)),
            "by_state_and_router": table(
                {"corpus": state, "router": router, **row}
                for state, own in figures.items()
                for router, row in own.items()
            ),
            **gate_metadata,
        },
        check_results=[right, verdict],
    )
