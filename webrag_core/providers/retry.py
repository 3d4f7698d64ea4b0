"""Retry requests to model endpoints with backoff and option fallback."""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from webrag_core.errors import WebragError
from webrag_core.providers.endpoint import http_reason
from webrag_core.providers.rate_limits import LIMITED, Limit, SharedPause, asked_wait_s, backoff_s
from webrag_core.store.breakers import Breaker

Answer = TypeVar("Answer")
Form = TypeVar("Form")
Raised = TypeVar("Raised", bound=WebragError)

_BROKEN = frozenset(["ReadError", "RemoteProtocolError", "WriteError"])  # raised on an open connection
_REFUSES_OPTIONS = frozenset([400, 422])
_OF_NO_FORM = frozenset([401, 402, 403, 408, 425, 429, 502, 503, 504])
"""HTTP statuses that another form of the same request does not change."""
_NOT_BUILT = frozenset([501, 505])  # errors of servers that do not pass


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason of a failed request, without text from the endpoint: it may repeat the key.

    `again` = retryable, `wait` = Retry-After in seconds. `transient`: the endpoint may be down or overloaded, which
    counts for its breaker. `asked` is False where the request never left; `retry_at` = it is not asked before then.
    `timed_out` = no answer within the time given. `decided`: the endpoint understood the request and will
    not answer it in any form.
    """

    reason: str
    again: bool = False
    wait: float | None = None
    status: int | None = None
    transient: bool = field(default=False, kw_only=True)
    asked: bool = field(default=True, kw_only=True)
    retry_at: datetime | None = field(default=None, kw_only=True)
    timed_out: bool = field(default=False, kw_only=True)
    decided: bool = field(default=False, kw_only=True)

    @property
    def is_lost(self) -> bool:
        """Whether there was no connection, or no answer in time."""
        return self.transient and self.status is None

    @property
    def refuses_options(self) -> bool:
        """Whether the endpoint may take the same request with other options."""
        return self.status in _REFUSES_OPTIONS

    @property
    def is_redirect(self) -> bool:
        """Whether the endpoint is elsewhere: it is not followed."""
        return self.status is not None and 300 <= self.status < 400

    @property
    def limit(self) -> Limit | None:
        """The wait that a limiting endpoint asks for; None for a failure of another kind."""
        return Limit(self.wait) if self.status in LIMITED else None

    def on(self, error: Raised) -> Raised:
        """The error that tells of this failure, with the time of the next try."""
        error.retry_at = self.retry_at
        return error

    @classmethod
    def of_status(cls, status: int | None, prefix: str, headers: Mapping[str, str] | None = None) -> Failure:
        """Build from an HTTP error of the endpoint configured by `<prefix>_…`."""
        again = status is not None and (status in (408, 425, 429) or (status >= 500 and status not in _NOT_BUILT))
        wait = asked_wait_s(headers or {}, datetime.now(UTC))
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
    """An endpoint with several request forms, richest first. The form that worked is used from then on."""

    def __init__(
        self, forms: Sequence[Form], *, attempts: int, breaker: Breaker | None = None, shares_pauses: bool = False
    ) -> None:
        """`attempts` of one request, other forms not counted. The request as a whole goes through `breaker`. With
        `shares_pauses` all requests wait together where the endpoint limits them (HTTP 429 and 503)."""
        self._forms = forms
        self._breaker = breaker
        self._pause = SharedPause()
        self._shares_pauses = shares_pauses
        self._attempts = attempts
        self._first = 0  # form to begin with

    async def ask(
        self,
        send: Callable[[Form], Awaitable[Answer | Failure]],
        seconds: float,
        slots: AbstractAsyncContextManager[object] | None = None,
        patience: float = 0.0,
        attempts: int | None = None,
        any_form: bool = True,
    ) -> Answer | Failure:
        """Call `send` with the form that worked last and return its result.

        HTTP 400 and 422 and answers that cannot be used lead to the other forms; other failures that may be due to the
        form (`_OF_NO_FORM` are not) lead to the plainest once, after their retries. `any_form=False` keeps to one.

        Transient failures are retried within `seconds`, after what the endpoint asks to wait or exponential backoff.
        Up to `patience` seconds that it asks to wait come on top; where pauses are shared also those of backoff at
        HTTP 429 and 503, which then cost no attempt. `slots` is held for all attempts; waiting for it counts. Failures
        are returned, not raised: the caller raises them outside any handler, since SDK errors contain the request and
        so the key.
        """
        request = _Request(self._attempts if attempts is None else attempts, seconds, patience, any_form)
        return await through(self._breaker, lambda: self._patiently(send, request, slots))

    async def _patiently(
        self,
        send: Callable[[Form], Awaitable[Answer | Failure]],
        request: _Request,
        slots: AbstractAsyncContextManager[object] | None,
    ) -> Answer | Failure:
        seconds, patience = request.seconds, request.patience
        failure = Failure(f"no answer within {seconds:.4g} s", asked=False)
        clock = asyncio.get_running_loop().time
        ends = clock() + seconds
        try:
            async with asyncio.timeout_at(ends) as limit, slots or nullcontext():
                failure = replace(failure, transient=True, asked=True, timed_out=True)
                form, attempt = self._first, 0
                tried, failures = [form], list[Failure]()
                while True:
                    wait = self._pause.remaining
                    if wait > patience and clock() + wait >= ends:
                        return _not_before(wait, failure, max(seconds, request.patience))
                    limit.reschedule(ends + patience)
                    async with self._pause.turn() as note:
                        beyond = min(max(0.0, clock() - ends), patience)
                        patience, ends = patience - beyond, ends + beyond
                        limit.reschedule(ends)
                        answer = await send(self._forms[form])
                        note(answer.limit if self._shares_pauses and isinstance(answer, Failure) else None)
                    if not isinstance(answer, Failure):
                        if len(tried) > 1:
                            self._first = form
                        return answer
                    failure = answer
                    failures.append(failure)
                    other = self._other_form(tried, failures) if request.any_form else None
                    limited = self._shares_pauses and failure.limit is not None
                    wait = backoff_s(attempt + 1) if failure.wait is None else failure.wait
                    wait = self._pause.remaining if limited else wait
                    on_top = (limited or failure.wait is not None) and patience > 0 and wait <= patience
                    attempt += failure.again and not (limited and on_top)
                    if not failure.again or attempt >= request.attempts:
                        if other is None:
                            return failure
                        form = other
                        tried.append(form)
                        attempt -= failure.again  # one more, in the other form
                        continue
                    if on_top:
                        patience, ends = patience - wait, ends + wait
                        limit.reschedule(ends)
                    elif clock() + wait >= ends:
                        most = max(seconds, request.patience)
                        reason = f"{failure.reason}; waiting {wait:.0f} s exceeds the limit of {most:.4g} s"
                        return replace(failure, reason=reason, again=False, wait=None, status=None)
                    if not limited:
                        await sleep(wait)
        except TimeoutError:
            if failure.status is not None:
                late = f"{failure.reason}, then no answer within {seconds:.4g} s"
                failure = replace(failure, reason=late, again=False, wait=None, status=None)
        return failure

    def _other_form(self, tried: Sequence[int], failures: Sequence[Failure]) -> int | None:
        """The form to try after these, in which these failures came; None where no other can help."""
        failure = failures[-1]
        left = [form for form in range(len(self._forms)) if form not in tried]
        if not left or failure.decided or failure.is_lost or failure.status in _OF_NO_FORM or failure.is_redirect:
            return None
        if failure.refuses_options:
            return next((form for form in left if form > tried[-1]), left[0])
        plainest = len(self._forms) - 1
        if plainest in left:
            return plainest
        if len(tried) == 1 or (failure.status is None and failure.reason != failures[-2].reason):
            return left[0]  # of the plainest, which worked once; or the plainest is wrong in another way
        return None


@dataclass(frozen=True, slots=True)
class _Request:
    """Limits of one request; see `RetryingEndpoint.ask`."""

    attempts: int
    seconds: float
    patience: float
    any_form: bool


def _not_before(wait: float, failure: Failure, most: float) -> Failure:
    """The failure of a request that is not made, since the endpoint asked all to wait longer than it may."""
    reason = f"the endpoint asked to wait; waiting {wait:.0f} s exceeds the limit of {most:.4g} s"
    return replace(
        failure,
        reason=reason,
        again=False,
        status=None,
        transient=False,
        asked=False,
        retry_at=datetime.now(UTC) + timedelta(seconds=wait),
    )
