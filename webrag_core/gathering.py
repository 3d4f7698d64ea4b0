"""Work that costs little more for several items than for one of them, such as a statement of SQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Gathering(Generic[Item, Result]):
    """Does `work` for up to `most` items at a time: those that come within `seconds` of the first, or until all who are
    `expected` wait.

    `work` gives a result, or the error to raise, for each item. Where it fails as a whole the items are worked on one
    by one, so that each costs itself alone. Belongs to the event loop it is first used in.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]], most: int, seconds: float
    ) -> None:
        self._work = work
        self._expected = 0
        self._most = most
        self._seconds = seconds
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def of(self, item: Item) -> Result:
        """The result for an item. Raises its error."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, result))
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._begin)
        self._begin_with_all()
        return await result

    @contextmanager
    def expected(self) -> Iterator[None]:
        """Count a caller who may bring an item meanwhile."""
        self._expected += 1
        try:
            yield
        finally:
            self._expected -= 1
            self._begin_with_all()

    def _begin_with_all(self) -> None:
        if self._waiting and len(self._waiting) >= min(self._most, self._expected or self._most):
            self._begin()

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        together, self._waiting, self._timer = self._waiting, [], None
        task = asyncio.create_task(self._finish(together))
        self._tasks.add(task)  # the loop itself holds no task
        task.add_done_callback(self._tasks.discard)

    async def _finish(self, together: Sequence[tuple[Item, asyncio.Future[Result]]]) -> None:
        together = [(item, result) for item, result in together if not result.done()]  # the others were cancelled
        try:
            results = await self._work([item for item, _ in together])
        except Exception as error:  # noqa: BLE001 (whoever waits raises it)
            if len(together) > 1:
                for pair in together:
                    await self._finish([pair])
                return
            results = [error]
        for (_, result), value in zip(together, results, strict=True):
            if result.done():
                continue
            if isinstance(value, Exception):
                result.set_exception(value)
            else:
                result.set_result(value)
