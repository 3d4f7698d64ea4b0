"""Answers that are coming into being: each runs by itself, and any number of browsers may watch it."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from webrag_core.answering.events import AnswerEvent, Done
from webrag_core.answering.manager import Question
from webrag_core.errors import WebragError
from webrag_core.mcp_server.core import Services
from webrag_core.trace import current_trace_id, traced

logger = logging.getLogger(__name__)

_MOST_WAITING = 32
_MOST_ENDED = 100  # that can still be watched from their beginning
_DEFECT = "an internal error; the server's log says more"

Open = Callable[[], Awaitable[Services]]


class BusyError(WebragError):
    """Too many questions are waiting."""

    code = "busy"


@dataclass(slots=True)
class RunningAnswer:
    """One run: its events so far, and how it ended: with an answer's number, or with a problem for people."""

    key: str
    question: Question
    begun: float
    events: list[AnswerEvent] = field(default_factory=list)
    answer_id: int | None = None
    problem: str | None = None
    is_over: bool = False
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _task: asyncio.Task[None] | None = None

    async def watch(self, start: int = 0) -> AsyncIterator[tuple[int, AnswerEvent]]:
        """Yield the events from number `start` on, each with its number, until the run is over."""
        number = start
        while await self._has(number):
            yield number, self.events[number]
            number += 1

    async def _has(self, number: int) -> bool:
        """Wait for an event; False when the run is over without it."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.events) > number or self.is_over)
        return len(self.events) > number

    async def add(self, event: AnswerEvent) -> None:
        """Note an event and wake those who watch."""
        self.events.append(event)
        if isinstance(event, Done):
            self.answer_id = event.answer.answer_id
        async with self._news:
            self._news.notify_all()

    async def end(self, problem: str | None) -> None:
        """Note how the run ended and wake those who watch."""
        self.problem = problem
        self.is_over = True
        async with self._news:
            self._news.notify_all()

    def cancel(self) -> None:
        """Stop the run; what was stored stays."""
        if self._task is not None:
            self._task.cancel()


class RunningAnswers:
    """The runs of one server, `at_once` of them at work, each for at most `seconds`. Leaving the context stops all."""

    def __init__(self, services: Open, at_once: int, seconds: float) -> None:
        self._services = services
        self._turns = asyncio.Semaphore(at_once)
        self._seconds = seconds
        self._runs: dict[str, RunningAnswer] = {}

    def start(self, question: Question) -> RunningAnswer:
        """Begin a run. Raises BusyError when too many are waiting."""
        if sum(not run.is_over for run in self._runs.values()) >= _MOST_WAITING:
            raise BusyError(f"{_MOST_WAITING} questions are at work or waiting; try again in a minute")
        over = [key for key, run in self._runs.items() if run.is_over]
        for key in over[: max(len(over) - _MOST_ENDED, 0)]:
            del self._runs[key]
        run = RunningAnswer(secrets.token_urlsafe(12), question, time.perf_counter())
        self._runs[run.key] = run
        run._task = asyncio.create_task(self._work(run))
        return run

    def get(self, key: str) -> RunningAnswer | None:
        """A run by its key; None when it is unknown, or over for long."""
        return self._runs.get(key)

    async def _work(self, run: RunningAnswer) -> None:
        problem: str | None = "stopped; what was read is stored"
        with traced():
            try:
                async with self._turns, asyncio.timeout(self._seconds):
                    services = await self._services()
                    async with aclosing(services.manager.stream(run.question)) as events:
                        async for event in events:
                            await run.add(event)
                problem = None
            except WebragError as error:
                problem = error.message
            except TimeoutError:
                problem = (
                    f"no answer within {self._seconds:g} s; what was read is stored, asking again goes on from there"
                )
            except Exception:
                logger.exception("a question of the page failed")
                problem = f"{_DEFECT} (trace {current_trace_id()})"
            finally:
                await run.end(problem)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = [run._task for run in self._runs.values() if run._task is not None and not run.is_over]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
