"""What the endpoints answer where the core has no model of it."""

from __future__ import annotations

from datetime import datetime

from webrag_core.answering.models import Answer
from webrag_core.corpus.sources import Source
from webrag_core.corpus.status import CorpusStatus, SourceStatus
from webrag_core.history.answers import StoredAnswer
from webrag_core.history.citations import CitationState
from webrag_core.history.models import PageAt, PageChange, PageHistory
from webrag_core.retrieval.models import Contract


class AnswerList(Contract):
    """The latest answers first. `next` is `before` of the next page, None on the last."""

    answers: list[StoredAnswer]
    next: int | None


class AnswerReply(Contract):
    """A stored answer: `answer` in prose as it was given (None for a run of evidence), and what each of its quotes
    is today."""

    run: StoredAnswer
    answer: Answer | None
    citations: list[CitationState]


class HistoryReply(Contract):
    """The latest periods of a page in order, and with `at` what it said then; `periods` counts all of them."""

    history: PageHistory
    periods: int
    at: PageAt | None


class ChangeList(Contract):
    """Changes, oldest first; `total` counts those of all pages."""

    changes: list[PageChange]
    total: int


class SourceReply(Contract):
    """A source, and how fresh its pages are: `due` are those whose next check has come, `last_checked` is the latest
    check of any. `attached`: somebody did; others come from answers. `refresh_hours` None: as the settings say."""

    key: str
    seed_url: str | None
    attached: bool
    declared: bool
    paused: bool
    page_limit: int | None
    refresh_hours: float | None
    watch_minutes: float | None
    documents: int
    ready: int
    failed: int
    gone: int
    due: int
    tokens: int
    last_checked: datetime | None

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
            documents=status.documents,
            ready=status.ready,
            failed=status.failed,
            gone=status.gone,
            due=status.due,
            tokens=status.tokens,
            last_checked=status.last_checked,
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
    """The corpus in numbers. `failures` counts pages by the reason why they have no text."""

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
    embedding_model: str | None
    database_bytes: int
    waiting: list[Waiting]

    @classmethod
    def of(cls, status: CorpusStatus) -> StatusReply:
        """The sums over all sources."""
        each = status.sources
        return cls(
            sources=len(each),
            documents=sum(one.documents for one in each),
            ready=sum(one.ready for one in each),
            failed=sum(one.failed for one in each),
            gone=sum(one.gone for one in each),
            due=sum(one.due for one in each),
            passages=sum(one.parents for one in each),
            tokens=sum(one.tokens for one in each),
            answers=status.answers,
            failures=status.failures,
            embedding_model=status.embedding_model,
            database_bytes=status.database_bytes,
            waiting=[
                Waiting(name=one.name, failures=one.failures, retry_at=one.retry_at)
                for one in status.breakers
                if one.retry_at is not None
            ],
        )
