"""Answers that are coming into being: each runs by itself, and any number of browsers may watch it."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from webrag_core.answering.events import AnswerEvent, Done
from webrag_core.answering.manager import Question
from webrag_core.application.failure_words import defect_words
from webrag_core.application.inputs import check_list
from webrag_core.application.refusals import Refusal
from webrag_core.application.services import Services
from webrag_core.errors import BusyError, WebragError
from webrag_core.origin import asked_by
from webrag_core.page_text import one_line
from webrag_core.trace import traced

logger = logging.getLogger(__name__)

_MOST_WAITING = 32
_MOST_ENDED = 32  # that can still be watched from their beginning

Open = Callable[[], Awaitable[Services]]


class TimeLimitError(WebragError):
    """A call was not done within MCP_TOOL_TIMEOUT."""

    code = "timeout"


class StoppedError(WebragError):
    """Somebody stopped the run, or the server ends."""

    code = "stopped"


class DefectError(WebragError):
    """An error that nobody foresaw. The log has it under the trace that the message names."""

    code = "internal_error"


@dataclass(slots=True)
class RunningAnswer:
    """One run: its events so far, and how it ended: with an answer's number, or with an error."""

    key: str
    question: Question
    origin: str
    events: list[AnswerEvent] = field(default_factory=list)
    answer_id: int | None = None
    error: WebragError | None = None
    is_over: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None

    @property
    def problem(self) -> str | None:
        """Why there is no answer, for people."""
        return None if self.error is None else Refusal.of(self.error).message

    async def watch(self, start: int = 0) -> AsyncIterator[tuple[int, AnswerEvent]]:
        """Yield the events from number `start` on, each with its number, until the run is over."""
        number = start
        while await self._has(number):
            yield number, self.events[number]
            number += 1

    async def ended(self) -> bool:
        """Wait until the run is over. Returns True."""
        while not self.is_over:
            await self._news.wait()
        return True

    async def _has(self, number: int) -> bool:
        """Wait for an event; False when the run is over without it."""
        while len(self.events) <= number and not self.is_over:
            await self._news.wait()
        return len(self.events) > number

    def add(self, event: AnswerEvent) -> None:
        """Note an event and wake those who watch."""
        self.events.append(event)
        if isinstance(event, Done):
            self.answer_id = event.answer.answer_id
        self._wake()

    def begin(self, work: asyncio.Task[None]) -> None:
        """The run is over when its task is, also when that was stopped before its first step."""
        self._task = work
        work.add_done_callback(lambda _: self._end())

    def cancel(self) -> None:
        """Stop the run; what was stored stays."""
        if self._task is not None:
            self._task.cancel()

    async def cancelled(self) -> None:
        """Stop the run and wait until it has ended."""
        self.cancel()
        if self._task is not None:
            await asyncio.wait([self._task])

    def _end(self) -> None:
        if self.answer_id is None and self.error is None:
            self.error = StoppedError("stopped; what was read is stored")
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class RunningAnswers:
    """The runs of one server. They take turns with the answers of `/mcp`, and each has at most `seconds`; a question
    has at most `most_urls` start pages. Leaving the context stops all."""

    def __init__(self, services: Open, most_urls: int, seconds: float) -> None:
        self._services = services
        self._most_urls = most_urls
        self._seconds = seconds
        self._runs: dict[str, RunningAnswer] = {}
        self._others = 0

    def start(self, question: Question, origin: str = "web") -> RunningAnswer:
        """Begin a run for `origin` (see that module). Raises BusyError when too many are waiting, InvalidInputError for
        too many pages."""
        check_list("url", question.urls, self._most_urls)
        self._check_room()
        over = [key for key, run in self._runs.items() if run.is_over]
        for key in over[: max(len(over) - _MOST_ENDED, 0)]:
            del self._runs[key]
        run = RunningAnswer(secrets.token_urlsafe(12), question, origin)
        self._runs[run.key] = run
        run.begin(asyncio.create_task(self._work(run)))
        return run

    def get(self, key: str) -> RunningAnswer | None:
        """A run by its key; None when it is unknown, or over for long."""
        return self._runs.get(key)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Services]:
        """A turn for other work that costs as much as an answer. Raises BusyError when too many are waiting, within
        the block TimeLimitError when the time is over."""
        self._check_room()
        self._others += 1
        try:
            async with self._limited() as services:
                yield services
        finally:
            self._others -= 1

    def _check_room(self) -> None:
        if sum(not run.is_over for run in self._runs.values()) + self._others >= _MOST_WAITING:
            raise BusyError(f"{_MOST_WAITING} questions are at work or waiting; try again in a minute")

    @asynccontextmanager
    async def _limited(self) -> AsyncIterator[Services]:
        services = await self._services()
        async with services.answers:
            try:
                async with asyncio.timeout(self._seconds):
                    yield services
            except TimeoutError:
                raise TimeLimitError(
                    f"no answer within {self._seconds:g} s; what was read is stored, asking again goes on from there"
                ) from None

    async def _work(self, run: RunningAnswer) -> None:
        with traced(), asked_by(run.origin):
            try:
                async with self._limited() as services, aclosing(services.manager.stream(run.question)) as events:
                    async for event in events:
                        run.add(event)
            except WebragError as error:
                logger.info("a question was not answered: %s", one_line(error.message))
                run.error = error
            except Exception:
                logger.exception("a question failed")
                run.error = DefectError(defect_words())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(run.cancelled() for run in self._runs.values() if not run.is_over))
