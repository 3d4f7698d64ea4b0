"""The endpoints that answer questions. They take turns with the pages and `/mcp`; who hangs up stops the run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from typing import TypeVar

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from webrag_core.answering.events import AnswerEvent, Done
from webrag_core.answering.models import Answer
from webrag_core.application.operations import Ask, GatherEvidence
from webrag_core.application.refusals import Refusal
from webrag_core.application.services import run_apart
from webrag_core.errors import WebragError
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.origin import asked_by
from webrag_core.web.api.operations import Api, Operation, wants_events
from webrag_core.web.limits import HUNG_UP
from webrag_core.web.running import RunningAnswer

Result = TypeVar("Result")

_PING_SECONDS = 15


async def ask(api: Api, request: Request, body: Ask) -> Answer | Response:
    """Answer in prose, at once or event by event."""
    run = api.running.start(body.as_question(), "api")
    if wants_events(request):

        async def hung_up(message: Message) -> None:
            run.cancel()

        return EventSourceResponse(_events(run), ping=_PING_SECONDS, client_close_handler_callable=hung_up)
    if await _unless_hung_up(request, run.ended()) is None:
        await run.cancelled()
        return Response(status_code=HUNG_UP)
    if run.error is not None:
        raise run.error
    return next(event.answer for event in reversed(run.events) if isinstance(event, Done))


async def answer(api: Api, request: Request, body: GatherEvidence) -> OrchestrationResult | Response:
    """Gather evidence."""
    body.as_request(api.settings)  # what cannot be meant waits for no turn

    async def work() -> OrchestrationResult:
        with asked_by("api"):
            async with api.running.turn() as services:
                return await run_apart(body.run(services))

    return await _unless_hung_up(request, work()) or Response(status_code=HUNG_UP)


async def _events(run: RunningAnswer) -> AsyncIterator[ServerSentEvent]:
    """Each event with its number as id; at the end `error` where there is no answer."""
    try:
        async for number, event in run.watch():
            yield ServerSentEvent(event.model_dump_json(), event=kind_of(event), id=str(number))
        if run.error is not None:
            yield ServerSentEvent(Refusal.of(run.error).reply.model_dump_json(), event="error")
    finally:
        run.cancel()


def kind_of(event: AnswerEvent) -> str:
    """The name of an event: its first field, which tells the events apart."""
    return str(getattr(event, next(iter(type(event).model_fields))))


async def _unless_hung_up(request: Request, work: Awaitable[Result]) -> Result | None:
    """The result of `work`; None, and `work` cancelled, when the client hangs up before."""
    task = asyncio.ensure_future(work)
    listening = asyncio.create_task(_hang_up(request))
    try:
        await asyncio.wait({task, listening}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        return None
    finally:
        listening.cancel()
        task.cancel()
        with suppress(asyncio.CancelledError, WebragError):
            await task


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


OPERATIONS = (
    Operation(
        method="POST",
        path="/ask",
        name="ask",
        summary="Answer a question in prose, every sentence proved by its quote",
        takes=Ask,
        gives=Answer,
        run=ask,
        events=AnswerEvent,
        refusals=(422, 502),
    ),
    Operation(
        method="POST",
        path="/answer",
        name="answer",
        summary="Gather evidence for a question from start pages on, with citations",
        takes=GatherEvidence,
        gives=OrchestrationResult,
        run=answer,
        refusals=(422, 502),
    ),
)
