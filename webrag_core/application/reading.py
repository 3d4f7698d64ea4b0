"""What a user can read of the corpus. Nothing is fetched, and nothing but the database is needed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, Field

from webrag_core.acquisition.urls import canonicalise
from webrag_core.answering.models import Answer
from webrag_core.answering.proof.recheck import recheck
from webrag_core.answering.stored import load_answer
from webrag_core.application.inputs import LONGEST, At, Date, Name, Number, Operation, Time, Url, check_date
from webrag_core.application.reach import Reach
from webrag_core.corpus.sources import Source, count_sources, find_source, list_sources
from webrag_core.corpus.status import (
    CorpusStatus,
    FailedPage,
    SourceStatus,
    corpus_status,
    source_statuses,
)
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.errors import NotStoredError
from webrag_core.feedback.gaps import Gap, list_gaps
from webrag_core.foreign_values import LARGEST_NUMBER
from webrag_core.history import compare, conversations, pages
from webrag_core.history.answers import OpenedAnswer, StoredAnswer, find_answer, list_answers, open_answer
from webrag_core.history.as_of import AsOf
from webrag_core.history.changed_answers import ChangedAnswer, changed_answers
from webrag_core.history.citations import CitationState, each_citation_state
from webrag_core.history.latest_changes import latest_changes
from webrag_core.history.models import PageAt, PageChange, PageHistory
from webrag_core.orchestration.answers import broken_citations
from webrag_core.retrieval.dates import moments
from webrag_core.retrieval.models import Contract
from webrag_core.store.database import Database

if TYPE_CHECKING:
    from webrag_core.application.services import Services

_LISTED = 200
_GAPS = timedelta(weeks=4)

Limit = Annotated[int, Field(ge=1, le=_LISTED, description="Most items of one page")]
Offset = Annotated[int, Field(ge=0, le=LARGEST_NUMBER, description="Items before this page")]
Version = Annotated[Date | None, Field(description="Its number, or a date")]


class AnswerList(Contract):
    """The latest answers first. `next` is `before` of the next page, None on the last."""

    answers: list[StoredAnswer]
    next: int | None


class ConversationList(Contract):
    """The latest conversations first. `next` is `before` of the next page, None on the last."""

    conversations: list[conversations.ConversationSummary]
    next: int | None


class AnswerReply(Contract):
    """A stored answer: `answer` in prose as it was given (None for a run of evidence), and what each of its quotes
    is today."""

    run: StoredAnswer
    answer: Answer | None
    citations: list[CitationState]

    @property
    def opened(self) -> OpenedAnswer:
        """The run with its quotes."""
        return OpenedAnswer(answer=self.run, citations=self.citations)


class HistoryReply(Contract):
    """The latest periods of a page in order, and with `at` what it said then; `periods` counts all of them."""

    history: PageHistory
    periods: int
    at: PageAt | None


class ChangeList(Contract):
    """Changes, oldest first; `total` counts those of all pages."""

    changes: list[PageChange]
    total: int


class LatestChangeList(Contract):
    """Changes, the latest first."""

    changes: list[PageChange]


class ChangedAnswerList(Contract):
    """Answers whose quotes changed, those that were found so last first."""

    answers: list[ChangedAnswer]


class SourceReply(Contract):
    """A source, and how fresh its pages are: `due` are those whose next check has come, `held`
    those of which a new text is held back, `last_checked` is the latest attempt at any, `last_answered` the latest
    that gave a text. Where no page answered the last attempt, `failing` is its reason, `failed_at` its time.
    `attached`: somebody did; others come from answers. `refresh_hours` None: as the settings say.
    `name`: what people call it; None = as its start page is titled. `owners`: whom alerts name."""

    key: str
    seed_url: str | None
    attached: bool
    declared: bool
    paused: bool
    page_limit: int | None
    refresh_hours: float | None
    watch_minutes: float | None
    name: str | None
    owners: list[str]
    documents: int
    ready: int
    failed: int
    gone: int
    due: int
    held: int
    tokens: int
    last_checked: datetime | None
    last_answered: datetime | None
    failed_at: datetime | None
    failing: str | None

    @classmethod
    def of(cls, source: Source, status: SourceStatus) -> SourceReply:
        """What is known of a source; the file that declares it is the server's own business."""
        return cls(
            key=source.key,
            seed_url=source.seed_url,
            attached=source.attached,
            declared=source.declared_in is not None,
            paused=source.paused,
            page_limit=source.page_limit,
            refresh_hours=source.refresh_hours,
            watch_minutes=source.watch_minutes,
            name=source.name,
            owners=source.owners,
            documents=status.documents,
            ready=status.ready,
            failed=status.failed,
            gone=status.gone,
            due=status.due,
            held=status.held,
            tokens=status.tokens,
            last_checked=status.last_checked,
            last_answered=status.last_answered,
            failed_at=status.failed_at,
            failing=status.failing,
        )


