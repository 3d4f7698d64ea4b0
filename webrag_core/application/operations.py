"""What a user can do, each with its parameters, their bounds and their words. The faces read these from what comes in,
run them, and show what comes of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BeforeValidator, Field

from webrag_core.acquisition.urls import canonicalise
from webrag_core.application.inputs import (
    LONGEST,
    MOST_CONSTRAINTS,
    MOST_PLACES,
    MOST_RESULTS,
    At,
    Date,
    Intent,
    Name,
    Number,
    Operation,
    Place,
    RetrievalMode,
    Time,
    Url,
    check_date,
    check_length,
    check_list,
)
from webrag_core.application.parameters import AskParameters, EvidenceParameters, Years
from webrag_core.application.reach import Reach
from webrag_core.application.services import Services
from webrag_core.config.expansion import ExpansionSettings
from webrag_core.errors import InvalidInputError
from webrag_core.feedback.models import LONGEST_QUOTE, LONGEST_TEXT, ActorKind, Better, Feedback, Kind, NewFeedback
from webrag_core.history.as_of import AsOf
from webrag_core.history.models import TimeAxis
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.request import AnswerRequest, check_question, reranker_instruction
from webrag_core.retrieval.dates import stated_range
from webrag_core.retrieval.filters import document_types
from webrag_core.retrieval.request import (
    MAX_FORMULATIONS,
    DocumentType,
    Fusion,
    Pattern,
    ScopeFilter,
    SearchRequest,
    check_years,
)
from webrag_core.retrieval.search import CorpusSearch, search
from webrag_core.routing.question import Question
from webrag_core.store.database import Database

# a command imports what its operation does when it does it, while its database starts
if TYPE_CHECKING:
    from webrag_core.answering.events import AnswerEvent
    from webrag_core.answering.models import Answer
    from webrag_core.orchestration.engine import Progress
    from webrag_core.orchestration.models import OrchestrationResult
    from webrag_core.routing.plan import ExecutionPlan

MODELS = "models"
"""The actor whose feedback comes from programs."""


async def search_as_of(
    corpus: Corpus,
    request: SearchRequest,
    at: str | None,
    *,
    time: TimeAxis = "seen",
    instruction: str | None = None,
) -> CorpusSearch:
    """Search what is stored, or with `at` what was (see `history.as_of`). `instruction` is for the reranker. Raises
    InvalidInputError."""
    if at is None:
        return await search(corpus, request, instruction=instruction)
    from webrag_core.history.past_search import search_at

    return await search_at(corpus, request, AsOf.parse(at, "at"), time=time, instruction=instruction)


class Ask(AskParameters):
    """A question, and where to look: at `urls` and what they link to, else among the stored pages (of `sources`)."""

    def as_question(self) -> Question:
        """The question, checked. Raises InvalidInputError, GuardrailsViolationError, FetchError(INVALID_URL)."""
        from webrag_core.answering import guard

        guard.check_input(self.question)
        check_question(self.question)
        check_date(self.at, self.time)
        check_list("constraint", self.constraints, MOST_CONSTRAINTS)
        check_years(self.years)
        if self.max_age is not None and not self.urls:
            raise InvalidInputError("max_age is about pages that are fetched for the answer: it needs urls")
        is_dated = stated_range(self.since, self.until) is not None or bool(self.years)
        if is_dated and self.at is not None:
            raise InvalidInputError("at says when the pages are read, since, until and years which pages: give either")
        return Question(
            self.question,
            urls=tuple(canonicalise(url) for url in self.urls),
            sources=self.sources,
            at=None if self.at is None else AsOf.parse(self.at, "at").text,
            time=self.time,
            since=self.since,
            until=self.until,
            years=self.years,
            expansion_budget=self.expansion_budget,
            form=self.form,
            intent=self.intent,
            constraints=self.constraints,
            max_age=self.max_age,
            follows=self.follows,
            carry=self.carry,
        )

    async def run(self, services: Services, progress: Progress | None = None) -> Answer:
        """Answer in prose."""
        return await services.manager.answer(self.as_question(), progress)

    def stream(self, services: Services) -> AsyncGenerator[AnswerEvent]:
        """As `run`, event by event, see `Manager.stream`."""
        return services.manager.stream(self.as_question())

    async def plan(self, services: Services) -> ExecutionPlan:
        """What `run` would do; nothing is done."""
        return await services.manager.plan(self.as_question())


class GatherEvidence(EvidenceParameters):
    """A question for evidence, looked for from `urls` on. All fields are those of `AnswerRequest` in the library."""

    def as_request(self, settings: ExpansionSettings) -> AnswerRequest:
        """The engine's request, checked. Raises InvalidInputError, FetchError(INVALID_URL)."""
        check_length("question", self.question)
        check_list("url", self.urls, settings.webrag_max_pages)
        check_list("constraint", self.constraints, MOST_CONSTRAINTS)
        request = AnswerRequest(
            urls=self.urls,
            question=self.question,
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

    async def run(self, services: Services, progress: Progress | None = None) -> OrchestrationResult:
        """Gather evidence."""
        from webrag_core.answering.evidence import conclusion_by

        conclude = conclusion_by(services.settings)
        return await services.engine.run(self.as_request(services.settings), progress, conclude=conclude)


def _named_pattern(name: object) -> object:
    return Pattern.named(name) if isinstance(name, str) else name


def _known_types(names: object) -> object:
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        return names
    return tuple(document_types(names) or ())


class Search(Operation):
    """A search of the stored pages. All filters must match; the values of one are alternatives."""

    question: Annotated[str, Field(max_length=LONGEST["question"], description="A question, or words to search for")]
    intent: Annotated[Intent | None, Field(description="Kind of question, for rerankers that follow instructions")] = (
        None
    )
    pattern: Annotated[
        Pattern, BeforeValidator(_named_pattern), Field(description="How passages are found and ordered")
    ] = Pattern.RERANKED
    formulations: Annotated[tuple[str, ...], Field(max_length=MAX_FORMULATIONS)] = ()
    sources: tuple[Name, ...] | None = None
    urls: Annotated[
        tuple[Place, ...] | None, Field(max_length=MOST_PLACES, description="Only pages at or below these addresses")
    ] = None
    since: Date | None = None
    until: Date | None = None
    years: Years = ()
    languages: Annotated[tuple[Name, ...] | None, Field(max_length=MOST_PLACES)] = None
    types: Annotated[tuple[DocumentType, ...] | None, BeforeValidator(_known_types)] = None
    flags: tuple[Name, ...] | None = None
    fusion: Fusion = "weighted"
    alpha: Annotated[float | None, Field(ge=0, le=1)] = None
    mode: RetrievalMode = "chunk"
    top_k: Annotated[int | None, Field(ge=1, le=MOST_RESULTS, description="Most results; unset = RERANKER_TOP_N")] = (
        None
    )
    context_budget: Annotated[
        int | None, Field(ge=1, description="Most tokens of all passages; unset = RETRIEVAL_CONTEXT_BUDGET")
    ] = None
    at: At = None
    time: Time = "seen"

    def as_request(self) -> SearchRequest:
        """The search, checked. Raises InvalidInputError, FetchError(INVALID_URL)."""
        check_length("question", self.question)
        check_date(self.at, self.time)
        return SearchRequest(
            query=self.question,
            pattern=self.pattern,
            formulations=self.formulations,
            filters=ScopeFilter(
                sources=self.sources,
                url_prefixes=self.urls,
                languages=self.languages,
                types=self.types,
                flags=self.flags,
            ),
            dated=stated_range(self.since, self.until),
            requested_years=self.years,
            fusion=self.fusion,
            alpha=self.alpha,
            mode=self.mode,
            top_k=self.top_k,
            context_budget=self.context_budget,
        )

    def check(self) -> None:
        """Raise InvalidInputError, FetchError(INVALID_URL)."""
        self.as_request()

    async def _narrowed(self, reach: Reach, database: Database) -> Self:
        """Search in the sources within reach alone. Raises OutOfReachError for another one."""
        for name in self.sources or ():
            reach.require(name)
        async with database.connection() as connection:
            keys = await reach.keys(connection) or ()
        # no unknown name: what refuses one lists the sources that there are
        return self.model_copy(update={"sources": tuple(key for key in keys if key in (self.sources or keys))})

    async def run(self, services: Services) -> CorpusSearch:
        """Search."""
        instruction = reranker_instruction(self.intent, (), services.settings)
        return await search_as_of(services.corpus, self.as_request(), self.at, time=self.time, instruction=instruction)


class RecordFeedback(Operation):
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

    def as_feedback(self, actor: str = MODELS, actor_kind: ActorKind = "model") -> NewFeedback:
        """What is to be stored. All models are one actor, whatever they call themselves: names cost nothing here.

        Raises InvalidInputError.
        """
        if self.better_url is None and self.quote is not None:
            raise InvalidInputError("quote needs better_url")
        new = NewFeedback(
            answer_id=self.answer,
            kind=self.kind,
            actor=actor,
            actor_kind=actor_kind,
            sentence=self.sentence,
            citation=self.citation,
            value=self.value,
            text=self.text,
            better=None if self.better_url is None else Better(self.better_url, self.quote),
        )
        new.check()
        return new

    async def run(self, services: Services) -> Feedback:
        """Store it, without weight until an operator accepts it: what sends it may be a model."""
        from webrag_core.feedback.store import record

        return await record(services.corpus.database, self.as_feedback())
