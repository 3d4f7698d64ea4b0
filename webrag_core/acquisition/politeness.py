"""Politeness towards a host: few requests at a time, its crawl delay between them, and Retry-After honoured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from webrag_core.acquisition.urls import source_key
from webrag_core.errors import FetchError, Reason

MAX_ATTEMPTS = 3


Result = TypeVar("Result")


class RetryLater(FetchError):
    """The host answered 429 or 503 and said when to come again: in `seconds`."""

    def __init__(self, seconds: float, *, status: int) -> None:
        message = f"the host asks to wait {seconds:.0f} seconds before the next request"
        super().__init__(Reason.RATE_LIMITED, message, status=status)
        self.seconds = seconds


@dataclass(slots=True)
class _Host:
    places: asyncio.Semaphore
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    next_start: float = 0.0
    held_until: float = 0.0
    status: int = 429


class HostQueues:
    """One queue per host (and port). What waits for one host never waits for another. For one event loop."""

    def __init__(
        self,
        concurrency: int = 2,
        budget_s: float = 30.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`concurrency` requests per host at a time; `budget_s` seconds for one page's requests with the waiting that
        Retry-After asks for. Waiting in the queue is not counted. `clock` and `sleep` are in seconds."""
        self._concurrency = concurrency
        self._budget_s = budget_s
        self._clock = clock
        self._sleep = sleep
        self._hosts: dict[str, _Host] = {}

    async def run(self, url: str, request: Callable[[], Awaitable[Result]], *, crawl_delay_s: float = 0.0) -> Result:
        """Await `request()` when it is the turn of `url`; again, at most twice, when it raises RetryLater.

        Raises what `request` raises; FetchError(RATE_LIMITED) when waiting as the host asks would take longer than the
        budget, without waiting for nothing; FetchError(TIMEOUT) when the budget ends during a request.
        """
        left = self._budget_s
        for attempt in range(1, MAX_ATTEMPTS + 1):
            async with self._turn(url, crawl_delay_s, left) as (host, waited):
                left -= waited
                begun = self._clock()
                try:
                    async with asyncio.timeout(max(left, 0.0)) as limit:
                        return await request()
                except RetryLater as asked:
                    host.held_until = max(host.held_until, self._clock() + asked.seconds)
                    host.status = asked.status or host.status
                    if attempt == MAX_ATTEMPTS:
                        raise
                except TimeoutError:
                    if not limit.expired():
                        raise
                    raise FetchError(Reason.TIMEOUT, "the host did not answer in time") from None
                left -= self._clock() - begun
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def _turn(self, url: str, delay_s: float, patience_s: float) -> AsyncIterator[tuple[_Host, float]]:
        """A place among the requests of the host; with the seconds waited because of its Retry-After.

        Nothing is reserved while waiting, so whoever is cancelled leaves no gap.
        """
        key = source_key(url)
        host = self._hosts.setdefault(key, _Host(asyncio.Semaphore(self._concurrency)))
        host.users += 1
        try:
            async with host.places:
                async with host.door:
                    waited = await self._wait(host, patience_s)
                    host.next_start = self._clock() + delay_s
                yield host, waited
        finally:
            host.users -= 1
            self._forget_idle()

    async def _wait(self, host: _Host, patience_s: float) -> float:
        waited = 0.0
        while (now := self._clock()) < max(host.held_until, host.next_start):
            held = host.held_until - now
            if held > patience_s - waited:
                raise RetryLater(held, status=host.status)
            if held > 0:
                waited += held
            await self._sleep(max(held, host.next_start - now))
        return waited

    def _forget_idle(self) -> None:
        now = self._clock()
        for key in [key for key, host in self._hosts.items() if not host.users]:
            if now >= max(self._hosts[key].held_until, self._hosts[key].next_start):
                del self._hosts[key]