class SourceList(Contract):
    """Sources by key; `total` counts all of them."""

    sources: list[SourceReply]
    total: int


class Waiting(Contract):
    """An endpoint that failed again and again, and is not asked before `retry_at`."""

    name: str
    failures: int
    retry_at: datetime


class StatusReply(Contract):
    """The corpus in numbers. `failures` counts pages by the reason why they have no text; `failed_pages` are those of
    them that were tried last."""

    sources: int
    documents: int
    ready: int
    failed: int
    gone: int
    due: int
    passages: int
    tokens: int
    answers: int
    failures: dict[str, int]
    failed_pages: list[FailedPage]
    embedding_model: str | None
    database_bytes: int
    waiting: list[Waiting]

    @classmethod
    def of(cls, status: CorpusStatus) -> StatusReply:
        """The sums over all sources."""
        each = status.sources
        return cls(
            sources=len(each),
            documents=sum(source.documents for source in each),
            ready=sum(source.ready for source in each),
            failed=sum(source.failed for source in each),
            gone=sum(source.gone for source in each),
            due=sum(source.due for source in each),
            passages=sum(source.parents for source in each),
            tokens=sum(source.tokens for source in each),
            answers=status.answers,
            failures=status.failures,
            failed_pages=status.failed_pages,
            embedding_model=status.embedding_model,
            database_bytes=status.database_bytes,
            waiting=[
                Waiting(name=breaker.name, failures=breaker.failures, retry_at=breaker.retry_at)
                for breaker in status.breakers
                if breaker.retry_at is not None
            ],
        )


class Reading(Operation):
    """An operation that only reads what is stored."""

    async def read(self, database: Database) -> BaseModel:
        """Do it, where no more of a corpus is open than its database. Raises a WebragError."""
        raise NotImplementedError

    async def run(self, services: Services) -> BaseModel:
        """Do it. Raises a WebragError."""
        return await self.read(services.corpus.database)


class ListAnswers(Reading):
    """Which of the stored answers, the latest first."""

    limit: Limit = 50
    before: Annotated[
        Number | None, Field(description="Only answers with a lower number: `next` of the page before")
    ] = None
    every_run: Annotated[bool, Field(description="Also runs that gathered evidence for others, and failed ones")] = (
        False
    )

    async def read(self, database: Database) -> AnswerList:
        """List them."""
        listed = await list_answers(database, limit=self.limit + 1, every_run=self.every_run, before=self.before)
        shown = listed[: self.limit]
        return AnswerList(answers=shown, next=shown[-1].answer_id if len(listed) > len(shown) else None)


class OpenAnswer(Reading):
    """One stored answer, by its number. There is none with a number out of the bounds."""

    number: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": LARGEST_NUMBER})]

    async def read(self, database: Database) -> AnswerReply:
        """Open it with the state of its quotes today. Raises NotStoredError when there is none with this number."""
        opened = await open_answer(database, self.number)
        async with database.connection() as connection:
            prose = await load_answer(connection, self.number) if opened.is_prose else None
        return AnswerReply(run=opened.answer, answer=prose, citations=opened.citations)


class ListConversations(Reading):
    """Which of the conversations, the latest first."""

    limit: Limit = 50
    before: Annotated[
        Number | None, Field(description="Only those whose latest answer is older: `next` of the page before")
    ] = None

    async def read(self, database: Database) -> ConversationList:
        """List them."""
        listed = await conversations.list_conversations(database, limit=self.limit + 1, before=self.before)
        shown = listed[: self.limit]
        after = shown[-1].latest_answer if len(listed) > len(shown) else None
        return ConversationList(conversations=shown, next=after)


class OpenConversation(Reading):
    """The conversation that an answer is of, by the answer's number."""

    number: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": LARGEST_NUMBER})]

    async def read(self, database: Database) -> conversations.Conversation:
        """Open it. Raises NotStoredError when there is no answer with this number."""
        return await conversations.open_conversation(database, self.number)


