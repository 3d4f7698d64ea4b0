"""The evaluations: an asset for each, what they are asked, and when they run."""

import dagster as dg
from pydantic import Field

from evals.judging.gate import GATED
from evals.walks.suites import Suite, own_suites
from webrag_core.extras import RAGAS, is_installed
from webrag_dagster import automation
from webrag_dagster.evaluation import versions
from webrag_dagster.evaluation.suite import (
    COVERED,
    DECIDES,
    GATE,
    GOLDENS,
    PLANS,
    REPLAY,
    Scored,
    SuiteConfig,
    suite_asset,
)

golden_queries = dg.AssetSpec(
    key=GOLDENS,
    group_name="evals",
    kinds={"json"},
    owners=["team:webrag"],
    description=(
        "Questions with known answers that come with the code: runs on WARC snapshots, signal histories for every rule"
        " of the stop policies, retrieval questions with evidence spans, and answer keys (`evals/golden/`)."
    ),
)


async def _decide(context: dg.AssetExecutionContext, config: SuiteConfig) -> Scored:
    from webrag_dagster.evaluation.rules import score_decisions

    return score_decisions()


decision_scores = suite_asset(
    "decision_scores",
    _decide,
    config=SuiteConfig,
    on_corpus=False,
    code_version=versions.decisions(),
    checks={
        DECIDES: "Every decision golden comes out as its author says; the table lists those that do not.",
        COVERED: "Each rule of each policy has a golden that must fire it, and another that must not.",
    },
    blocking=DECIDES,
    description=(
        "Signal histories from `evals/golden/decisions.jsonl`, decided by the policies with their default thresholds."
        " Pure functions: no page, no database, a second of work."
    ),
)


class RoutesConfig(SuiteConfig):
    """Whether to take the scores as they are."""


async def _plan(context: dg.AssetExecutionContext, config: RoutesConfig) -> Scored:
    from webrag_dagster.evaluation.rules import score_routes

    return score_routes()


route_scores = suite_asset(
    "route_scores",
    _plan,
    ("found",),
    config=RoutesConfig,
    on_corpus=False,
    code_version=versions.routes(),
    checks={
        PLANS: "Every golden question is planned by the rules that its author says.",
        GATE: "The router finds no less, question by question, than in the newest run that passed.",
    },
    blocking=PLANS,
    description=(
        "Plans of the goldens in `evals/golden/routes.jsonl`, and what the router would have found and cost on recorded"
        " runs of every agent (`evals/golden/routing/`). Pure functions: no page, no database, seconds of work."
    ),
)


class RetrievalConfig(SuiteConfig):
    """Sample size of the benchmark."""

    questions: int = Field(default=120, description="Every n-th question of the file; 1000 for all of them.")


async def _rank(context: dg.AssetExecutionContext, config: RetrievalConfig) -> Scored:
    from webrag_dagster.evaluation.retrieval import rank

    return await rank(context, context.resources.corpus.settings(), sample=config.questions)


retrieval_scores = suite_asset(
    "retrieval_scores",
    _rank,
    ("hits@4", "mrr@10", "evrec@4k"),
    config=RetrievalConfig,
    kinds=frozenset({"python", "postgres"}),
    code_version=versions.retrieval(),
    checks={GATE: "No metric fell, question by question, against the newest run that passed."},
    description=(
        "Search and local reranker on a sample of retrieval questions, compared with BM25 alone. The documents of the"
        " benchmark are indexed once into a database of their own."
    ),
)


class AnswersConfig(SuiteConfig):
    """Sample size of the evaluation."""

    items: int = Field(default=12, description="Questions of each suite, every kind in turn; 1000 for all.")


async def _compose(context: dg.AssetExecutionContext, config: AnswersConfig) -> Scored:
    from webrag_dagster.evaluation.answers import score_answers

    return await score_answers(context, context.resources.corpus.settings(), items=config.items)


