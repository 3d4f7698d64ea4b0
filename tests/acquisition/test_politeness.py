"""Queues per host, on a clock of our own: places, crawl delay, Retry-After, cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from tests.acquisition.local_server import gate_to, reply, serving
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.politeness import HostQueues, RetryLater
from webrag_core.errors import FetchError, Reason
from webrag_core.providers.rate_limits import MAX_RETRY_AFTER_S, retry_after_s

A, B = "https://a.example/", "https://b.example/"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HTML = reply(b"<!DOCTYPE html><title>t</title><p>text", "content-type: text/html")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("1.5", 1.5),
        ("9" * 500, MAX_RETRY_AFTER_S),
        ("Fri, 02 Jan 2026 03:05:05 GMT", 60.0),
        ("Friday, 02-Jan-26 03:05:05 GMT", 60.0),
        ("Fri Jan  2 03:05:05 2026", 60.0),
        ("Fri, 02 Jan 2026 03:00:00 GMT", 0.0),
        ("Fri, 02 Jan 9999 03:00:00 GMT", MAX_RETRY_AFTER_S),
        *((value, None) for value in ("", "-5", "1.5.2", "soon", "٣", "Fri, 99 Jan 2026 03:00:00 GMT")),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after_s(value, NOW) == seconds


class Time:
    """A clock that sleepers push forward; `slept` is what they asked for."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def queues(self, concurrency: int = 2, budget_s: float = 30.0) -> HostQueues:
        return HostQueues(concurrency, budget_s, clock=self.clock, sleep=self.sleep)


def answers(*given: float | str) -> Callable[[], Awaitable[str]]:
    """A request that is answered in turn: a number of seconds to wait, or a page."""
    left = list(given)

    async def request() -> str:
        answer = left.pop(0)
        if isinstance(answer, str):
            return answer
        raise RetryLater(answer, status=503)

    return request


def test_at_most_so_many_requests_of_one_host_and_others_do_not_wait() -> None:
    async def work() -> tuple[int, list[str]]:
        queues, release, running, most, done = HostQueues(2), asyncio.Event(), 0, 0, []

        async def slow() -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await release.wait()
            running -= 1

        async def quick() -> str:
            return "page"

        tasks = [asyncio.create_task(queues.run(f"{A}{number}", slow)) for number in range(6)]
        await asyncio.sleep(0)
        done.append(await queues.run(B, quick))
        release.set()
        await asyncio.gather(*tasks)
        return most, done

    assert asyncio.run(work()) == (2, ["page"])


def test_crawl_delay_between_requests_of_one_host_only() -> None:
    time, starts = Time(), []

    async def request() -> None:
        starts.append(time.now)

    async def work() -> None:
        queues = time.queues()
        await asyncio.gather(*(queues.run(A, request, crawl_delay_s=5) for _ in range(3)))
        assert time.slept == [5, 5]
        await queues.run(B, request, crawl_delay_s=5)

    asyncio.run(work())
    assert starts == [1_000, 1_005, 1_010, 1_010]


def test_retry_after_is_waited_for() -> None:
    time = Time()
    assert asyncio.run(time.queues().run(A, answers(10, 5, "page"))) == "page"
    assert time.slept == [10, 5]


@pytest.mark.parametrize(
    ("given", "slept", "seconds"), [((3600.0,), [], 3600), ((20.0, 20.0), [20], 20), ((1.0, 1.0, 2.0), [1, 1], 2)]
)
def test_what_takes_too_long_is_not_waited_for(given: tuple[float, ...], slept: list[float], seconds: int) -> None:
    time = Time()
    with pytest.raises(FetchError, match=f"wait {seconds} seconds") as caught:
        asyncio.run(time.queues().run(A, answers(*given)))
    assert (caught.value.reason, caught.value.status) == (Reason.RATE_LIMITED, 503)
    assert time.slept == slept


def test_a_host_that_said_later_is_left_alone_by_everybody() -> None:
    time = Time()

    async def work() -> None:
        queues = time.queues()
        with pytest.raises(FetchError):
            await queues.run(A, answers(100))
        with pytest.raises(FetchError) as caught:
            await queues.run(A, answers("never asked for"))
        assert caught.value.reason is Reason.RATE_LIMITED
        assert await queues.run(B, answers("page")) == "page"
        time.now += 90
        assert await queues.run(A, answers("page")) == "page"

    asyncio.run(work())
    assert time.slept == [10]


def test_cancelled_waiters_leave_no_gap() -> None:
    async def work() -> str:
        queues, never = HostQueues(1), asyncio.Event()
        holder = asyncio.create_task(queues.run(A, never.wait))
        waiters = [asyncio.create_task(queues.run(A, never.wait)) for _ in range(3)]
        await asyncio.sleep(0)
        for task in (waiters[0], holder, *waiters):
            task.cancel()
        await asyncio.gather(holder, *waiters, return_exceptions=True)
        assert not queues._hosts
        return await queues.run(A, answers("page"))

    assert asyncio.run(work()) == "page"


def test_the_budget_ends_a_request_that_hangs() -> None:
    with pytest.raises(FetchError) as caught:
        asyncio.run(HostQueues(1, 0.01).run(A, asyncio.Event().wait))
    assert caught.value.reason is Reason.TIMEOUT


def test_errors_of_a_request_pass_and_free_its_place() -> None:
    async def broken() -> None:
        raise FetchError(Reason.NOT_FOUND, "no page", status=404)

    async def work() -> None:
        queues = HostQueues(1)
        for _ in range(3):
            with pytest.raises(FetchError, match="no page"):
                await queues.run(A, broken)

    asyncio.run(work())


def test_retry_after_on_the_wire() -> None:
    time = Time()

    async def busy_once(writer: asyncio.StreamWriter) -> None:
        busy = len(time.slept) == 0
        writer.write(reply(b"", "Retry-After: 7", status="429 Slow Down") if busy else HTML)

    async def work() -> int:
        always = reply(b"", "Retry-After: 3600", status="503 Later")
        async with serving({"/": busy_once, "/never": always}) as site:
            url = f"http://127.0.0.1:{site.port}/"
            acquirer = HttpAcquirer(gate_to(f"127.0.0.1:{site.port}"), hosts=time.queues())
            assert (await acquirer.fetch(url)).status == 200
            with pytest.raises(FetchError, match="3600 seconds") as caught:
                await acquirer.fetch(f"{url}never")
            assert (caught.value.reason, caught.value.status) == (Reason.RATE_LIMITED, 503)
            return len(site.requests)

    assert asyncio.run(work()) == 3
    assert time.slept == [pytest.approx(7, abs=1)]