class GapList(Contract):
    """What the corpus could not answer, the latest week first."""

    gaps: list[Gap]


class ListGaps(Reading):
    """Questions that were refused, answered low or marked wrong, by source and week."""

    since: Annotated[Date | None, Field(description="Asked then or later; unset = in the last four weeks")] = None
    source: Annotated[Name | None, Field(description="Only of this stored source, by key")] = None
    limit: Limit = _LISTED

    def check(self) -> None:
        """Raise InvalidInputError."""
        moments(self.since, None)

    async def read(self, database: Database) -> GapList:
        """List them."""
        since = moments(self.since, None)[0] or datetime.now(UTC) - _GAPS
        async with database.connection() as connection:
            return GapList(gaps=await list_gaps(connection, since=since, source=self.source, limit=self.limit))


class CitationList(Contract):
    """Quotes, those of the newest answers first, with what became of each."""

    citations: list[CitationState]


class Citations(Reading):
    """Whether the quotes of answers still stand on their pages."""

    answers: Annotated[tuple[Number, ...] | None, Field(description="Only of these, by number; unset = of all")] = None
    changed: Annotated[bool, Field(description="Only those that are not valid any more")] = False

    async def each(self, database: Database) -> AsyncIterator[CitationState]:
        """One after the other, `changed` or not: of all quotes only a part is in memory. Raises NotStoredError for an
        answer that there is not."""
        for number in self.answers or ():
            await find_answer(database, number)
        async for state in each_citation_state(database, answers=self.answers):
            yield state

    def shows(self, state: CitationState) -> bool:
        """Whether it is requested."""
        return not self.changed or state.state != "valid"

    async def read(self, database: Database) -> CitationList:
        """List them. Raises as `each`."""
        return CitationList(citations=[state async for state in self.each(database) if self.shows(state)])


class History(Reading):
    """The past of a stored page."""

    url: Url
    at: At = None
    time: Time = "seen"
    limit: Annotated[Limit, Field(description="Most periods, the latest")] = 50

    def check(self) -> None:
        """Raise InvalidInputError, FetchError(INVALID_URL)."""
        canonicalise(self.url)
        self._as_of()

    async def _narrowed(self, reach: Reach, database: Database) -> Self:
        """This page, if it is within reach. Raises OutOfReachError, FetchError."""
        async with database.connection() as connection:
            await reach.require_page(connection, self.url)
        return self

    async def versions(self, database: Database) -> PageHistory:
        """All that is known of it, whatever the limit. Raises NotStoredError for a page of which nothing is."""
        return await pages.versions(database, self.url)

    async def then(self, database: Database) -> PageAt:
        """What it said at the time, by default now. Raises as `versions`."""
        return await pages.page_at(database, self.url, self._as_of() or AsOf.now(), self.time)

    async def read(self, database: Database) -> HistoryReply:
        """Its latest periods, and what it said then. Raises as `versions`."""
        latest = await pages.versions(database, self.url, last=self.limit)
        async with database.connection() as connection:
            count = await pages.count_periods(connection, self.url)
        return HistoryReply(history=latest, periods=count, at=None if self.at is None else await self.then(database))

    def _as_of(self) -> AsOf | None:
        check_date(self.at, self.time)
        return None if self.at is None else AsOf.parse(self.at, "at")


class Compare(Reading):
    """Two versions of a stored page: without them the last two texts that are kept."""

    url: Url
    before: Version = None
    after: Version = None

    async def _narrowed(self, reach: Reach, database: Database) -> Self:
        """This page, if it is within reach. Raises OutOfReachError, FetchError."""
        async with database.connection() as connection:
            await reach.require_page(connection, self.url)
        return self

    async def read(self, database: Database) -> compare.PageComparison:
        """What changed from one to the other. Raises InvalidInputError for what is not stored or kept, FetchError."""
        before, after = self.before, self.after
        async with database.connection() as connection:
            if before is None or after is None:
                story = await pages.seen_history(connection, self.url)
                pair = story.last_two()
                if pair is None:
                    raise NotStoredError(f"fewer than two texts of {story.url} are kept: there is nothing to compare")
                before, after = before or pair[0], after or pair[1]
            return await compare.compare(connection, self.url, before, after)


