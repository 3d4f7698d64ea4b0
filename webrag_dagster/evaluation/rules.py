"""The work of `decision_scores` and `route_scores`: rules against goldens that must and must not fire them."""

from __future__ import annotations

import dagster as dg

from evals.judging.decisions import DEFAULT_DECISIONS, decide_goldens, load_decision_goldens, uncovered
from evals.routing.arms import read_arms, recorded
from evals.routing.offline import by_rules
from evals.routing.regret import planning, scores
from evals.routing.rules import check, load_routes
from webrag_dagster.evaluation.scores import number
from webrag_dagster.evaluation.suite import COVERED, DECIDES, PLANS, Scored
from webrag_dagster.metadata import table


def score_decisions() -> Scored:
    """Decide every history of signals by the stop policies. Raises WebragError."""
    goldens = load_decision_goldens(DEFAULT_DECISIONS)
    decided = decide_goldens(goldens)
    wrong = [case for case in decided if not case.right]
    rules = dict.fromkeys((case.golden.policy, case.golden.rule) for case in decided)
    rows = []
    for policy, rule in rules:
        mine = [case for case in decided if (case.golden.policy, case.golden.rule) == (policy, rule)]
        cells = {}
        for column, fires in (("must fire", True), ("must not fire", False)):
            group = [case.right for case in mine if case.golden.fires is fires]
            cells[column] = f"{sum(group)} of {len(group)}" if group else "–"
        rows.append({"policy": policy, "rule": rule, **cells})
    right = dg.AssetCheckResult(
        check_name=DECIDES,
        passed=not wrong,
        description="; ".join(f"{case.golden.id}: {case.golden.why}" for case in wrong[:3]) or "All of them do.",
        metadata={
            "wrong": dg.MetadataValue.int(len(wrong)),
            "wrong_list": table(
                {
                    "id": case.golden.id,
                    "why": case.golden.why,
                    "expected": f"{case.golden.expect.action} [{case.golden.expect.rule}]",
                    "decided": f"{case.decision.action} [{case.decision.rule}]",
                }
                for case in wrong
            ),
        },
    )
    missing = uncovered(goldens)
    covered = dg.AssetCheckResult(
        check_name=COVERED,
        passed=not missing,
        description="; ".join(f"{policy}, {rule}: {what}" for policy, rule, what in missing[:3]) or None,
        metadata={
            "missing": table({"policy": policy, "rule": rule, "goldens": what} for policy, rule, what in missing)
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
        checks=[right, covered],
    )


def score_routes() -> Scored:
    """Goldens of the rules, and the router judged on the recorded arms of the sites that nothing was fitted on."""
    checked = check(load_routes())
    wrong = [case for case in checked if not case.right]
    rows = read_arms(recorded("reporting"))
    figures = scores(rows)
    right = dg.AssetCheckResult(
        check_name=PLANS,
        passed=not wrong,
        description=f"{len(wrong)} of {len(checked)} goldens are planned otherwise" if wrong else None,
        metadata={
            "wrong": table(
                {
                    "golden": case.golden.id,
                    "question": case.golden.question,
                    "planned by": ", ".join(case.rules),
                    "expected": ", ".join(case.golden.rules),
                }
                for case in wrong
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
