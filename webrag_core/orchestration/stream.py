"""Turn a coroutine that tells of its steps into an asynchronous iterator of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, TypeVar

from webrag_core.trace import traced

Event = TypeVar("Event")


async def streamed(run: Callable[[Callable[[Event], None]], Coroutine[Any, Any, object]]) -> AsyncGenerator[Event]:
    """Yield what `run(tell)` tells, as it tells it, and raise what it raises.

    To close the iterator, or to cancel the task that reads it, cancels the run and waits until it has ended.
    """
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    with traced():  # the task takes the trace along
        task = asyncio.create_task(run(events.put_nowait))
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # it was raised above, or nobody reads any more
