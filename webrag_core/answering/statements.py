"""The sentences of an answer as they are said: each proved from the database, its quotes numbered, then told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from webrag_core.answering import guard
from webrag_core.answering.compose.highlights import Shown
from webrag_core.answering.compose.select import Choice
from webrag_core.answering.compose.units import Unit
from webrag_core.answering.events import AnswerEvent, CitationReady, SentenceReady
from webrag_core.answering.models import AnswerSentence, Highlight, Listed
from webrag_core.answering.proof.recheck import Span, VersionTexts, problem_of
from webrag_core.answering.stored import QuoteRow, describe_quotes
from webrag_core.indexing.pipeline import Corpus
from webrag_core.routing.results import Finding

Emit = Callable[[AnswerEvent], None]


class Statements:
    """Sentences and quotes of one answer; `unproved` counts the choices that were left out. `emit` tells each sentence,
    after its quotes, as soon as it is said."""

    def __init__(self, corpus: Corpus, emit: Emit | None) -> None:
        self.sentences: list[AnswerSentence] = []
        self.choices: list[Choice] = []
        self.quotes: list[QuoteRow] = []
        self.unproved = 0
        self._corpus = corpus
        self._emit = emit
        self._numbers: dict[Span, int] = {}
        self._texts: VersionTexts = {}

    @property
    def streams(self) -> bool:
        """Whether somebody is told each sentence as it is said."""
        return self._emit is not None

    async def say(self, choice: Choice) -> None:
        """Add a sentence, if its stored pages prove it. A passage that is cut out of a long table or listing may read
        otherwise than its page. Raises GuardrailsViolationError for a sentence with a secret."""
        saying = choice.saying
        spans = spans_of(saying.unit)
        guard.check_output([saying.text, *map(saying.unit.slice, saying.unit.spans)], self._corpus.settings)
        known = len(self.quotes)
        async with self._corpus.database.connection() as connection:
            if await problem_of(connection, saying.text, saying.proof, spans, self._texts) is not None:
                self.unproved += 1
                return
            numbers = [self._number(saying.unit, span, choice.support) for span in spans]
            added = {number: self.quotes[number - 1] for number in range(known + 1, len(self.quotes) + 1)}
            citations = await describe_quotes(connection, added) if self._emit and added else []
        self.choices.append(choice)
        self.sentences.append(
            AnswerSentence(
                ordinal=len(self.sentences) + 1,
                text=saying.text,
                proof=saying.proof,
                citations=numbers,
                part=choice.part,
                support=round(choice.support, 3),
            )
        )
        if self._emit:
            for citation in citations:
                self._emit(CitationReady(citation=citation))
            self._emit(SentenceReady(sentence=self.sentences[-1]))

    def show(self, units: Sequence[Unit], shown: Shown) -> Highlight:
        """Cite the passage from the first to the last unit; marks are offsets within it. Raises
        GuardrailsViolationError for a passage with a secret."""
        first, last = units[shown.units[0]], units[shown.units[-1]]
        passage = (first.start, last.end)
        guard.check_output([first.slice(passage)], self._corpus.settings)
        number = self._number(first, _span(first, passage), 0.0)
        marks = [(units[index].start - first.start, units[index].end - first.start) for index in shown.marked]
        return Highlight(citation=number, marks=marks)

    def list(self, finding: Finding) -> Listed:
        """Cite a passage that an agent names as an answer of its own."""
        span = (finding.version_id, finding.char_start, finding.char_end, finding.sha256)
        number = self._cited(span, finding.heading, 0.0)
        return Listed(group=finding.group, label=finding.label, citation=number)

    def _number(self, unit: Unit, span: Span, support: float) -> int:
        return self._cited(span, " > ".join(unit.heading_path) or None, support)

    def _cited(self, span: Span, heading: str | None, support: float) -> int:
        if span not in self._numbers:
            self.quotes.append((*span, heading, support))
            self._numbers[span] = len(self.quotes)
        return self._numbers[span]


def spans_of(unit: Unit) -> list[Span]:
    """What a sentence made of `unit` cites."""
    return [_span(unit, span) for span in unit.spans]


def _span(unit: Unit, span: tuple[int, int]) -> Span:
    return (unit.chunk.version_id, *span, hashlib.sha256(unit.slice(span).encode()).hexdigest())
