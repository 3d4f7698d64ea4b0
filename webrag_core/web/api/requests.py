"""What the endpoints take. Unknown fields are refused, and no value is turned into another type."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from webrag_core.acquisition.urls import canonicalise
from webrag_core.answering import guard
from webrag_core.config import Settings
from webrag_core.feedback.models import LONGEST_QUOTE, LONGEST_TEXT, Kind, NewFeedback
from webrag_core.history.as_of import AsOf
from webrag_core.history.models import TimeAxis
from webrag_core.mcp_server.requests import (
    LONGEST,
    MOST_CONSTRAINTS,
    MOST_PLACES,
    MOST_RESULTS,
    FeedbackCall,
    Intent,
    RetrievalMode,
    check_date,
    check_length,
    check_list,
)
from webrag_core.orchestration.memory import RunScope
from webrag_core.orchestration.request import AnswerRequest, check_question
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
from webrag_core.routing.question import Form, Question

_LISTED = 200
_BIGINT = 2**63 - 1

Url = Annotated[str, Field(max_length=LONGEST["url"], description="With its scheme, as https://example.org/docs/")]
Place = Annotated[str, Field(max_length=LONGEST["url"], description="A URL or a host, as example.org/docs/")]
Name = Annotated[str, Field(min_length=1, max_length=1_000)]
Date = Annotated[str, Field(max_length=LONGEST["date"])]
At = Annotated[Date | None, Field(description="What the pages said then: 2024, 2024-05-17, a time (UTC) or now")]
Time = Annotated[
    TimeAxis, Field(description="`at` means when a text was seen, or (valid) when it holds by its own words")
]
Number = Annotated[int, Field(ge=1, le=_BIGINT)]
Limit = Annotated[int, Field(ge=1, le=_LISTED, description="Most items of one page")]
Offset = Annotated[int, Field(ge=0, le=_BIGINT, description="Items before this page")]


class AskBody(Contract):
    """A question, and where to look: at `urls` and what they link to, else among the stored pages (of `sources`)."""

    question: Annotated[str, Field(max_length=guard.MAX_QUESTION)]
    urls: Annotated[tuple[Url, ...], Field(description="Start pages; they are fetched unless `at` is set")] = ()
    sources: Annotated[tuple[Name, ...], Field(max_length=1_000, description="Only these stored sources, by key")] = ()
    at: At = None
    time: Time = "seen"
    expansion_budget: Annotated[
        int | None, Field(ge=0, description="Most rounds that follow links; 0 = none, unset = as the question needs")
    ] = None
    form: Annotated[Form | None, Field(description="Of the answer; unset = as the question wants it")] = None

    def as_question(self) -> Question:
        """The question, checked. Raises InvalidInputError, GuardrailsViolationError, FetchError(INVALID_URL)."""
        guard.check_input(self.question)
        check_question(self.question)
        _check_at(self.at, self.time)
        return Question(
            self.question,
            urls=tuple(canonicalise(url) for url in self.urls),
            sources=self.sources,
            at=self.at,
            time=self.time,
            expansion_budget=self.expansion_budget,
            form=self.form,
        )


class AnswerBody(Contract):
    """A question for evidence, looked for from `urls` on. All fields are those of `AnswerRequest` in the library."""

    urls: Annotated[tuple[Url, ...], Field(min_length=1)]
    query: Annotated[str, Field(max_length=LONGEST["query"])]
    intent: Intent | None = None
    known_context: Annotated[str | None, Field(max_length=LONGEST["known_context"])] = None
    constraints: Annotated[tuple[str, ...], Field(max_length=MOST_CONSTRAINTS)] = ()
    expansion_budget: Annotated[
        int | None, Field(ge=0, description="Most rounds that follow links; 0 = none, unset = as the policy decides")
    ] = None
    mode: RetrievalMode = "auto"
    policy: Annotated[str | None, Field(max_length=LONGEST["policy"])] = None
    max_age: Annotated[
        float | None, Field(ge=0, allow_inf_nan=False, description="Seconds; older stored pages are fetched again")
    ] = None
    scope: Annotated[
        RunScope | tuple[Name, ...] | None,
        Field(description="Stored pages that count: of the run, its sources, all, or keys"),
    ] = None
    excluded: Annotated[tuple[Url, ...], Field(max_length=MOST_PLACES)] = ()
    seconds: Annotated[float | None, Field(gt=0, allow_inf_nan=False, description="Time limit of this run")] = None

    def as_request(self, settings: Settings) -> AnswerRequest:
        """The engine's request, checked. Raises InvalidInputError, FetchError(INVALID_URL)."""
        check_length("query", self.query)
        check_list("url", self.urls, settings.webrag_max_pages)
        check_list("constraint", self.constraints, MOST_CONSTRAINTS)
        request = AnswerRequest(
            urls=self.urls,
            query=self.query,
            intent=self.intent,
            known_context=self.known_context,
            constraints=self.constraints,
            expansion_budget=self.expansion_budget,
            mode=self.mode,
            policy=self.policy,
            max_age=self.max_age,
            scope=self.scope,
            excluded=self.excluded,
            seconds=self.seconds,
        )
        request.seeds()
        return request


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


class FeedbackBody(Contract):
    """What somebody says about an answer, about its `sentence` or its `citation` by number, or about all of it."""

    answer: Number
    kind: Kind
    sentence: Number | None = None
    citation: Number | None = None
    value: Annotated[
        int | None, Field(ge=-2, le=2, description="1 or 2 for helpful, else -1 or -2; unset = the mild one")
    ] = None
    text: Annotated[str | None, Field(max_length=LONGEST_TEXT)] = None
    better_url: Url | None = None
    quote: Annotated[str | None, Field(max_length=LONGEST_QUOTE, description="Letter for letter, of better_url")] = None

    def as_feedback(self) -> NewFeedback:
        """What is to be stored. Raises InvalidInputError."""
        return FeedbackCall(**self.model_dump()).feedback()


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
