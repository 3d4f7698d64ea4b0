"""Asset `decision_scores`: every rule of the stop policies against histories that must and must not fire it."""

import dagster as dg

from webrag_dagster.evaluation import versions as eval_versions
from webrag_dagster.evaluation.rescoring import NIGHTLY, RESCORE

CHECK = "every_rule_decides_right"


@dg.asset(
    deps=["golden_queries"],
    group_name="evals",
    kinds={"python"},
    owners=["team:webrag"],
    code_version=eval_versions.decisions(),
    automation_condition=RESCORE,
    freshness_policy=NIGHTLY,
    check_specs=[
        dg.AssetCheckSpec(
            CHECK,
            asset="decision_scores",
            blocking=True,
            description="Every decision golden comes out as its author says; the table lists those that do not.",
        )
    ],
    description=(
        "Signal histories from `evals/golden/decisions.jsonl`, decided by the policies with their default thresholds."
        " Pure functions: no page, no database, a second of work."
    ),
)
def decision_scores() -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks, Dagster knows the bare name only
    """Decide all of them."""
    from evals.judging.decisions import DEFAULT_DECISIONS, decide_goldens, load_decision_goldens
    from webrag_core.errors import WebragError
    from webrag_dagster.metadata import Metadata, table
    from webrag_dagster.running import failure

    try:
        decided = decide_goldens(load_decision_goldens(DEFAULT_DECISIONS))
    except WebragError as error:
        raise failure(error) from error
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
    numbers: Metadata = {
        "right": dg.MetadataValue.int(len(decided) - len(wrong)),
        "goldens": dg.MetadataValue.int(len(decided)),
        "share_right": dg.MetadataValue.float((len(decided) - len(wrong)) / len(decided)),
        "rules": dg.MetadataValue.int(len(rules)),
    }
    check = dg.AssetCheckResult(
        check_name=CHECK,
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
    return dg.MaterializeResult(metadata={**numbers, "rule_list": table(rows)}, check_results=[check])
