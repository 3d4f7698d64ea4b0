"""Progress notifications: one line for each phase and round of a run, none with words of a page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from webrag_core.orchestration.models import Round

_PHASES = {
    "seed": "reading the given pages",
    "expand_breadth": "following links",
    "expand_intent": "asking in other words",
    "citations": "proving the citations",
}


class Reporter(Protocol):
    """Sends one notification; says nothing to clients that asked for none."""

    def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> Awaitable[None]: ...


class ProgressRelay:
    """Takes what the engine reports, which cannot wait, and sends it in order."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    def __call__(self, phase: str, done: Round | None) -> None:
        """As `engine.Progress`."""
        self.say(_PHASES.get(phase, phase) if done is None else _told(done))

    def say(self, message: str) -> None:
        """One more step is done or begun."""
        self._queue.put_nowait(message)

    async def _send(self, report: Reporter) -> None:
        count = 0
        while (message := await self._queue.get()) is not None:
            count += 1
            await report(count, None, message)

    @asynccontextmanager
    async def to(self, report: Reporter) -> AsyncIterator[None]:
        """While it is open everything is sent; all that was said is sent before a call ends well."""
        sender = asyncio.create_task(self._send(report))
        try:
            yield
            self._queue.put_nowait(None)
            await sender
        finally:
            sender.cancel()
            with suppress(asyncio.CancelledError):
                await sender


def _told(done: Round) -> str:
    signals = done.signals
    return (
        f"round {done.round}: {signals.n_chunks} passages of {done.documents_total} pages, best score"
        f" {signals.top_score:.2f}; {done.decision.action} ({done.decision.rule})"
    )
