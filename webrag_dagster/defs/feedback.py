"""Job `feedback`: what a person says about an answer, from the launchpad into the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field

from webrag_dagster.launchpad import launchpad_job
from webrag_dagster.resources import CorpusResource

if TYPE_CHECKING:
    from webrag_core.feedback.models import Feedback


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


async def _record(context: dg.OpExecutionContext, config: FeedbackConfig, corpus: CorpusResource) -> Feedback:
    from webrag_core.application.operations import RecordFeedback
    from webrag_core.feedback.store import record

    new = RecordFeedback.of(**config.model_dump(exclude={"actor"})).as_feedback(config.actor, "person")
    async with corpus.open() as opened:
        stored = await record(opened.database, new)
    context.log.info("feedback %s on answer %s: %s (%+d)", stored.id, stored.answer_id, stored.kind, stored.value)
    context.instance.add_run_tags(context.run_id, {"webrag/feedback": str(stored.id)})
    return stored


feedback = launchpad_job(
    "feedback",
    FeedbackConfig,
    _record,
    op="record_feedback",
    does="Check what is said, prove a better source against its stored page, store it.",
    result="The stored feedback, for execute_in_process.",
    description=(
        "Say what is right or wrong about an answer. Nothing is learned from it by itself: an operator accepts it"
        " (`webrag feedback accept`), and it becomes a golden question."
    ),
)
