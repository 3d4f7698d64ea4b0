"""What an answer in prose consists of. All of it appears in results, tables and the UI."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field, computed_field, field_validator, model_validator

from webrag_core.errors import NotStoredError
from webrag_core.judging.verdict import Verdict
from webrag_core.percentages import percent
from webrag_core.providers.prices import ProviderSpending
from webrag_core.readable import Readable, counted, shortened
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.models import Contract
from webrag_core.routing.plan import ExecutionPlan
from webrag_core.routing.question import Form
from webrag_core.routing.results import Outcome, TaskReport, WalkStep

Proof = Literal["verbatim", "trimmed", "assembled"]
"""How a sentence follows from what it cites: its very words; those with a heading before them, or without a leading
connective or a reference in brackets; or the cells of a table row, with its column names."""

Status = Literal["answered", "partial", "likely", "not_found"]
"""Sentences answer the question or a part of it; a passage probably does, and no sentence is sure enough; nothing
does."""
StoredStatus = Status | Literal["forgotten"]
"""Of a stored answer, too: nothing is left of what answered, as its pages were removed on request since."""
Band = Literal["high", "medium", "low", "likely", "insufficient"]
Why = Literal["not_found", "below_floor"]
Coherence = Literal["coherent", "incoherent"]
COMPUTED = frozenset({"likely", "nearest", "applicability_note", "uncertainty_note"})
"""Fields of an answer that follow from its others, and are stored nowhere."""


class SentenceCitation(Contract):
    """A quote: `quote` equals `markdown[char_start:char_end]` of version number `version` of the page, `sha256` is
    that of its UTF-8 bytes. `before` and `after` are up to 160 characters of its block around it (`surroundings`).
    `first_seen` and `seen_at` are when that version was first and last seen; `current` is false when the page has
    another text now, or is gone. `page` is that of the file where the quote begins, None for what has no pages.
    `archive_url` is where a web archive shows the copy that the text was read from, None where it came from the site
    itself."""

    number: int
    url: str
    title: str | None
    heading: str | None
    version: int
    version_sha256: str
    char_start: int
    char_end: int
    quote: str
    sha256: str
    before: str
    after: str
    seen_at: datetime
    current: bool
    page: int | None = None
    first_seen: datetime | None = None
    archive_url: str | None = None


class AnswerSentence(Contract):
    """One sentence, with the citations that prove it. `support`, in [0, 1], is the probability that it answers its part
    of the question; that it stands on the page is certain."""

    ordinal: int
    text: str
    proof: Proof
    citations: list[int] = Field(min_length=1)
    part: int
    support: float


class Highlight(Contract):
    """A passage shown instead of sentences; `marks` are the offsets, within the quote, of its likeliest sentences.
    `likely`: it probably holds the answer."""

    citation: int
    marks: list[tuple[int, int]]
    likely: bool = False


class ShownPassage(Contract):
    """A passage shown instead of sentences, with its words, which are those of its quote."""

    text: str
    citation: int
    marks: list[tuple[int, int]]


class Missing(Contract):
    """A part of the question without an answer, why, and how many sentences and small units of the evidence
    were looked at."""

    part: int
    text: str
    why: Why
    looked_at: int

    @property
    def as_note(self) -> str:
        """That it is open, without words of the question."""
        return f"part {self.part + 1} of the question is not answered"


class Disagreement(Contract):
    """Two sentences (by ordinal) that cannot both hold, and what they differ in."""

    sentences: tuple[int, int]
    about: str


class Listed(Contract):
    """A passage that an agent names as an answer of its own: what it is one of (`group`), what it is (`label`), and the
    number of its citation."""

    group: str
    label: str
    citation: int


class Spent(Contract):
    """What the answer cost; `composing_seconds` is the part after the evidence was gathered. `chat_calls` are exchanges
    with a chat model; `replaced` are sentences that it worded otherwise than their page, whose own words are said;
    `providers` is what was asked of each endpoint that may charge for it."""

    seconds: float = 0.0
    composing_seconds: float = 0.0
    pages: int = 0
    rounds: int = 0
    chat_calls: int = 0
    replaced: int = 0
    providers: list[ProviderSpending] = Field(default_factory=list)


class Answer(Readable, Contract):
    """An answer in prose, or the reason why there is none.

    `confidence` is the probability that the sentences hold the complete answer, and `band` its range: high from .80,
    medium from .70, low from .50. Without sentences it is the probability that the first passage shown holds the
    answer. From `likelihood.LIKELY_AT` that passage stands in `likely`, which names status and band; else the status is
    `not_found` and the band `insufficient`. `nearest` are the other passages; `highlights`, `likely` and `nearest`
    together, goes with the next release. `parts` are the parts of the question; `evidence_ids` the runs
    (`webrag answers show`) that gathered the evidence. `composer` chose the sentences: `extractive`, or the name of a
    chat model.

    `plan` is the first plan, `tasks` says what became of every task of all plans, and `outcome` what in all: `degraded`
    is an answer without a task that could have helped, `partial` one without a task that it rests on. `listed` are
    passages that answer by themselves: who uses a thing, what changed. `verdict` is that of a chat model that judged
    the evidence (JUDGE), None where none was asked.

    `coherence` says whether sentences, or passages that a judge has read, contradict each other, `coherence_reason`
    which do; None where there was nothing to compare. `applicability` are facts about when and for what the answer
    holds, `uncertainty` those behind its confidence; some of both stand in `notes` or in fields of their own, too.
    `applicability_note` and `uncertainty_note` are each of them in one line.

    `follows` is the number of the answer that the question goes on from, None where there is none (any more). Where
    words of the question there complete it, `question` is what it was read as, `wording` what was typed, and `carried`
    are those words.

    `forgotten_sentences` (by ordinal) and `forgotten_citations` (by number) are gone, because their pages were removed
    on request; the numbers of the others stay.
    """

    answer_id: int | None = None
    trace_id: str | None = None
    question: str
    follows: int | None = None
    wording: str | None = None
    carried: list[str] = Field(default_factory=list)
    parts: list[str]
    form: Form
    composer: str = "extractive"
    status: StoredStatus
    band: Band
    confidence: float
    confidence_note: str
    final_reason: str
    sentences: list[AnswerSentence]
    highlights: list[Highlight]
    citations: list[SentenceCitation]
    missing: list[Missing]
    disagreements: list[Disagreement]
    notes: list[str]
    look_next: list[str]
    walk: list[WalkStep] = Field(default_factory=list)
    listed: list[Listed] = Field(default_factory=list)
    plan: ExecutionPlan | None = None
    tasks: list[TaskReport] = Field(default_factory=list)
    outcome: Outcome = "complete"
    verdict: Verdict | None = None
    coherence: Coherence | None = None
    coherence_reason: str = ""
    applicability: list[str] = Field(default_factory=list)
    uncertainty: list[str] = Field(default_factory=list)
    spent: Spent
    warnings: list[Caution]
    evidence_ids: list[int]
    forgotten_sentences: list[int] = Field(default_factory=list)
    forgotten_citations: list[int] = Field(default_factory=list)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def likely(self) -> list[ShownPassage]:
        """The passage that probably holds the answer, if there is any."""
        return self._shown(likely=True)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def nearest(self) -> list[ShownPassage]:
        """The other passages shown instead of sentences, the nearest first."""
        return self._shown(likely=False)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def applicability_note(self) -> str:
        """When and for what the answer holds, in one line; "" where nothing is known of it."""
        return "; ".join(self.applicability)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def uncertainty_note(self) -> str:
        """Why the confidence is what it is, and what is missing, in one line."""
        return "; ".join(self.uncertainty)

    def _shown(self, *, likely: bool) -> list[ShownPassage]:
        quotes = self.numbered
        return [
            ShownPassage(text=quotes[each.citation].quote, citation=each.citation, marks=each.marks)
            for each in self.highlights
            if each.likely is likely and each.citation in quotes  # its page may be forgotten
        ]

    @model_validator(mode="before")
    @classmethod
    def _without_what_is_computed(cls, values: object) -> object:
        """An answer reads back what it wrote."""
        return (
            {name: value for name, value in values.items() if name not in COMPUTED}
            if isinstance(values, dict)
            else values
        )

    @field_validator("status", mode="before")
    @classmethod
    def _by_its_name_of_today(cls, status: object) -> object:
        """Answers that are stored may have another name for it."""
        return "not_found" if status == "insufficient" else status

    def summary(self) -> str:
        """Status, confidence and size."""
        size = f"{counted(len(self.sentences), 'sentence')}, {counted(len(self.citations), 'quote')}"
        number = "" if self.answer_id is None else f"{self.answer_id} "
        return f"{number}{self.status} ({percent(self.confidence)}): {size}, question {shortened(self.question)}"

    @property
    def numbered(self) -> Mapping[int, SentenceCitation]:
        """The citations by their numbers. Those of forgotten pages leave gaps: a number is never a position."""
        return {citation.number: citation for citation in self.citations}

    def citation(self, number: int) -> SentenceCitation:
        """The citation of a number of this answer. Raises NotStoredError when there is none, as after its page was
        forgotten."""
        citation = self.numbered.get(number)
        if citation is None:
            why = "its page was forgotten" if number in self.forgotten_citations else "there is none of that number"
            raise NotStoredError(f"answer {self.answer_id} has no quote {number}: {why}")
        return citation

    def in_order(self) -> list[tuple[int, AnswerSentence | None]]:
        """The sentences by ordinal, with None in place of each that was forgotten."""
        sentences: dict[int, AnswerSentence | None] = dict.fromkeys(self.forgotten_sentences)
        sentences |= {sentence.ordinal: sentence for sentence in self.sentences}
        return sorted(sentences.items(), key=lambda item: item[0])
