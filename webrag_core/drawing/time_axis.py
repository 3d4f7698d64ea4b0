"""A line of time: where a moment lies, and at which moments it is marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

_MOST_TICKS = 3  # as many dates as fit beside each other
_STEPS: tuple[tuple[str, int], ...] = (
    ("minutes", 1),
    ("minutes", 10),
    ("hours", 1),
    ("hours", 6),
    ("days", 1),
    ("days", 2),
    ("days", 7),
    ("months", 1),
    ("months", 3),
    ("months", 6),
    ("months", 12),
    ("months", 24),
    ("months", 60),
    ("months", 120),
)
_FORMATS = {"minutes": "%H:%M", "hours": "%m-%d %H:%M", "days": "%Y-%m-%d", "months": "%Y-%m"}


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """From `first` to `last`, both of one time zone, as pixels from `left` to `right`."""

    first: datetime
    last: datetime
    left: float
    right: float

    def x(self, moment: datetime) -> float:
        """Where a moment lies; what is outside lies at an end. All of no time lies in the middle."""
        length = (self.last - self.first).total_seconds()
        share = (moment - self.first).total_seconds() / length if length else 0.5
        return self.left + min(1.0, max(0.0, share)) * (self.right - self.left)

    def ticks(self) -> list[tuple[datetime, str]]:
        """Up to three round moments on it with their names; the first one where there is none that is round."""
        for unit, count in _STEPS:
            name = "%Y" if unit == "months" and count >= 12 else _FORMATS[unit]
            ticks = list[tuple[datetime, str]]()
            for moment in _moments(self.first, unit, count):
                if moment > self.last or len(ticks) > _MOST_TICKS:
                    break
                if moment >= self.first:
                    ticks.append((moment, moment.strftime(name)))
            if 0 < len(ticks) <= _MOST_TICKS:
                return ticks
        return [(self.first, self.first.strftime("%Y-%m-%d %H:%M"))]


def _moments(first: datetime, unit: str, count: int) -> Iterator[datetime]:
    """Round moments, the first of them not after `first`, until the calendar ends."""
    at = first.replace(second=0, microsecond=0)
    try:
        if unit == "months":
            months = (first.year * 12 + first.month - 1) // count * count
            while True:
                yield at.replace(year=months // 12, month=months % 12 + 1, day=1, hour=0, minute=0)
                months += count
        if unit != "minutes":
            at = at.replace(minute=0)
        if unit == "days":
            at = at.replace(hour=0)
        at -= timedelta(minutes=at.minute % count if unit == "minutes" else 0)
        at -= timedelta(hours=at.hour % count if unit == "hours" else 0)
        while True:
            yield at
            at += timedelta(**{unit: count})
    except (OverflowError, ValueError):
        return
