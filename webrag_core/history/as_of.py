"""A date that is asked about: an instant, or a whole day, month or year."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from webrag_core.retrieval.dates import moment

_INSTANT = timedelta(microseconds=1)  # the resolution of stored times


@dataclass(frozen=True, slots=True)
class AsOf:
    """From `start` to `end`, both included and equal for an instant. `text` is the date as it was written.

    Of a day, what counts is the last that a page said on it.
    """

    start: datetime
    end: datetime
    text: str

    @classmethod
    def parse(cls, text: str, name: str = "--at") -> AsOf:
        """Read `now`, `2024`, `2024-05`, `2024-05-17` or a time; without a zone it is UTC.

        Raises InvalidInputError naming the argument.
        """
        written = text.strip()
        if written.lower() == "now":
            return cls.now()
        start, end = moment(written, name), moment(written, name, end=True)
        return cls(start, max(start, end - _INSTANT), written)

    @classmethod
    def now(cls) -> AsOf:
        """This instant."""
        now = datetime.now(UTC)
        return cls(now, now, "now")

    @property
    def in_future(self) -> bool:
        """Whether it begins after now."""
        return self.start > datetime.now(UTC)
