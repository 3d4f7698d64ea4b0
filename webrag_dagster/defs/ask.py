"""Job `ask`: a question in, an answer in prose out, every sentence proved against the stored page that it quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from webrag_core.application.parameters import AskParameters
from webrag_core.percentages import percent
from webrag_dagster.corpus.runs import ANSWERS
from webrag_dagster.demo import DEMO_QUERY, DEMO_URL
from webrag_dagster.launchpad import config_of, given, launchpad_job, question_tag
from webrag_dagster.resources import CorpusResource

if TYPE_CHECKING:
    from webrag_core.answering.models import Answer

prose_answers = dg.AssetSpec(
    key="prose_answers",
    deps=["answers"],
    group_name="answers",
    kinds={"markdown"},
    description=(
        "Answers in prose, every sentence proved. Launch job `ask` to get one; sensor `corpus_changes` adds those"
        " that the command line and the library asked for."
    ),
)


AskConfig = config_of("AskConfig", AskParameters, {"question": DEMO_QUERY, "urls": [DEMO_URL]})


async def _compose_answer(context: dg.OpExecutionContext, config: dg.Config, resource: CorpusResource) -> Answer:
    from webrag_core.answering.stored_walk import load_walk
    from webrag_core.application.operations import Ask
    from webrag_dagster.corpus.touched import reporting_services
    from webrag_dagster.prose import prose_metadata

    question = Ask.of(**given(config))
    tag = question_tag(question.question)
    context.instance.add_run_tags(context.run_id, {"webrag/question": tag})
    async with reporting_services(context, resource) as services:
        answer = await question.run(services)
        async with services.corpus.database.connection() as connection:
            walk = await load_walk(connection, answer)
    context.log_event(
        dg.AssetMaterialization(
            "prose_answers",
            description=f"{answer.status}, confidence {percent(answer.confidence)}: {tag}",
            metadata=prose_metadata(answer, walk, pages_from=resource.pages_from()),
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
