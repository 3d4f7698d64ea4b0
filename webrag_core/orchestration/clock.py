"""The deadline of a run, and the wall time of its phases."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from webrag_core.orchestration.models import OrchestrationTiming


class Clock:
    """The deadline of a run and the wall time of its phases."""

    def __init__(self, seconds: float, limit: str) -> None:
        """`limit` says which limit the seconds are, for those whom it stops."""
        self._limit = limit
        self._begun = time.monotonic()
        self._deadline = self._begun + seconds
        self.timing = OrchestrationTiming()

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self._deadline - time.monotonic()

    @property
    def out_of_time(self) -> str | None:
        """The limit that is reached; None before the deadline."""
        return self._limit if self.seconds_left <= 0 else None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the duration of the block to the phase `name` of `timing`."""
        begun = time.monotonic()
        try:
            yield
        finally:
            setattr(self.timing, name, getattr(self.timing, name) + (time.monotonic() - begun) * 1000)

    def stop(self) -> OrchestrationTiming:
        """Set the total and return all times."""
        self.timing.total_ms = (time.monotonic() - self._begun) * 1000
        return self.timing
