"""Asset `route_scores`: the router's rules against their goldens, its regret against the best agent in hindsight."""

import dagster as dg
from pydantic import Field

from webrag_dagster.evaluation import versions as eval_versions
from webrag_dagster.evaluation.rescoring import NIGHTLY, RESCORE

CHECK = "every_rule_plans_right"


class RoutesConfig(dg.Config):
    """Whether to take the scores as they are."""

    accept: bool = Field(default=False, description="Make this run the base of later comparisons, even if it is worse.")


@dg.asset(
    deps=["golden_queries"],
    group_name="evals",
    kinds={"python"},
    owners=["team:webrag"],
    code_version=eval_versions.routes(),
    automation_condition=RESCORE,
    freshness_policy=NIGHTLY,
    check_specs=[
        dg.AssetCheckSpec(
            CHECK,
            asset="route_scores",
            blocking=True,
            description="Every golden question is planned by the rules that its author says.",
        ),
        dg.AssetCheckSpec(
            "no_regression",
            asset="route_scores",
            description="The router finds no less, question by question, than in the newest run that passed.",
        ),
    ],
    description=(
        "Plans of the goldens in `evals/golden/routes.jsonl`, and what the router would have found and cost on recorded"
        " runs of every agent (`evals/golden/routing/`). Pure functions: no page, no database, seconds of work."
    ),
)
def route_scores(context: dg.AssetExecutionContext, config: RoutesConfig) -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks, Dagster knows the bare name only
    """Plan, compare with hindsight, and with the last run."""
    from webrag_dagster.evaluation.routes import score_routes

    return score_routes(context.instance, check_name=CHECK, accept=config.accept)
