"""Asset `answer_scores`: answers in prose to golden questions of sites that nothing was fitted on."""

import dagster as dg
from pydantic import Field

from webrag_dagster.evaluation import versions as eval_versions
from webrag_dagster.evaluation.rescoring import NIGHTLY, RESCORE
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


class AnswersConfig(dg.Config):
    """Sample size of the evaluation."""

    items: int = Field(default=6, description="Golden questions of each site, every kind in turn; 1000 for all.")
    accept: bool = Field(default=False, description="Make this run the base of later comparisons, even if it is worse.")


@dg.asset(
    deps=["golden_queries"],
    group_name="evals",
    kinds={"python"},
    owners=["team:webrag"],
    pool="evals",
    code_version=eval_versions.answers(),
    automation_condition=RESCORE,
    freshness_policy=NIGHTLY,
    check_specs=[
        dg.AssetCheckSpec(
            "no_regression",
            asset="answer_scores",
            description="No metric fell, question by question, against the newest run that passed.",
        )
    ],
    description=(
        "Golden questions of the frozen sites that are present and that nothing was fitted on: whether the sentences"
        " and the highlights of an answer in prose hold a gold quote, and how right its confidence is."
    ),
)
def answer_scores(
    context: dg.AssetExecutionContext, config: AnswersConfig, corpus: CorpusResource
) -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks, Dagster knows the bare name only
    """Gather evidence, compose, score, compare."""
    from webrag_dagster.evaluation.answers import score_answers

    return run(score_answers(context, corpus.settings(), items=config.items, accept=config.accept))
