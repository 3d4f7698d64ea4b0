"""An answer told step by step: the events and their JSON form, and what stays when nobody reads on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing

import pytest
from pydantic import TypeAdapter

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.events import AnswerEvent, Done
from webrag_core.answering.manager import Manager, Question
from webrag_core.config import Settings
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine
from webrag_core.orchestration.events import Finished, RunEvent

START = f"{SITE}/"
ASKED = "How do I rotate the signing keys of the server?"
PAGES = {
    "/": page(
        "Server manual", "The manual has chapters on keys and on logs.", {"/keys": "Signing keys", "/logs": "Logs"}
    ),
    "/keys": page(
        "Signing keys", "To rotate the signing keys of the server, run <code>rotate --signing</code> and restart."
    ),
    "/logs": page("Logs", "The server writes its log lines to a file, one for each day of the week."),
}


def opened(settings: Settings) -> AbstractAsyncContextManager[Corpus]:
    return Corpus.open(settings, LocalSite(PAGES))


def answered(corpus: Corpus) -> AsyncGenerator[AnswerEvent]:
    return Manager(corpus).stream(Question(ASKED, urls=(START,)))


def walked(corpus: Corpus) -> AsyncGenerator[RunEvent]:
    return OrchestratorEngine(corpus).stream(AnswerRequest((START,), ASKED))


def test_what_the_loop_does_is_told_between_the_plan_and_the_end_of_its_task(settings: Settings) -> None:
    async def work() -> list[AnswerEvent]:
        async with opened(settings) as corpus:
            return [event async for event in answered(corpus)]

    events = asyncio.run(work())
    types = [event.type for event in events]
    assert types[0] == "planned"
    assert types[-1] == "done"
    assert types.index("page") < types.index("round") < types.index("task_done") < types.index("sentence")
    done = events[-1]
    assert isinstance(done, Done)
    walk = [event for event in events if event.type in ("phase", "page", "round")]
    assert {event.task for event in walk} == {"walk"}  # type: ignore[union-attr]
    pages = [event.page for event in events if event.type == "page"]
    assert [one.url for one in pages if not one.preview and one.outcome != "failed"] == [
        url for step in done.answer.walk for url in step.pages
    ]
    assert sum(event.type == "round" for event in events) == len(done.answer.walk)
    assert [event.sentence for event in events if event.type == "sentence"] == done.answer.sentences
    forms = TypeAdapter(AnswerEvent)
    for event in events:
        form = json.loads(json.dumps(event.model_dump(mode="json")))
        assert form["type"] == event.type
        assert forms.validate_python(form) == event


def test_the_engine_tells_its_rounds_and_then_the_result(settings: Settings) -> None:
    async def work() -> list[RunEvent]:
        async with opened(settings) as corpus:
            return [event async for event in walked(corpus)]

    events = asyncio.run(work())
    last = events[-1]
    assert isinstance(last, Finished)
    assert [event.round for event in events if event.type == "round"] == last.result.rounds
    assert next(event.phase for event in events if event.type == "phase") == "seed"


@pytest.mark.parametrize(("stream", "by_closing"), [(answered, False), (walked, True)])
def test_a_stream_that_ends_early_cancels_the_run_and_keeps_its_pages(
    settings: Settings, stream: Callable[[Corpus], AsyncGenerator[AnswerEvent | RunEvent]], by_closing: bool
) -> None:
    """Nothing that was stored is lost: asked again, the page is there, and every invariant holds."""

    async def read(corpus: Corpus, arrived: asyncio.Event) -> None:
        async with aclosing(stream(corpus)) as events:
            async for event in events:
                if event.type == "page":
                    arrived.set()
                    if by_closing:
                        return

    async def work() -> None:
        async with opened(settings) as corpus:
            arrived = asyncio.Event()
            reader = asyncio.create_task(read(corpus, arrived))
            await arrived.wait()
            if not by_closing:
                reader.cancel()
            await asyncio.wait([reader])
            assert reader.cancelled() is not by_closing
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert not [one for one in others if "streamed" in repr(one) or "_run" in repr(one)]
            async with corpus.database.connection() as connection:
                rows = await (await connection.execute("SELECT state, reason FROM answer_runs")).fetchall()
                assert set(rows) == {("failed", "cancelled")}
            assert [one async for one in verify_corpus(corpus.database, VerificationCounts())] == []
            async with aclosing(stream(corpus)) as again:
                assert await anext(event.page.outcome async for event in again if event.type == "page") == "reused"

    asyncio.run(work())


@pytest.mark.parametrize(
    ("question", "error"),
    [(Question(""), InvalidInputError), (Question(ASKED, urls=(f"{SITE}/none",)), FetchError)],
)
def test_what_the_run_raises_the_stream_raises(settings: Settings, question: Question, error: type[Exception]) -> None:
    async def work() -> None:
        async with opened(settings) as corpus:
            async for _ in Manager(corpus).stream(question):
                pass

    with pytest.raises(error):
        asyncio.run(work())
