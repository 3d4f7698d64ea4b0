"""What tasks bring: evidence, findings, and how each of them ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field

from webrag_core.corpus.quotes import Quote
from webrag_core.judging.verdict import Verdict
from webrag_core.orchestration.models import OrchestrationResult, QueryType
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.models import Contract, RankedChunk, Spelling
from webrag_core.routing.plan import Task
from webrag_core.routing.task_words import task_words

TaskStatus = Literal["success", "empty", "error", "timeout", "skipped", "cancelled"]
"""How a task ended. `empty` is a success with nothing; `skipped` says in its error why it was not asked."""
Outcome = Literal["complete", "degraded", "partial", "failed"]
"""Of a plan: every task that was needed ended well; some were lost; a required one was; all were."""

NOT_NEEDED = "not_needed"
"""Code of a task that was skipped because others had found enough: nothing is lost."""


class WalkStep(Contract):
    """One round of gathering evidence: the pages that were read before its decision, the decision and its reason."""

    round: int
    pages: list[str]
    decision: str
    reason: str


class Finding(Contract):
    """A passage that an agent names as an answer of its own: the slice [char_start, char_end) of a version, with the
    sha256 of its UTF-8 bytes. `label` says what it is, `group` what it is one of, for people."""

    group: str
    label: str
    url: str
    title: str | None
    heading: str | None
    version_id: int
    char_start: int
    char_end: int
    sha256: str

    @classmethod
    def of(
        cls,
        quote: str,
        *,
        group: str,
        label: str,
        url: str,
        title: str | None,
        heading: str | None,
        version_id: int,
        char_start: int,
    ) -> Self:
        """The finding of `quote`, which begins at `char_start` of a version. Raises IntegrityError for an empty one."""
        result = Quote.of(quote, version_id, char_start, char_start + len(quote), offset=char_start)
        return cls(
            group=group,
            label=label,
            url=url,
            title=title,
            heading=heading,
            version_id=result.version_id,
            char_start=result.start,
            char_end=result.end,
            sha256=result.sha256,
        )

    def as_quote(self) -> Quote:
        """What is quoted, without what is known of it."""
        return Quote(self.version_id, self.char_start, self.char_end, self.sha256)


class TaskError(Contract):
    """Why a task ended without a result: a stable `code`, a message for people, and when it is worth trying again."""

    code: str
    message: str
    retry_at: datetime | None = None


@dataclass(slots=True)
class Output:
    """What an agent found. `complete`, in [0, 1], is the probability that the evidence is complete, `top_score` the
    relevance of its best passage; `note` says how far they can be trusted, or why there is nothing.

    `pages` were fetched, in `steps`, by the runs `run_ids`; `look_next` are addresses that were not read. `spellings`
    are the words of the question that were searched for in other letters. `verdict` is that of a judge that has read
    the evidence.
    """

    evidence: list[RankedChunk] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    complete: float = 0.0
    top_score: float = 0.0
    note: str = ""
    parts: list[str] = field(default_factory=list)
    kind: QueryType | None = None
    pages: int = 0
    steps: list[WalkStep] = field(default_factory=list)
    run_ids: list[int] = field(default_factory=list)
    look_next: list[str] = field(default_factory=list)
    warnings: list[Caution] = field(default_factory=list)
    spellings: list[Spelling] = field(default_factory=list)
    verdict: Verdict | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not self.evidence and not self.findings

    @property
    def hosts(self) -> list[str]:
        """Hosts of the pages that were read or that something is quoted from, by name."""
        read = (url for step in self.steps for url in step.pages)
        quoted = (passage.chunk.source_url for passage in self.evidence)
        hosts = (urlsplit(url).hostname for url in (*read, *quoted, *(finding.url for finding in self.findings)))
        return sorted({host for host in hosts if host})

    @classmethod
    def of_run(cls, result: OrchestrationResult) -> Self:
        """The evidence of a finished run of the loop."""
        return cls(
            evidence=list(result.chunks),
            complete=result.probability_complete,
            top_score=max((chunk.reranked_score for chunk in result.chunks), default=0.0),
            note=result.probability_note,
            parts=result.query_analysis.parts,
            kind=result.query_analysis.query_type,
            pages=result.total_urls_ingested,
            steps=[
                WalkStep(
                    round=place,
                    pages=[page.url for page in result.read_documents() if page.round == item.round],
                    decision=item.decision.action,
                    reason=item.decision.reason,
                )
                for place, item in enumerate(result.rounds)
            ],
            run_ids=[] if result.answer_id is None else [result.answer_id],
            look_next=result.look_next,
            verdict=result.rounds[-1].signals.verdict if result.rounds else None,
            warnings=list(result.warnings),
        )


def is_needed(status: TaskStatus, error: TaskError | None) -> bool:
    """False for a task that was skipped because others had found enough."""
    return not (status == "skipped" and error is not None and error.code == NOT_NEEDED)


def is_lost(status: TaskStatus, error: TaskError | None) -> bool:
    """Whether something is missing because a task ended like that."""
    return is_needed(status, error) and status not in ("success", "empty")


@dataclass(slots=True)
class TaskResult:
    """How a task ended, what it brought, and the milliseconds that it took. `cause` is the error behind it."""

    id: str
    status: TaskStatus
    output: Output = field(default_factory=Output)
    error: TaskError | None = None
    milliseconds: float = 0.0
    cause: Exception | None = None

    @property
    def needed(self) -> bool:
        """False for one that was skipped because others had found enough."""
        return is_needed(self.status, self.error)

    @property
    def lost(self) -> bool:
        """Whether something is missing because of it."""
        return is_lost(self.status, self.error)


class TaskReport(Contract):
    """One task of an answer, as its reader sees it. `asked` is what the task is about, in words, `note`
    what its agent says of its findings, or why there is nothing, `sources` the hosts of the pages that it read or
    quotes."""

    iteration: int
    id: str
    agent: str
    kind: str
    asked: str
    status: TaskStatus
    error: TaskError | None = None
    milliseconds: float
    passages: int
    findings: int
    pages: int
    note: str = ""
    sources: list[str] = Field(default_factory=list)

    @property
    def loss(self) -> str:
        """That a lost task brought nothing, without words of a server; "" for any other."""
        return f"{self.agent} brought nothing: {self.status}" if is_lost(self.status, self.error) else ""


def report_of(task: Task, result: TaskResult, iteration: int) -> TaskReport:
    """A task of the plan number `iteration`, as its reader sees it."""
    return TaskReport(
        iteration=iteration,
        id=task.id,
        agent=task.agent,
        kind=task.params.kind,
        asked=task_words(task.params),
        status=result.status,
        error=result.error,
        milliseconds=result.milliseconds,
        passages=len(result.output.evidence),
        findings=len(result.output.findings),
        pages=result.output.pages,
        note=result.output.note if result.output.findings or result.status == "empty" else "",
        sources=result.output.hosts,
    )


def outcome_of(results: Iterable[TaskResult], required: Sequence[str]) -> Outcome:
    """The outcome of a plan whose tasks in `required` have to bring a result."""
    needed = [result for result in results if result.needed]
    lost = [task for task in needed if task.lost]
    if not lost:
        return "complete"
    if len(lost) == len(needed):
        return "failed"
    return "partial" if any(item.id in required for item in lost) else "degraded"
