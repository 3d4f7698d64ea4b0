"""What the endpoints take. Unknown fields are refused, and no value is turned into another type."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from webrag_core.application.inputs import (
    LONGEST,
    MOST_PLACES,
    MOST_RESULTS,
    At,
    Date,
    Name,
    Number,
    Place,
    RetrievalMode,
    Time,
    Url,
    check_date,
    check_length,
)
from webrag_core.history.as_of import AsOf
from webrag_core.history.models import TimeAxis
from webrag_core.retrieval.dates import moments
from webrag_core.retrieval.models import Contract
from webrag_core.retrieval.request import (
    MAX_FORMULATIONS,
    DateRange,
    DocumentType,
    Fusion,
    Pattern,
    ScopeFilter,
    SearchRequest,
)

_LISTED = 200
_BIGINT = 2**63 - 1

Limit = Annotated[int, Field(ge=1, le=_LISTED, description="Most items of one page")]
Offset = Annotated[int, Field(ge=0, le=_BIGINT, description="Items before this page")]


class SearchBody(Contract):
    """A search of the stored pages. All filters must match; the values of one are alternatives."""

    query: Annotated[str, Field(max_length=LONGEST["query"])]
    pattern: Annotated[Pattern, Field(description="How passages are found and ordered")] = Pattern.RERANKED
    formulations: Annotated[tuple[str, ...], Field(max_length=MAX_FORMULATIONS)] = ()
    sources: tuple[Name, ...] | None = None
    urls: Annotated[
        tuple[Place, ...] | None, Field(max_length=MOST_PLACES, description="Only pages at or below these addresses")
    ] = None
    since: Date | None = None
    until: Date | None = None
    years: Annotated[tuple[int, ...], Field(max_length=MOST_PLACES)] = ()
    languages: Annotated[tuple[Name, ...] | None, Field(max_length=MOST_PLACES)] = None
    types: tuple[DocumentType, ...] | None = None
    flags: tuple[Name, ...] | None = None
    fusion: Fusion = "weighted"
    alpha: Annotated[float | None, Field(ge=0, le=1)] = None
    mode: RetrievalMode = "chunk"
    top_k: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = 20
    at: At = None
    time: Time = "seen"

    def as_request(self) -> SearchRequest:
        """The search, checked. Raises InvalidInputError."""
        check_length("query", self.query)
        _check_at(self.at, self.time)
        dates = DateRange(*moments(self.since, self.until))
        return SearchRequest(
            query=self.query,
            pattern=self.pattern,
            formulations=self.formulations,
            filters=ScopeFilter(
                sources=self.sources,
                url_prefixes=self.urls,
                languages=self.languages,
                types=self.types,
                flags=self.flags,
            ),
            dated=None if dates == DateRange() else dates,
            requested_years=self.years,
            fusion=self.fusion,
            alpha=self.alpha,
            mode=self.mode,
            top_k=self.top_k,
        )


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
        return _check_at(self.at, self.time)


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


def _check_at(at: str | None, time: TimeAxis) -> AsOf | None:
    check_date(at, time)
    return None if at is None else AsOf.parse(at, "at")
