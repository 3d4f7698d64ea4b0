"""Job `ask`: a question in, an answer in prose out, every sentence proved against the stored page that it quotes."""

from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from webrag_core.percentages import percent
from webrag_dagster.console import console
from webrag_dagster.corpus.activity import ANSWERS
from webrag_dagster.defs.answer.job import query_tag
from webrag_dagster.demo_question import DEMO_QUERY, DEMO_URL
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run_once

if TYPE_CHECKING:
    from webrag_core.answering.models import Answer

prose_answers = dg.AssetSpec(
    key="prose_answers",
    deps=["answers"],
    group_name="answers",
    kinds={"markdown"},
    description=(
        "Answers in prose, every sentence proved. Launch job `ask` to get one; sensor `answers_elsewhere` adds those"
        " that the command line and the library asked for."
    ),
)


class AskConfig(dg.Config):
    """Config for the launchpad."""

    question: str = Field(default=DEMO_QUERY, description="The question.")
    urls: list[str] = Field(
        default=[DEMO_URL], description="Where to start; empty = ask what is stored. No password in it."
    )
    sources: list[str] = Field(default=[], description="Stored sources to ask; empty = all.")
    at: str | None = Field(default=None, description="Answer from what the pages said then (2024-05-17).")


@dg.config_mapping
def asked(config: AskConfig) -> dict[str, Any]:
    """Lifts the op's config to the top of the launchpad. Dagster uses a job's logger only if the config names it."""
    return {"ops": {"compose_answer": {"config": config.model_dump()}}, "loggers": {"console": {"config": {}}}}


@dg.op(
    description="Gather evidence, compose sentences, prove them.",
    out=dg.Out(dict, io_manager_key="result_of_run", description="The Answer, for execute_in_process."),
    pool="answers",
)
def compose_answer(context: dg.OpExecutionContext, config: AskConfig, corpus: CorpusResource) -> dict[str, Any]:
    """One answer."""
    return run_once(context, _compose_answer(context, config, corpus)).model_dump(mode="json")


@dg.job(
    config=asked,
    executor_def=dg.in_process_executor,
    logger_defs={"console": console},
    # no retries: a retry could report the same answer twice
    tags={"dagster/max_retries": "0", **ANSWERS},
    description=(
        "Ask a question and get sentences, each with the quote that proves it, or the nearest passages where no answer"
        " is sure enough. The answer is the newest materialization of asset `prose_answers`."
    ),
)
def ask() -> None:
    """One op."""
    compose_answer()


async def _compose_answer(context: dg.OpExecutionContext, config: AskConfig, resource: CorpusResource) -> "Answer":
    from webrag_core.application.operations import Ask
    from webrag_core.application.services import Services
    from webrag_dagster.corpus.touched import WatchedCorpus, log_touched
    from webrag_dagster.prose import prose_metadata

    asked = query_tag(config.question)
    context.instance.add_run_tags(context.run_id, {"webrag/query": asked})
    question = Ask.of(question=config.question, urls=config.urls, sources=config.sources, at=config.at)
    async with resource.open() as opened:
        corpus = WatchedCorpus(opened)
        try:
            answer = await question.run(Services.over(corpus))
        finally:
            await log_touched(context, corpus)
    context.log_event(
        dg.AssetMaterialization(
            "prose_answers",
            description=f"{answer.status}, confidence {percent(answer.confidence)}: {asked}",
            metadata=prose_metadata(answer, pages_from=resource.pages_from()),
        )
    )
    context.instance.add_run_tags(
        context.run_id, {"webrag/verdict": answer.status, "webrag/answer": str(answer.answer_id)}
    )
    return answer
