"""Asset `retrieval_scores`: ranking quality on questions whose evidence is known to the character."""

import dagster as dg
from pydantic import Field

from webrag_dagster.evaluation import versions as eval_versions
from webrag_dagster.evaluation.rescoring import NIGHTLY, RESCORE
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run


class RetrievalConfig(dg.Config):
    """Sample size of the benchmark."""

    questions: int = Field(default=120, description="Every n-th question of the file; 1000 for all of them.")
    accept: bool = Field(default=False, description="Make this run the base of later comparisons, even if it is worse.")


@dg.asset(
    deps=["golden_queries"],
    group_name="evals",
    kinds={"python", "postgres"},
    owners=["team:webrag"],
    pool="evals",
    code_version=eval_versions.retrieval(),
    automation_condition=RESCORE,
    freshness_policy=NIGHTLY,
    check_specs=[
        dg.AssetCheckSpec(
            "no_regression",
            asset="retrieval_scores",
            description="No metric fell, question by question, against the newest run that passed.",
        )
    ],
    description=(
        "Search and local reranker on a sample of retrieval questions, compared with BM25 alone. The documents of the"
        " benchmark are indexed once into a database of their own."
    ),
)
def retrieval_scores(
    context: dg.AssetExecutionContext, config: RetrievalConfig, corpus: CorpusResource
) -> dg.MaterializeResult:  # type: ignore[type-arg]  # with checks, Dagster knows the bare name only
    """Ask, score, compare."""
    from webrag_dagster.evaluation.retrieval import rank

    return run(rank(context, corpus.settings(), sample=config.questions, accept=config.accept))
