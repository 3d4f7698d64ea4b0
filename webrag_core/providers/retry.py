"""Retry requests to model endpoints with backoff and option fallback."""

from __future__ import annotations

import asyncio
import random
import re
from asyncio import sleep
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Generic, TypeVar

from webrag_core.errors import WebragError
from webrag_core.providers.endpoint import http_reason
from webrag_core.store.breakers import Breaker

Answer = TypeVar("Answer")
Form = TypeVar("Form")
Raised = TypeVar("Raised", bound=WebragError)

MAX_RETRY_AFTER_S = 30 * 24 * 3600.0

_FIRST_PAUSE_S = 0.5  # doubles with every attempt
_BROKEN = frozenset(["ReadError", "RemoteProtocolError", "WriteError"])  # raised on an open connection
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def retry_after_s(value: str, now: datetime) -> float | None:
    """Parse a Retry-After header to seconds from `now` (aware), at most 30 days; None if invalid.

    Accepts both forms of RFC 9110 and fractions of seconds, which some APIs send. Past dates are zero.
    """
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return min(float(value), MAX_RETRY_AFTER_S)
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER_S)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason of a failed request, without text from the endpoint: it may repeat the key.

    `again` = retryable, `wait` = Retry-After in seconds. `transient`: the endpoint may be down or overloaded, which
    counts for its breaker. `asked` is False where the request never left; `retry_at` = it is not asked before then.
    """

    reason: str
    again: bool = False
    wait: float | None = None
    status: int | None = None
    transient: bool = field(default=False, kw_only=True)
    asked: bool = field(default=True, kw_only=True)
    retry_at: datetime | None = field(default=None, kw_only=True)

    def on(self, error: Raised) -> Raised:
        """The error that tells of this failure, with the time of the next try."""
        error.retry_at = self.retry_at
        return error

    @classmethod
    def of_status(cls, status: int | None, prefix: str, headers: Mapping[str, str] | None = None) -> Failure:
        """Build from an HTTP error of the endpoint configured by `<prefix>_…`."""
        again = status is not None and (status in (408, 425, 429) or status >= 500)
        wait = retry_after_s((headers or {}).get("retry-after", ""), datetime.now(UTC))
        return cls(http_reason(status, prefix), again, wait, status, transient=again)

    @classmethod
    def of_connection(cls, cause: BaseException | None, prefix: str) -> Failure:
        """Build for a connection that failed or broke; `cause` is the error of httpx or httpx2 behind the SDK's."""
        if cause is not None and type(cause).__name__ in _BROKEN:
            return cls("the connection broke before the answer was whole", again=True, transient=True)
        return cls(f"the endpoint cannot be reached (check {prefix}_BASE_URL)", again=True, transient=True)


async def through(breaker: Breaker | None, ask: Callable[[], Awaitable[Answer | Failure]]) -> Answer | Failure:
    """What `ask` gives, unless the breaker is open: then a failure that says when the next try is. Its transient
    failures count; one that is cancelled counts as nothing."""
    if breaker is None:
        return await ask()
    retry_at = await breaker.closed_until()
    if retry_at is not None:
        return Failure(breaker.refusal(retry_at), asked=False, retry_at=retry_at)
    try:
        answer = await ask()
    except WebragError:  # of what the endpoint answered
        await breaker.succeeded()
        raise
    if isinstance(answer, Failure) and answer.transient:
        await breaker.failed(answer.reason)
    elif not isinstance(answer, Failure) or answer.asked:
        await breaker.succeeded()
    return answer


class RetryingEndpoint(Generic[Form]):
    """An endpoint with several request forms, richest first. Refused forms are not tried again."""

    def __init__(self, forms: Sequence[Form], *, attempts: int, breaker: Breaker | None = None) -> None:
        """`attempts` of one request, refused forms not counted. The request as a whole goes through `breaker`."""
        self._forms = forms
        self._breaker = breaker
        self._attempts = attempts
        self._first = 0  # first form not refused

    async def ask(
        self,
        send: Callable[[Form], Awaitable[Answer | Failure]],
        seconds: float,
        slots: AbstractAsyncContextManager[object] | None = None,
        patience: float = 0.0,
    ) -> Answer | Failure:
        """Call `send` with the first accepted form (HTTP 400 and 422 refuse one) and return its result.

        Transient failures are retried within `seconds`, after Retry-After or exponential backoff. Up to `patience`
        seconds that the endpoint asks to wait (Retry-After) come on top. `slots` is held for all attempts; waiting for
        it counts. Failures are returned, not raised: the caller raises them outside any handler, since SDK errors
        contain the request and so the key.
        """
        return await through(self._breaker, lambda: self._patiently(send, seconds, slots, patience))

    async def _patiently(
        self,
        send: Callable[[Form], Awaitable[Answer | Failure]],
        seconds: float,
        slots: AbstractAsyncContextManager[object] | None,
        patience: float,
    ) -> Answer | Failure:
        failure = Failure(f"no answer within {seconds:.4g} s", asked=False)
        clock = asyncio.get_running_loop().time
        ends = clock() + seconds
        try:
            async with asyncio.timeout_at(ends) as limit, slots or nullcontext():
                failure = replace(failure, transient=True, asked=True)
                form, attempt = self._first, 0
                while True:
                    answer = await send(self._forms[form])
                    if not isinstance(answer, Failure):
                        self._first = max(form, self._first)
                        return answer
                    failure = answer
                    if failure.status in (400, 422) and form + 1 < len(self._forms):
                        form += 1
                        continue
                    attempt += 1
                    wait = _FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)
                    wait = wait if failure.wait is None else failure.wait
                    if not failure.again or attempt == self._attempts:
                        return failure
                    if failure.wait is not None and wait <= patience:
                        patience -= wait
                        ends += wait
                        limit.reschedule(ends)
                    elif clock() + wait >= ends:
                        most = max(seconds, patience)
                        reason = f"{failure.reason}; waiting {wait:.0f} s exceeds the limit of {most:.4g} s"
                        return replace(failure, reason=reason, again=False, wait=None, status=None)
                    await sleep(wait)
        except TimeoutError:
            if failure.status is not None:
                late = f"{failure.reason}, then no answer within {seconds:.4g} s"
                failure = replace(failure, reason=late, again=False, wait=None, status=None)
        return failure
