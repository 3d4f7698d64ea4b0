"""What endpoints were asked for: by the work at hand, and by day in the table `spending`.

Whatever asks an endpoint calls `Spending.add`. Work that wants to know counts within `metering`; work inside of it is
counted by both. Amounts of a day wait in memory until `flush`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from datetime import UTC, date, datetime

from psycopg import AsyncConnection

from webrag_core.errors import StoreError

logger = logging.getLogger(__name__)

_ADD = """
INSERT INTO spending (day, provider, requests, untold, input_tokens, output_tokens, pages)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (day, provider) DO UPDATE SET
    requests = spending.requests + excluded.requests, untold = spending.untold + excluded.untold,
    input_tokens = spending.input_tokens + excluded.input_tokens,
    output_tokens = spending.output_tokens + excluded.output_tokens, pages = spending.pages + excluded.pages
"""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Answered requests, those of a model whose tokens the endpoint did not tell, tokens, and pages delivered."""

    requests: int = 0
    untold: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    pages: int = 0

    def __add__(self, other: Amounts) -> Amounts:
        """The sum, number by number."""
        return Amounts(*(mine + others for mine, others in zip(astuple(self), astuple(other), strict=True)))


class Meter:
    """What one piece of work has spent so far, by provider."""

    def __init__(self, around: Meter | None = None) -> None:
        self.amounts: dict[str, Amounts] = {}
        self._around = around

    @property
    def outermost(self) -> Meter:
        """That of the whole answer, of which this work is a part."""
        return self if self._around is None else self._around.outermost

    def add(self, provider: str, amounts: Amounts) -> None:
        """Count amounts here and in the work around."""
        self.amounts[provider] = self.amounts.get(provider, Amounts()) + amounts
        if self._around is not None:
            self._around.add(provider, amounts)


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metering(meter: Meter | None = None) -> Iterator[Meter]:
    """Count what is spent within the block, tasks that it starts included, by `meter` or by a new one."""
    meter = meter or Meter(_METER.get())
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


class Spending:
    """The days of a database. Safe within one event loop."""

    def __init__(self) -> None:
        self._pending: dict[tuple[date, str], Amounts] = {}

    def add(self, provider: str, amounts: Amounts) -> None:
        """Count amounts for today, and for the work at hand."""
        key = datetime.now(UTC).date(), provider
        self._pending[key] = self._pending.get(key, Amounts()) + amounts
        meter = _METER.get()
        if meter is not None:
            meter.add(provider, amounts)

    async def flush(self, transaction: Callable[[], AbstractAsyncContextManager[AsyncConnection]]) -> None:
        """Write what is pending, in one `transaction` of the database. Where that cannot be reached it stays pending,
        with a warning in the log."""
        pending, self._pending = self._pending, {}
        if not pending:
            return
        try:
            async with transaction() as connection:
                for (day, provider), amounts in sorted(pending.items()):
                    await connection.execute(_ADD, (day, provider, *astuple(amounts)))
        except StoreError as error:
            logger.warning("what was spent is not written yet: %s", error.message)
            for key, amounts in pending.items():
                self._pending[key] = self._pending.get(key, Amounts()) + amounts


def total(parts: Iterable[Mapping[str, Amounts]]) -> dict[str, Amounts]:
    """The sum of amounts, by provider."""
    sums: dict[str, Amounts] = {}
    for amounts in parts:
        for provider, amount in amounts.items():
            sums[provider] = sums.get(provider, Amounts()) + amount
    return sums


async def spent_since(connection: AsyncConnection, first: date) -> dict[date, dict[str, Amounts]]:
    """The amounts of each day from `first` on, by provider; days without any are absent."""
    cursor = await connection.execute(
        "SELECT day, provider, requests, untold, input_tokens, output_tokens, pages FROM spending"
        " WHERE day >= %s ORDER BY day, provider",
        (first,),
    )
    days: dict[date, dict[str, Amounts]] = {}
    for day, provider, *amounts in await cursor.fetchall():
        days.setdefault(day, {})[provider] = Amounts(*map(int, amounts))
    return days
