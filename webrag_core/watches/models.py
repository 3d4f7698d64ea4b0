"""What is watched, and the news of it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from webrag_core.answering.models import StoredStatus
from webrag_core.history.anchoring import State
from webrag_core.retrieval.models import Contract
from webrag_core.watches.subjects import Kind, Pace

Event = Literal["changed", "gone", "back", "quotes", "answer"]
"""The text changed; the page or section is gone; it is there again; quotes of the answer no longer stand, and the
answer is the same; the question is answered otherwise."""


WatchState = Literal["waiting", "compared", "missing"]
"""Nothing is stored yet that later texts or answers could be compared with; something is; or the page or section was
missing at the last look."""


class Watch(Contract):
    """What somebody watches: the page at `url`, the section below the headings `heading` of it, or a question to the
    stored pages (of `sources`, if any). `declared_in` is the file that declares it. `looked_at` is the last comparison,
    `sent_at` the last message."""

    watch_id: int
    kind: Kind
    url: str | None
    heading: list[str]
    question: str | None
    sources: list[str]
    pace: Pace
    declared_in: str | None
    created_at: datetime
    looked_at: datetime | None
    sent_at: datetime | None
    state: WatchState

    @property
    def subject(self) -> str:
        """What is watched, in one line."""
        if self.question is not None:
            return f"“{self.question}”"
        section = f"“{' > '.join(self.heading)}” of " if self.heading else ""
        return f"{section}{self.url}"


class TextChange(Contract):
    """A passage before and after, None where there is none on that side."""

    heading_path: list[str]
    before: str | None
    after: str | None


class QuoteChange(Contract):
    """A quote of a stored answer and what became of it (`State`). `after` is the similar text that stands there now, or
    the quote where it stands again; None where nothing of it does."""

    answer_id: int
    number: int
    url: str
    state: State
    before: str
    after: str | None


class RestingAnswer(Contract):
    """A stored answer that rests on quotes which changed."""

    answer_id: int
    question: str


class GivenAnswer(Contract):
    """What a question is answered by: the verdict, and the sentences or listed passages, each proved by its quote.
    `answer_id` is None where the answer is not kept, as of a trial."""

    answer_id: int | None
    status: StoredStatus
    sentences: list[str]


class News(Contract):
    """One event of a watch. `differences` are passages of the watched text, `quotes` those of answers that stood on it,
    `answers` the answers that rest on these. For a question `before` and `after` are its answers. `note` says what
    should be known besides."""

    watch: Watch
    event: Event
    differences: list[TextChange] = Field(default_factory=list)
    quotes: list[QuoteChange] = Field(default_factory=list)
    answers: list[RestingAnswer] = Field(default_factory=list)
    before: GivenAnswer | None = None
    after: GivenAnswer | None = None
    note: str = ""
