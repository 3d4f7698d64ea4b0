"""Job `feedback`: what a person says about an answer, from the launchpad into the table."""

from typing import Any

import dagster as dg
from pydantic import Field

from webrag_dagster.console import console
from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run_once


class FeedbackConfig(dg.Config):
    """Config for the launchpad."""

    answer: int = Field(description="Number of the answer, as its materialization shows it.")
    kind: str = Field(default="helpful", description="helpful, wrong, missing, better_source or wrong_route.")
    actor: str = Field(description="Your name.")
    sentence: int | None = Field(default=None, description="About this sentence of it.")
    citation: int | None = Field(default=None, description="About this quote of it.")
    value: int | None = Field(default=None, description="1 or 2 for helpful, -1 or -2 for the others.")
    text: str | None = Field(default=None, description="In your own words, for the operator.")
    better_url: str | None = Field(default=None, description="A stored page that answers.")
    quote: str | None = Field(default=None, description="What it says, letter for letter in its Markdown.")


@dg.config_mapping
def said(config: FeedbackConfig) -> dict[str, Any]:
    """Lifts the op's config to the top of the launchpad."""
    return {"ops": {"record_feedback": {"config": config.model_dump()}}, "loggers": {"console": {"config": {}}}}


@dg.op(
    description="Check what is said, prove a better source against its stored page, store it.",
    out=dg.Out(dict, io_manager_key="result_of_run", description="The stored feedback, for execute_in_process."),
)
def record_feedback(context: dg.OpExecutionContext, config: FeedbackConfig, corpus: CorpusResource) -> dict[str, Any]:
    """One row."""

    async def work() -> dict[str, Any]:
        from webrag_core.errors import InvalidInputError
        from webrag_core.feedback.models import Better, NewFeedback
        from webrag_core.feedback.store import record

        if config.better_url is None and config.quote is not None:
            raise InvalidInputError("quote needs better_url")
        new = NewFeedback(
            answer_id=config.answer,
            kind=config.kind,
            actor=config.actor,
            actor_kind="person",
            sentence=config.sentence,
            citation=config.citation,
            value=config.value,
            text=config.text,
            better=None if config.better_url is None else Better(config.better_url, config.quote),
        )
        async with corpus.open() as opened:
            stored = await record(opened.database, new)
        context.log.info("feedback %s on answer %s: %s (%+d)", stored.id, stored.answer_id, stored.kind, stored.value)
        context.instance.add_run_tags(context.run_id, {"webrag/feedback": str(stored.id)})
        return stored.model_dump(mode="json")

    return run_once(context, work())


@dg.job(
    config=said,
    executor_def=dg.in_process_executor,
    logger_defs={"console": console},
    # no retries: a retry could store the same words twice
    tags={"dagster/max_retries": "0"},
    description=(
        "Say what is right or wrong about an answer. Nothing is learned from it by itself: an operator accepts it"
        " (`webrag feedback accept`), and it becomes a golden question."
    ),
)
def feedback() -> None:
    """One op."""
    record_feedback()