class Changes(Reading):
    """Changes of a page, by its URL, or of a source, by its key."""

    target: Annotated[str, Field(min_length=1, max_length=LONGEST["url"])]
    since: Date | None = None
    until: Date | None = None
    limit: Limit = 50
    offset: Offset = 0

    def check(self) -> None:
        """Raise InvalidInputError."""
        moments(self.since, self.until)

    async def _narrowed(self, reach: Reach, database: Database) -> Self:
        """This page or source, if it is within reach. Raises OutOfReachError, FetchError."""
        if "://" not in self.target:
            reach.require(self.target.strip())
            return self
        async with database.connection() as connection:
            await reach.require_page(connection, self.target)
        return self

    async def read(self, database: Database) -> ChangeList:
        """List them, the oldest first. Raises NotStoredError for a page or source that is not stored."""
        since, until = moments(self.since, self.until)
        async with database.connection() as connection:
            rows = await pages.changes(
                connection, self.target, since=since, until=until, limit=self.limit, offset=self.offset
            )
            total = await pages.count_changes(connection, self.target, since=since, until=until)
        return ChangeList(changes=rows, total=total)

    async def every(self, database: Database) -> ChangeList:
        """All of them, whatever the limit. Raises as `read`."""
        since, until = moments(self.since, self.until)
        async with database.connection() as connection:
            rows = await pages.changes(connection, self.target, since=since, until=until)
        return ChangeList(changes=rows, total=len(rows))


class LatestChanges(Reading):
    """What changed last in the pages of a source."""

    source: Annotated[Name, Field(description="Its key")]
    limit: Limit = 50

    async def _narrowed(self, reach: Reach, database: Database) -> Self:
        """This source, if it is within reach. Raises OutOfReachError."""
        reach.require(self.source)
        return self

    async def read(self, database: Database) -> LatestChangeList:
        """List it, the latest first. Raises NotStoredError where there is no such source."""
        async with database.connection() as connection:
            source = await find_source(connection, self.source)
            return LatestChangeList(changes=await latest_changes(connection, source.key, limit=self.limit))


class ChangedAnswers(Reading):
    """Answers whose quotes changed since, or are of pages that are gone."""

    limit: Limit = 50

    async def read(self, database: Database) -> ChangedAnswerList:
        """List them, those that were found so last first."""
        return ChangedAnswerList(answers=await changed_answers(database, limit=self.limit))


class ListSources(Reading):
    """Which of the sources, by key."""

    limit: Limit = 50
    offset: Offset = 0
    _reach: Reach = Reach()

    async def _narrowed(self, reach: Reach, database: Database) -> Self:
        """List those within reach alone."""
        narrowed = self.model_copy()
        narrowed._reach = reach
        return narrowed

    async def read(self, database: Database) -> SourceList:
        """List them with the freshness of their pages."""
        async with database.connection() as connection:
            keys = await self._reach.keys(connection)
            shown = await list_sources(connection, keys, limit=self.limit, offset=self.offset)
            counts = {status.key: status for status in await source_statuses(connection, [s.key for s in shown])}
            total = await count_sources(connection) if keys is None else len(keys)
        listed = [SourceReply.of(source, counts[source.key]) for source in shown if source.key in counts]
        return SourceList(sources=listed, total=total)


class Status(Reading):
    """What is stored, in numbers."""

    failed: Annotated[bool, Field(description="Name every page that failed")] = False

    async def read(self, database: Database) -> StatusReply:
        """Count it."""
        async with database.connection() as connection:
            return StatusReply.of(await corpus_status(connection, every_failure=self.failed))


class Verification(Contract):
    """How much was checked, by kind, and each violation: its rule, where, and what stands there."""

    counts: dict[str, int]
    violations: list[dict[str, str]]


class Verify(Reading):
    """Every invariant: hashes, slices, counts, vectors, quotes, proofs."""

    async def read(self, database: Database) -> Verification:
        """Check them."""
        counted = VerificationCounts()
        violations = [asdict(violation) async for violation in verify_corpus(database, counted)]
        async with database.connection() as connection:
            citations, broken = await broken_citations(connection)
            proofs = [proof async for proof in recheck(connection)]
        violations += [_violation("proof", where, problem) for where, problem in proofs if problem]
        violations += [_violation("citation", where, "the quote differs") for where in broken]
        return Verification(
            counts={**asdict(counted), "citations": citations, "sentences": len(proofs)}, violations=violations
        )


def _violation(rule: str, where: str, problem: str) -> dict[str, str]:
    return {"rule": rule, "where": where, "found": problem}
