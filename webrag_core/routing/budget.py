"""One ledger of what an answer may still spend: seconds, and exchanges with a chat model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from webrag_core.providers.chat import ChatAllowance, chat_allowance
from webrag_core.routing.plan import Budget
from webrag_core.store.spending import Meter, metering


class Ledger:
    """What an answer has spent since it began. Every task of it asks before it begins, every exchange with a chat model
    counts, whoever has it."""

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic, *, reserved: float = 0.0) -> None:
        """`reserved` seconds at the end belong to the composer: no task takes them."""
        self.budget = budget
        self._reserved = reserved
        self._clock = clock
        self._ends = clock() + budget.seconds
        self.chat = ChatAllowance(budget.chat_calls)
        self.meter = Meter()

    @property
    def seconds_left(self) -> float:
        """Seconds until the answer has to be there; 0 after that."""
        return max(0.0, self._ends - self._clock())

    @property
    def seconds_for_tasks(self) -> float:
        """Seconds that a task may still take; 0 after them."""
        return max(0.0, self.seconds_left - self._reserved)

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Count every exchange with a chat model within the block, and what is asked of any endpoint."""
        token = chat_allowance.set(self.chat)
        try:
            with metering(self.meter):
                yield
        finally:
            chat_allowance.reset(token)
