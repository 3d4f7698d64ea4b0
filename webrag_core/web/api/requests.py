"""What the endpoints take. Unknown fields are refused, and no value is turned into another type."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from webrag_core.application.inputs import LONGEST, At, Date, Number, Time, Url, check_date
from webrag_core.history.as_of import AsOf
from webrag_core.retrieval.models import Contract

_LISTED = 200
_BIGINT = 2**63 - 1

Limit = Annotated[int, Field(ge=1, le=_LISTED, description="Most items of one page")]
Offset = Annotated[int, Field(ge=0, le=_BIGINT, description="Items before this page")]


class Nothing(Contract):
    """No parameters."""


class AnswersQuery(Contract):
    """Which of the stored answers."""

    limit: Limit = 50
    before: Annotated[
        Number | None, Field(description="Only answers with a lower number: `next` of the page before")
    ] = None
    every_run: Annotated[bool, Field(description="Also runs that gathered evidence for others, and failed ones")] = (
        False
    )


class AnswerQuery(Contract):
    """One stored answer."""

    number: Number


class HistoryQuery(Contract):
    """The past of a stored page."""

    url: Url
    at: At = None
    time: Time = "seen"
    limit: Annotated[Limit, Field(description="Most periods, the latest")] = 50

    def as_of(self) -> AsOf | None:
        """The time that is asked about. Raises InvalidInputError."""
        check_date(self.at, self.time)
        return None if self.at is None else AsOf.parse(self.at, "at")


class ChangesQuery(Contract):
    """Changes of a page, by its URL, or of a source, by its key."""

    target: Annotated[str, Field(min_length=1, max_length=LONGEST["url"])]
    since: Date | None = None
    until: Date | None = None
    limit: Limit = 50
    offset: Offset = 0


class SourcesQuery(Contract):
    """Which of the sources, by key."""

    limit: Limit = 50
    offset: Offset = 0
