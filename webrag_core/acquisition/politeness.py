"""Politeness towards a host: few requests at a time, its crawl delay between them, and Retry-After honoured."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID, uuid4

from webrag_core.acquisition.urls import source_key
from webrag_core.errors import FetchError, Reason, StoreError
from webrag_core.store.leases import HostLeases, LeaseReply

MAX_ATTEMPTS = 3

_LEASE_MARGIN_S = 5.0  # a lease outlives the longest request by this
_FIRST_POLL_S, _LONGEST_POLL_S = 0.02, 0.25
_JITTER_S = 0.03
_WITHOUT_DATABASE_S = 30.0
_log = logging.getLogger(__name__)

Result = TypeVar("Result")


class RetryLater(FetchError):
    """The host answered 429 or 503 with Retry-After: come again in `seconds`."""

    def __init__(self, seconds: float, *, status: int) -> None:
        message = f"the host asks to wait {seconds:.0f} seconds before the next request"
        super().__init__(Reason.RATE_LIMITED, message, status=status)
        self.seconds = seconds


@dataclass(slots=True)
class _Host:
    name: str
    slots: asyncio.Semaphore
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    next_start: float = 0.0
    held_until: float = 0.0
    status: int = 429


class HostQueues:
    """One queue per host (and port); a host never delays another. For one event loop.

    With leases the limits hold over all processes that share the database, without them in this process.
    """

    def __init__(
        self,
        concurrency: int = 2,
        budget_s: float = 30.0,
        *,
        leases: HostLeases | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`concurrency` is the number of requests per host at a time. `budget_s` limits the requests for one page,
        and the waiting that Retry-After asks for. Queueing is not counted. `clock` and `sleep` are in seconds."""
        self._concurrency = concurrency
        self._budget_s = budget_s
        self._leases = leases
        self._without_until = 0.0  # the database failed: no leases until then
        self._clock = clock
        self._sleep = sleep
        self._hosts: dict[str, _Host] = {}

    async def run(self, url: str, request: Callable[[], Awaitable[Result]], *, crawl_delay_s: float = 0.0) -> Result:
        """Await `request()` when it is the turn of `url`. Repeat it at most twice when it raises RetryLater.

        Raises what `request` raises; FetchError(RATE_LIMITED) at once when Retry-After exceeds the budget, or when
        other processes keep the host busy; FetchError(TIMEOUT) when the budget ends during a request.
        """
        left = self._budget_s
        for attempt in range(1, MAX_ATTEMPTS + 1):
            async with self._turn(url, crawl_delay_s, left) as (host, waited):
                left -= waited
                begun = self._clock()
                try:
                    async with asyncio.timeout(max(left, 0.0)) as limit:
                        return await request()
                except RetryLater as later:
                    await self._hold(host, later)
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
        """Occupy a slot of the host; yield it with the seconds waited because of Retry-After.

        Nothing is reserved while waiting in this process, so a cancelled waiter leaves no gap.
        """
        key = source_key(url)
        host = self._hosts.setdefault(key, _Host(key, asyncio.Semaphore(self._concurrency)))
        host.users += 1
        try:
            async with host.slots, AsyncExitStack() as turn:
                async with host.door:
                    waited = await self._wait(host, patience_s)
                    if self._leases is not None and self._clock() >= self._without_until:
                        holder = uuid4()
                        turn.push_async_callback(self._release, holder)  # a cancelled request may be granted
                        waited += await self._lease(host, holder, delay_s, patience_s - waited)
                    host.next_start = self._clock() + delay_s
                yield host, waited
        finally:
            host.users -= 1
            self._forget_idle()

    async def _wait(self, host: _Host, patience_s: float) -> float:
        waited = 0.0
        while (now := self._clock()) < max(host.held_until, host.next_start):
            retry_after = host.held_until - now
            if retry_after > patience_s - waited:
                raise RetryLater(retry_after, status=host.status)
            if retry_after > 0:
                waited += retry_after
            await self._sleep(max(retry_after, host.next_start - now))
        return waited

    async def _lease(self, host: _Host, holder: UUID, delay_s: float, patience_s: float) -> float:
        """Wait for a lease; return the seconds waited because of Retry-After.

        Raises FetchError when the queue does not move for longer than a lease lasts.
        """
        waited, poll, ahead, moved = 0.0, _FIRST_POLL_S, -1, self._clock()
        while (reply := await self._request(host, holder, delay_s)) is not None and not reply.granted:
            now = self._clock()
            if reply.held_s > patience_s - waited:
                host.held_until, host.status = now + reply.held_s, reply.status
                raise RetryLater(reply.held_s, status=reply.status)
            waited += reply.held_s
            if reply.ahead != ahead or reply.pause_s > 0:
                ahead, moved = reply.ahead, now + reply.pause_s
            elif now - moved > self._lease_s + _LEASE_MARGIN_S:
                raise FetchError(Reason.RATE_LIMITED, "other processes keep the host busy")
            if reply.pause_s > 0:
                await self._sleep(reply.pause_s + random.uniform(0, _JITTER_S))
            else:
                await self._sleep(poll * random.uniform(0.75, 1.25))
                poll = min(poll * 1.5, _LONGEST_POLL_S)
        return waited

    @property
    def _lease_s(self) -> float:
        return self._budget_s + _LEASE_MARGIN_S

    async def _request(self, host: _Host, holder: UUID, delay_s: float) -> LeaseReply | None:
        """One attempt; None when the database fails: the limits of this process apply alone then."""
        assert self._leases is not None
        try:
            return await self._leases.request(
                host.name, holder, slots=self._concurrency, delay_s=delay_s, lease_s=self._lease_s
            )
        except StoreError as error:
            self._warn(error)
            return None

    async def _hold(self, host: _Host, later: RetryLater) -> None:
        """Keep this and all other processes from the host for as long as it asks."""
        host.held_until = max(host.held_until, self._clock() + later.seconds)
        host.status = later.status or host.status
        if self._leases is not None and self._clock() >= self._without_until:
            try:
                await self._leases.hold(host.name, later.seconds, host.status)
            except StoreError as error:
                self._warn(error)

    async def _release(self, holder: UUID) -> None:
        if self._leases is not None and self._clock() >= self._without_until:
            try:
                await asyncio.shield(self._leases.release(holder))
            except StoreError as error:
                self._warn(error)

    def _warn(self, error: StoreError) -> None:
        self._without_until = self._clock() + _WITHOUT_DATABASE_S
        _log.warning(
            "%s; for %.0f s requests per host are limited in this process only", error.message, _WITHOUT_DATABASE_S
        )

    def _forget_idle(self) -> None:
        now = self._clock()
        for key in [key for key, host in self._hosts.items() if not host.users]:
            if now >= max(self._hosts[key].held_until, self._hosts[key].next_start):
                del self._hosts[key]
