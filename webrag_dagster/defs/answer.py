"""Job `answer`: a URL and a question in, cited evidence out, every decision on record."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

import dagster as dg

from webrag_core.application.parameters import EvidenceParameters
from webrag_dagster.corpus.runs import ANSWERS
from webrag_dagster.demo import DEMO_QUERY, DEMO_URL
from webrag_dagster.launchpad import config_of, given, launchpad_job, question_tag
from webrag_dagster.resources import CorpusResource

if TYPE_CHECKING:
    from webrag_core.application.operations import GatherEvidence
    from webrag_core.orchestration.models import OrchestrationResult, Round

answer_rounds = dg.AssetSpec(
    key="answer_rounds",
    deps=["embeddings", "link_candidates"],
    group_name="answers",
    kinds={"python"},
    description=(
        "One observation per round of the loop: scores, decision, rule and reason, and all rounds of its question so"
        " far. Written by job `answer`."
    ),
)

answers = dg.AssetSpec(
    key="answers",
    deps=[answer_rounds],
    group_name="answers",
    kinds={"markdown"},
    description=(
        "Verbatim evidence for a question, and why the search stopped. Launch job `answer` to get one; sensor"
        " `corpus_changes` adds those that the command line, MCP clients and the library asked for."
    ),
)


AnswerConfig = config_of("AnswerConfig", EvidenceParameters, {"urls": [DEMO_URL], "question": DEMO_QUERY})


async def _find_evidence(
    context: dg.OpExecutionContext, config: dg.Config, resource: CorpusResource
) -> OrchestrationResult:
    from webrag_core.acquisition.urls import source_key
    from webrag_core.orchestration.walk import walk_of
    from webrag_dagster.corpus.touched import reporting_services
    from webrag_dagster.metadata import answer_metadata, round_metadata
    from webrag_dagster.prose import walk_metadata

    wanted = _wanted(config)
    seed = wanted.as_request(resource.settings()).seeds()[0]
    tag = partial(context.instance.add_run_tags, context.run_id)
    question = question_tag(wanted.question)
    tag({"webrag/source": source_key(seed), "webrag/question": question})

    rounds: list[Round] = []

    def progress(phase: str, done: Round | None) -> None:
        if done is None:
            context.log.info(phase.replace("_", " "))
            return
        rounds.append(done)
        context.log_event(
            dg.AssetObservation(
                "answer_rounds",
                description=f"round {done.round} of: {question}",
                metadata=round_metadata(wanted.question, rounds),
            )
        )
        decision = done.decision
        context.log.info(
            f"round {done.round}: {done.signals.n_chunks} passages of {done.documents_total} pages;"
            f" {decision.action} [{decision.rule}] {decision.reason}"
        )

    async with reporting_services(context, resource) as services:
        try:
            result = await wanted.run(services, progress)
        except asyncio.CancelledError:
            now = context.instance.get_run_by_id(context.run_id)
            cancelling = now is not None and now.status is dg.DagsterRunStatus.CANCELING
            tag({"webrag/stop_reason": "cancelled" if cancelling else "interrupted"})
            raise
    decision = result.final_decision
    context.log_event(
        dg.AssetMaterialization(
            "answers",
            description=f"{result.status}: {question}",
            metadata={
                **answer_metadata(result, pages_from=resource.pages_from()),
                **walk_metadata(walk_of(result)),
                "seconds_since_launch": dg.MetadataValue.float(round(_seconds_since_launch(context), 3)),
            },
        )
    )
    tag({"webrag/verdict": result.status, "webrag/stop_reason": decision.rule, "webrag/answer": str(result.answer_id)})
    return result


def _wanted(config: dg.Config) -> GatherEvidence:
    """The operation. Raises InvalidInputError for a value that is not on its list."""
    from webrag_core.application.operations import GatherEvidence
    from webrag_core.orchestration.run_scope import run_scope

    filled = given(config)
    return GatherEvidence.of(**{**filled, "scope": run_scope(filled.get("scope", ()))})


def _seconds_since_launch(context: dg.OpExecutionContext) -> float:
    record = context.instance.get_run_record_by_id(context.run_id)
    return time.time() - record.create_timestamp.timestamp() if record is not None else 0.0


answer = launchpad_job(
    "answer",
    AnswerConfig,
    _find_evidence,
    op="find_evidence",
    does="Retrieve, rerank, evaluate; stop or expand; cite.",
    result="The OrchestrationResult, for execute_in_process.",
    pool="answers",
    tags=ANSWERS,
    description=(
        "Ask a website a question. Fill in `urls` and `question`; the answer is the newest materialization of asset"
        " `answers`, with a link from this run, and every round is an observation of `answer_rounds`."
    ),
)
