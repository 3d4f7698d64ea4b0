"""The work of `decision_scores` and `route_scores`: rules against goldens that must and must not fire them."""

from __future__ import annotations

import dagster as dg

from evals.judging.decisions import DEFAULT_DECISIONS, decide_goldens, load_decision_goldens
from evals.routing.arms import read_arms, recorded
from evals.routing.offline import by_rules
from evals.routing.regret import planning, scores
from evals.routing.rules import check, load_routes
from webrag_dagster.evaluation.scores import number
from webrag_dagster.evaluation.suite import DECIDES, PLANS, Scored
from webrag_dagster.metadata import table


def score_decisions() -> Scored:
    """Decide every history of signals by the stop policies. Raises WebragError."""
    decided = decide_goldens(load_decision_goldens(DEFAULT_DECISIONS))
    wrong = [one for one in decided if not one.right]
    rules = dict.fromkeys((one.golden.policy, one.golden.rule) for one in decided)
    rows = []
    for policy, rule in rules:
        mine = [one for one in decided if (one.golden.policy, one.golden.rule) == (policy, rule)]
        cells = {}
        for column, fires in (("must fire", True), ("must not fire", False)):
            group = [one.right for one in mine if one.golden.fires is fires]
            cells[column] = f"{sum(group)} of {len(group)}" if group else "–"
        rows.append({"policy": policy, "rule": rule, **cells})
    right = dg.AssetCheckResult(
        check_name=DECIDES,
        passed=not wrong,
        description="; ".join(f"{one.golden.id}: {one.golden.why}" for one in wrong[:3]) or "All of them do.",
        metadata={
            "wrong": dg.MetadataValue.int(len(wrong)),
            "wrong_list": table(
                {
                    "id": one.golden.id,
                    "why": one.golden.why,
                    "expected": f"{one.golden.expect.action} [{one.golden.expect.rule}]",
                    "decided": f"{one.decision.action} [{one.decision.rule}]",
                }
                for one in wrong
            ),
        },
    )
    return Scored(
        metadata={
            "right": dg.MetadataValue.int(len(decided) - len(wrong)),
            "goldens": dg.MetadataValue.int(len(decided)),
            "share_right": dg.MetadataValue.float((len(decided) - len(wrong)) / len(decided)),
            "rules": dg.MetadataValue.int(len(rules)),
            "rule_list": table(rows),
        },
        checks=[right],
    )


def score_routes() -> Scored:
    """Goldens of the rules, and the router judged on the recorded arms of the sites that nothing was fitted on."""
    checked = check(load_routes())
    wrong = [one for one in checked if not one.right]
    rows = read_arms(recorded("reporting"))
    figures = scores(rows)
    right = dg.AssetCheckResult(
        check_name=PLANS,
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
    return Scored(
        metadata={
            **{f"regret_{state}": number(by_router["rules"]["regret"]) for state, by_router in figures.items()},
            **{f"found_{state}": number(by_router["rules"]["found"]) for state, by_router in figures.items()},
            "planning_ms": number(planning(rows)["p50"]),
            "goldens": dg.MetadataValue.int(len(checked)),
            "by_state_and_router": table(
                {"corpus": state, "router": router, **row}
                for state, by_router in figures.items()
                for router, row in by_router.items()
            ),
        },
        checks=[right],
        scores={f"{row['id']} {row['state']}": {"found": by_rules(row).found} for row in rows if row["needs"]},
        clusters={f"{row['id']} {row['state']}": row["suite"] for row in rows},
    )