answer_scores = suite_asset(
    "answer_scores",
    _compose,
    ("right", "not_wrong"),
    config=AnswersConfig,
    code_version=versions.answers(),
    checks={
        GATE: "No fewer answers are right, and no more wrong, question by question, than in the newest run that passed."
    },
    description=(
        "Questions with answer keys (`evals/golden/answers-….jsonl`) about the frozen sites that are present, asked of"
        " the stored site: whether an answer in prose states the fact that was asked for and nothing contrary, whether"
        " it refuses what nothing answers, and how right its confidence is."
    ),
)


class SitewalkConfig(SuiteConfig):
    """Sample size of the suite."""

    items: int = Field(default=12, description="Golden questions, every kind in turn; 1000 for all of them.")
    policy: str = Field(default="calibrated", description="Stop policy; each has a base of its own.")


def _sitewalk(suite: Suite) -> dg.AssetsDefinition:
    name = f"sitewalk_{suite.name.replace('-', '_').replace('.', '_')}"

    async def work(context: dg.AssetExecutionContext, config: SitewalkConfig) -> Scored:
        from webrag_dagster.evaluation.walks import walk

        settings = context.resources.corpus.settings()
        return await walk(context, settings, name, suite, items=config.items, policy=config.policy)

    return suite_asset(
        name,
        work,
        GATED,
        config=SitewalkConfig,
        tags={"webrag/split": suite.split, "webrag/site": suite.kind},
        code_version=versions.sitewalk(suite.golden),
        checks={
            GATE: "No metric fell, item by item, against the newest run under the same policy that passed.",
            REPLAY: "Deciding every recorded round again gives what was decided.",
        },
        description=(
            f"Runs on the WARC snapshot {suite.name}: each golden question from its seed page, from an empty corpus,"
            " scored against gold pages and gold quotes. "
            + ("Rules were fitted on this site. " if suite.split == "fitting" else "Nothing was fitted on this site. ")
            + "Under Metadata the UI plots every score over time."
        ),
    )


sitewalks = [_sitewalk(suite) for suite in own_suites().values() if suite.warc.is_file()]
"""An asset per WARC snapshot that is present: an installed package contains none of them."""


class RagasConfig(SuiteConfig):
    """How much is judged by a model."""

    judged: int = Field(
        default=6,
        description="Items that the chat model of ORCHESTRATION_LLM_… judges, some ten requests each; 0 = none.",
    )


async def _score_with_ragas(context: dg.AssetExecutionContext, config: RagasConfig) -> Scored:
    from webrag_dagster.evaluation.ragas import score_with_ragas

    return await score_with_ragas(context, context.resources.corpus.settings(), judged=config.judged)


def _ragas_scores() -> dg.AssetsDefinition:
    return suite_asset(
        "ragas_scores",
        _score_with_ragas,
        ("id_recall", "string_recall"),
        config=RagasConfig,
        code_version=versions.ragas(),
        checks={GATE: "No recall fell, item by item, against the newest run that passed."},
        description=(
            "Ragas' metrics of the newest run log of each walk, by ids and strings; with a chat endpoint"
            " (ORCHESTRATION_LLM_…) also how a model judges the passages of some items. A judge's verdicts differ from"
            " run to run: they are plotted and not gated. What it costs is in no ledger of ours: Ragas asks by itself."
        ),
        after=sitewalks,
    )


ragas_scores = [_ragas_scores()] if is_installed(RAGAS) else []
"""Where the extra `ragas` is installed."""

EVALS = dg.AssetSelection.groups("evals")

evals_job = dg.define_asset_job(
    "evals",
    selection=EVALS,
    description="All evaluations: decision goldens, samples of retrieval questions, of runs per site, of answers.",
    executor_def=dg.in_process_executor,
)

nightly_evals = dg.ScheduleDefinition(
    name="nightly_evals",
    job=evals_job,
    cron_schedule="30 3 * * *",
    default_status=automation.SCHEDULES,
    description="Scores every night, so that their plots have a point for every day. Stop it here to save the minutes.",
)

rescoring = dg.AutomationConditionSensorDefinition(
    "rescoring",
    target=EVALS,
    default_status=automation.SENSORS,
    minimum_interval_seconds=30,
    description="Scores again what an edit of a policy, of ranking or of the goldens has put out of date.",
)
