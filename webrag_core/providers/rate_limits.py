"""When an endpoint that limits its requests may be asked again, and the pause that all requests to it share."""

from __future__ import annotations

import asyncio
import random
import re
from asyncio import sleep
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_RETRY_AFTER_S = 30 * 24 * 3600.0
LIMITED = frozenset([429, 503])
"""HTTP statuses of an endpoint that asks to wait."""

_FIRST_PAUSE_S = 0.5  # doubles with every attempt
_LONGEST_PAUSE_S = 30.0  # without a header: limits of providers are counted by the minute
_BELIEVED = 2  # waits that an endpoint names in a row; more of them were too short
_SECONDS = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")
_DURATION = re.compile(
    r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m(?!s))?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)s)?(?:([0-9]{1,9})ms)?"
)
_EPOCH_S = 1e9  # a number of seconds above this is a date since 1970, a thousand times more one in milliseconds
_RESETS = ("x-ratelimit-reset", "ratelimit-reset")


def retry_after_s(value: str, now: datetime) -> float | None:
    """Parse a Retry-After header to seconds from `now` (aware), at most 30 days; None if invalid.

    Accepts both forms of RFC 9110 and fractions of seconds, which some APIs send. Past dates are zero.
    """
    value = value.strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
        return min(float(value), MAX_RETRY_AFTER_S)
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER_S)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def asked_wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `now` (aware) that an answer's headers (names in lower case) ask to wait, at most 30 days; None
    where they do not say.

    In this order: `retry-after-ms`, `Retry-After`, and of the `x-ratelimit-reset…` of limits that are used up
    (`x-ratelimit-remaining…` is 0 or absent) the longest.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _SECONDS.fullmatch(milliseconds):
        return min(float(milliseconds) / 1000, MAX_RETRY_AFTER_S)
    wait = retry_after_s(headers.get("retry-after", ""), now)
    if wait is not None:
        return wait
    resets = []
    for name, value in headers.items():
        if name.startswith(_RESETS) and headers.get(name.replace("reset", "remaining"), "0").strip() == "0":
            resets.append(_reset_s(value.strip(), now))
    return max((reset for reset in resets if reset is not None), default=None)


def _reset_s(value: str, now: datetime) -> float | None:
    """Seconds from `now` until a reset: a number of seconds, a moment since 1970, ISO 8601, or a length as 6m0.5s."""
    if _SECONDS.fullmatch(value):
        seconds = float(value)
        if seconds >= _EPOCH_S:
            seconds = (seconds / 1000 if seconds >= 1000 * _EPOCH_S else seconds) - now.timestamp()
        return min(max(seconds, 0.0), MAX_RETRY_AFTER_S)
    if value and (parts := _DURATION.fullmatch(value)):
        hours, minutes, seconds_, milliseconds = (float(part or 0) for part in parts.groups())
        return min(hours * 3600 + minutes * 60 + seconds_ + milliseconds / 1000, MAX_RETRY_AFTER_S)
    try:
        moment = datetime.fromisoformat(value)
        return min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER_S)
    except (ValueError, TypeError):
        return None


def backoff_s(failures: int) -> float:
    """Seconds to wait after this many failures in a row (1 or more): half a second that doubles, 20 % more or less, at
    most 30."""
    return min(_FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10), _LONGEST_PAUSE_S) * random.uniform(0.8, 1.2)


@dataclass(frozen=True, slots=True)
class Limit:
    """An endpoint asks to wait: `seconds`, None where it does not say how long."""

    seconds: float | None


class SharedPause:
    """The pause of an endpoint that limits its requests. All requests keep it; after it one goes first, and its success
    lets the others follow. Belongs to the event loop it is first used in."""

    def __init__(self) -> None:
        self._failures = 0  # in a row; those of requests that were under way together count once
        self._until = 0.0
        self._first = asyncio.Lock()

    @property
    def remaining(self) -> float:
        """Seconds until the endpoint is asked again."""
        return max(0.0, self._until - asyncio.get_running_loop().time()) if self._failures else 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Callable[[Limit | None], None]]:
        """Wait for the end of the pause; the request belongs into the block. Call what is yielded with the limit that
        the answer tells of; None ends the pause."""
        async with self._first if self._failures else nullcontext():
            if self._failures:
                if self.remaining:
                    await sleep(self.remaining)
                yield self._note(self._failures)
                return
        yield self._note(0)

    def _note(self, before: int) -> Callable[[Limit | None], None]:
        def note(limit: Limit | None) -> None:
            if limit is None:
                self._failures = 0
            elif self._failures <= before:
                self._failures += 1
                wait = limit.seconds or backoff_s(self._failures)  # "0" of an endpoint that still refuses is no wait
                if self._failures > _BELIEVED:
                    wait = max(wait, backoff_s(self._failures - _BELIEVED))
                self._until = asyncio.get_running_loop().time() + wait

        return note
