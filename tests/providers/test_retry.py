"""Attempts, pauses and refused forms, whatever is sent. Over real connections: `test_openai_embedder`, `test_chat`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from tests.pauses import noted_pauses
from webrag_core.providers.rate_limits import asked_wait_s
from webrag_core.providers.retry import Failure, RetryingEndpoint

BUSY = Failure("busy", again=True, status=503)
Send = Callable[[str], Awaitable[str | Failure]]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds waited between attempts; nobody really waits."""
    return noted_pauses(monkeypatch)


def answering(*answers: str | Failure, forms: list[str] | None = None) -> Send:
    """Give `answers` one after the other, and append the requested forms to `forms`."""
    left = iter(answers)

    async def send(form: str) -> str | Failure:
        if forms is not None:
            forms.append(form)
        return next(left)

    return send


def ask(send: Send, *, attempts: int = 3, seconds: float = 20.0) -> str | Failure:
    async def work() -> str | Failure:
        return await RetryingEndpoint(("rich", "plain"), attempts=attempts).ask(send, seconds)

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("status", "again"), [(400, False), (401, False), (408, True), (429, True), (500, True), (None, False)]
)
def test_what_is_worth_another_attempt(status: int | None, again: bool) -> None:
    assert Failure.of_status(status, "TEA").again is again


def test_a_failure_says_which_settings_to_look_at_and_how_long_to_wait() -> None:
    assert Failure.of_status(401, "TEA").reason == "HTTP 401 (check TEA_API_KEY)"
    closed, broken = ConnectionError(), httpx2.ReadError("")
    assert Failure.of_connection(closed, "TEA").reason == "the endpoint cannot be reached (check TEA_BASE_URL)"
    assert Failure.of_connection(broken, "TEA").reason == "the connection broke before the answer was whole"
    assert Failure.of_status(429, "TEA", {"retry-after": "7"}).wait == 7.0
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert Failure.of_status(429, "TEA", {"retry-after": later}).wait == pytest.approx(90, abs=30)
    assert Failure.of_status(429, "TEA", {"retry-after": "soon"}).wait is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "9", "x-ratelimit-reset-requests": "1s"}, 9.0),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0.5s"}, 360.5),
        ({"x-ratelimit-reset-requests": "20ms"}, 0.02),
        ({"x-ratelimit-reset-requests": "1h2m"}, 3720.0),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "2s",
                "x-ratelimit-remaining-tokens": "900",
                "x-ratelimit-reset-tokens": "50s",
            },
            2.0,
        ),
        ({"x-ratelimit-reset": "12"}, 12.0),
        ({"ratelimit-reset": "12.5"}, 12.5),
        ({"x-ratelimit-reset": "1800000030"}, 30.0),
        ({"x-ratelimit-reset": "1800000030000"}, 30.0),
        ({"x-ratelimit-reset-requests": "2027-01-15T08:00:45Z"}, 45.0),
        ({"x-ratelimit-reset-requests": "soon"}, None),
        ({"x-ratelimit-reset-requests": ""}, None),
        ({"x-ratelimit-reset-requests": "9" * 500}, None),
        ({"retry-after-ms": "soon"}, None),
        ({}, None),
    ],
)
def test_headers_of_rate_limits_say_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    now = datetime.fromtimestamp(1_800_000_000, UTC)
    assert asked_wait_s(headers, now) == (None if seconds is None else pytest.approx(seconds))


def test_pauses_grow_and_are_not_the_same_for_everybody(pauses: list[float]) -> None:
    assert ask(answering(*[BUSY] * 4, "green"), attempts=5) == "green"
    assert all(0.8 * half <= pause <= 1.2 * half for pause, half in zip(pauses, [0.5, 1, 2, 4], strict=True))
    assert pauses != [0.5, 1, 2, 4]


def test_the_last_failure_is_given_when_the_attempts_are_used_up(pauses: list[float]) -> None:
    last = Failure("busy still", again=True, status=503)
    assert ask(answering(BUSY, last, "green"), attempts=2) == last
    assert len(pauses) == 1


def test_refused_forms_cost_no_attempt_and_no_pause(pauses: list[float]) -> None:
    forms: list[str] = []
    assert ask(answering(Failure("no", status=422), BUSY, "green", forms=forms), attempts=2) == "green"
    assert forms == ["rich", "plain", "plain"]
    assert len(pauses) == 1


def test_a_request_that_began_earlier_does_not_bring_a_refused_form_back() -> None:
    forms: list[str] = []

    async def work() -> None:
        endpoint = RetryingEndpoint(("rich", "plain"), attempts=1)
        begun, refused = asyncio.Event(), asyncio.Event()

        async def slow(form: str) -> str | Failure:
            begun.set()
            await refused.wait()
            return "green"

        earlier = asyncio.create_task(endpoint.ask(slow, 20.0))
        await begun.wait()
        await endpoint.ask(answering(Failure("no", status=400), "black"), 20.0)
        refused.set()
        await earlier
        await endpoint.ask(answering("white", forms=forms), 20.0)

    asyncio.run(work())
    assert forms == ["plain"]


def test_waiting_for_a_slot_counts_and_what_is_left_bounds_the_pause() -> None:
    async def work() -> tuple[str | Failure, str | Failure]:
        endpoint = RetryingEndpoint(("rich",), attempts=3)
        slots = asyncio.Semaphore(1)
        await slots.acquire()
        async with asyncio.timeout(10):  # or it would wait for ever
            unasked = await endpoint.ask(answering(), 0.05, slots)
        asyncio.get_running_loop().call_later(0.2, slots.release)
        # 5 s would fit into the time that was given, and do not fit into what the slot left of it
        late = await endpoint.ask(answering(Failure("busy", True, 4.95, 503)), 5.0, slots)
        assert not slots.locked()
        return unasked, late

    assert asyncio.run(work()) == (
        Failure("no answer within 0.05 s", asked=False),
        Failure("busy; waiting 5 s exceeds the limit of 5 s"),
    )


def test_when_the_time_ends_what_went_wrong_before_is_told_too(pauses: list[float]) -> None:
    seen: list[str] = []

    async def send(form: str) -> str | Failure:
        seen.append(form)
        if len(seen) > 1:
            await asyncio.Event().wait()
        return BUSY

    assert ask(send, seconds=1.0) == Failure("busy, then no answer within 1 s")
