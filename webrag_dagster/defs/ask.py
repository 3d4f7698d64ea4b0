"""Job `ask`: a question in, an answer in prose out, every sentence proved against the stored page that it quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field

from webrag_core.percentages import percent
from webrag_dagster.corpus.runs import ANSWERS
from webrag_dagster.demo import DEMO_QUERY, DEMO_URL
from webrag_dagster.launchpad import launchpad_job, query_tag
from webrag_dagster.resources import CorpusResource

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
    """Config for the launchpad: the parameters of `Ask`, whose bounds the core checks."""

    question: str = Field(default=DEMO_QUERY, description="The question.")
    urls: list[str] = Field(
        default=[DEMO_URL], description="Where to start; empty = ask what is stored. No password in it."
    )
    sources: list[str] = Field(default=[], description="Stored sources to ask; empty = all.")
    at: str | None = Field(default=None, description="Answer from what the pages said then (2024-05-17).")
    time: str = Field(default="seen", description="`at` means when a text was seen, or (valid) when it holds.")
    expansion_budget: int | None = Field(default=None, description="Expansion rounds at most; 0 = none.")
    form: str | None = Field(default=None, description="explain, steps, compare, lookup, list or timeline.")
    intent: str | None = Field(default=None, description="factual, comparison, how_to or exploratory.")
    constraints: list[str] = Field(default=[], description="Requirements the evidence must meet.")
    max_age: float | None = Field(default=None, description="Seconds; older stored pages are fetched again.")
    since: str | None = Field(default=None, description="Only stored pages that state this date or a later date.")
    until: str | None = Field(default=None, description="Only stored pages that state this date or an earlier date.")
    years: list[int] = Field(default=[], description="Only stored pages that state a date in these years; empty = all.")


async def _compose_answer(context: dg.OpExecutionContext, config: AskConfig, resource: CorpusResource) -> Answer:
    from webrag_core.application.operations import Ask
    from webrag_dagster.corpus.touched import reporting_services
    from webrag_dagster.prose import prose_metadata

    asked = query_tag(config.question)
    context.instance.add_run_tags(context.run_id, {"webrag/query": asked})
    question = Ask.of(**config.model_dump())
    async with reporting_services(context, resource) as services:
        answer = await question.run(services)
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


ask = launchpad_job(
    "ask",
    AskConfig,
    _compose_answer,
    op="compose_answer",
    does="Gather evidence, compose sentences, prove them.",
    result="The Answer, for execute_in_process.",
    pool="answers",
    tags=ANSWERS,
    description=(
        "Ask a question and get sentences, each with the quote that proves it, or the nearest passages where no answer"
        " is sure enough. The answer is the newest materialization of asset `prose_answers`."
    ),
)
