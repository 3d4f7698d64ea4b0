"""Job `answer`: a URL and a question in, cited evidence out, every decision on record."""

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from webrag_dagster.console import console
from webrag_dagster.corpus.activity import ANSWERS
from webrag_dagster.demo_question import DEMO_QUERY, DEMO_URL
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run_once

if TYPE_CHECKING:
    from webrag_core.application.operations import GatherEvidence
    from webrag_core.orchestration.models import OrchestrationResult, Round

_QUERY_CHARS = 60


class AnswerConfig(dg.Config):
    """Config for the launchpad. Bounds are checked by the core: a bound here would be an HTTP 500 at launch."""

    url: str = Field(default=DEMO_URL, description="Where to start. Kept with the run: no password in it.")
    query: str = Field(default=DEMO_QUERY, description="The question.")
    expansion_budget: int | None = Field(default=None, description="Expansion rounds at most; 0 = none.")
    intent: str | None = Field(default=None, description="factual, comparison, how_to or exploratory.")
    known_context: str | None = Field(
        default=None, description="Facts you already have; passages repeating them are skipped."
    )
    constraints: list[str] | None = Field(default=None, description="Requirements the evidence must meet.")
    mode: str | None = Field(default=None, description="auto, chunk or full_context.")
    policy: str | None = Field(default=None, description="Stop policy.")
    scope: list[str] | None = Field(
        default=None, description="Stored pages to use: source, all, run (none), or names of sources."
    )


@dg.config_mapping
def question(config: AnswerConfig) -> dict[str, Any]:
    """Lifts the op's config to the top of the launchpad. Dagster uses a job's logger only if the config names it."""
    return {"ops": {"find_evidence": {"config": config.model_dump()}}, "loggers": {"console": {"config": {}}}}


@dg.op(
    description="Retrieve, rerank, evaluate; stop or expand; cite.",
    out=dg.Out(dict, io_manager_key="result_of_run", description="The OrchestrationResult, for execute_in_process."),
    pool="answers",
)
def find_evidence(context: dg.OpExecutionContext, config: AnswerConfig, corpus: CorpusResource) -> dict[str, Any]:
    """One answer run."""
    return run_once(context, _find_evidence(context, config, corpus)).model_dump(mode="json")


@dg.job(
    config=question,
    executor_def=dg.in_process_executor,
    logger_defs={"console": console},
    # no retries: a retry could report the same answer twice
    tags={"dagster/max_retries": "0", **ANSWERS},
    description=(
        "Ask a website a question. Fill in `url` and `query`; the answer is the newest materialization of asset"
        " `answers`, with a link from this run, and every round is an observation of `answer_rounds`."
    ),
)
def answer() -> None:
    """One op: the number of rounds is not known before it runs."""
    find_evidence()


async def _find_evidence(
    context: dg.OpExecutionContext, config: AnswerConfig, resource: CorpusResource
) -> "OrchestrationResult":
    from webrag_core.acquisition.urls import source_key
    from webrag_core.application.services import Services
    from webrag_dagster.corpus.touched import WatchedCorpus, log_touched
    from webrag_dagster.metadata import answer_metadata, round_metadata

    evidence = _evidence(config)
    request = evidence.as_request(resource.settings())
    seed = request.seeds()[0]
    tag = partial(context.instance.add_run_tags, context.run_id)
    asked = query_tag(request.query)
    tag({"webrag/source": source_key(seed), "webrag/query": asked})

    rounds: list[Round] = []

    def progress(phase: str, done: "Round | None") -> None:
        if done is None:
            context.log.info(phase.replace("_", " "))
            return
        rounds.append(done)
        context.log_event(
            dg.AssetObservation(
                "answer_rounds",
                description=f"round {done.round} of: {asked}",
                metadata=round_metadata(request.query, rounds),
            )
        )
        decision = done.decision
        context.log.info(
            f"round {done.round}: {done.signals.n_chunks} passages of {done.documents_total} pages;"
            f" {decision.action} [{decision.rule}] {decision.reason}"
        )

    async with resource.open() as opened:
        corpus = WatchedCorpus(opened)
        try:
            result = await evidence.run(Services.over(corpus), progress)
        except asyncio.CancelledError:
            now = context.instance.get_run_by_id(context.run_id)
            cancelling = now is not None and now.status is dg.DagsterRunStatus.CANCELING
            tag({"webrag/stop_reason": "cancelled" if cancelling else "interrupted"})
            raise
        finally:
            await log_touched(context, corpus)
    decision = result.final_decision
    context.log_event(
        dg.AssetMaterialization(
            "answers",
            description=f"{result.status}: {asked}",
            metadata={
                **answer_metadata(result, pages_from=resource.pages_from()),
                "seconds_since_launch": dg.MetadataValue.float(round(_seconds_since_launch(context), 3)),
            },
        )
    )
    tag({"webrag/verdict": result.status, "webrag/stop_reason": decision.rule, "webrag/answer": str(result.answer_id)})
    return result


def query_tag(question: str) -> str:
    """The first characters of a question on one line, for the list of runs."""
    return " ".join(question.split())[:_QUERY_CHARS]


def _seconds_since_launch(context: dg.OpExecutionContext) -> float:
    record = context.instance.get_run_record_by_id(context.run_id)
    return time.time() - record.create_timestamp.timestamp() if record is not None else 0.0


def _evidence(config: AnswerConfig) -> "GatherEvidence":
    """The operation. Raises InvalidInputError for a value that is not on its list."""
    from webrag_core.application.operations import GatherEvidence
    from webrag_core.orchestration.memory import run_scope

    options = {name: value for name, value in config.model_dump(exclude={"url"}).items() if value is not None}
    options["scope"] = run_scope(config.scope or ())
    return GatherEvidence.of(urls=(config.url,), **options)
