"""An answer whose passages answer by themselves: a model is told to give them, not that there is no answer."""

from __future__ import annotations

import asyncio

from tests.conftest import FROZEN_SITE
from tests.mcp_server.clients import called, connected, sections_of, text_of
from webrag_core.answering.models import Answer, Spent
from webrag_core.config import Settings
from webrag_core.routing.results import NOT_NEEDED, TaskError, TaskReport
from webrag_core.showing.model import render_for_model

QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"


def test_listed_passages_are_for_the_user(settings: Settings) -> None:
    async def work() -> str:
        async with connected(settings) as client:
            await called(client, "ingest", urls=[QUEUES])
            return text_of(
                await called(client, "answer", urls=QUEUES, question="Who uses asyncio.Queue?", style="prose")
            )

    assert settings.webrag_warc == FROZEN_SITE
    sections = sections_of(asyncio.run(work()))
    assert "Mentions asyncio.Queue" in sections["EVIDENCE"]
    if "ANSWER" not in sections:
        assert "give them to the user" in sections["PRESENTATION GUIDE"]
    assert "do not answer the question" not in sections["PRESENTATION GUIDE"]


def test_a_task_that_was_lost_is_named_by_its_code_alone(settings: Settings) -> None:
    async def work() -> str:
        async with connected(settings) as client:
            await called(client, "ingest", urls=[QUEUES])
            gone = "https://docs.python.org/3.11/nowhere.html"
            return text_of(
                await called(client, "answer", urls=gone, question="Is asyncio.Queue thread safe?", style="prose")
            )

    guide = sections_of(asyncio.run(work()))["PRESENTATION GUIDE"]
    assert "- pages brought nothing: error (not_found)" in guide
    assert "nowhere.html" not in guide


def test_a_task_whose_endpoint_is_not_asked_is_named_too() -> None:
    error = TaskError(code="circuit_open", message="the words of a server")
    lost = TaskReport(
        iteration=1,
        id="walk",
        agent="pages",
        kind="pages.walk",
        asked="",
        status="skipped",
        error=error,
        milliseconds=0,
        passages=0,
        findings=0,
        pages=0,
    )
    needless = lost.model_copy(update={"error": TaskError(code=NOT_NEEDED, message="")})
    answer = Answer(
        question="?",
        parts=["?"],
        form="explain",
        status="not_found",
        band="insufficient",
        confidence=0,
        confidence_note="",
        final_reason="",
        sentences=[],
        highlights=[],
        citations=[],
        missing=[],
        disagreements=[],
        notes=[],
        look_next=[],
        tasks=[lost, needless],
        spent=Spent(),
        warnings=[],
        evidence_ids=[],
    )
    text = render_for_model(answer)
    assert text.count("brought nothing") == 1
    assert "pages brought nothing: skipped (circuit_open)" in text
    assert "the words of a server" not in text
