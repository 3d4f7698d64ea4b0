"""The sentences of an answer as they are said: each proved from the database, its quotes numbered, then told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from webrag_core.answering import guard
from webrag_core.answering.compose.highlights import Shown
from webrag_core.answering.compose.select import Choice
from webrag_core.answering.events import AnswerEvent, CitationReady, SentenceReady
from webrag_core.answering.models import AnswerSentence, Highlight, Listed
from webrag_core.answering.proof.recheck import CitedVersion, cited_version, problem_of
from webrag_core.answering.stored import describe_quotes
from webrag_core.answering.units import Unit
from webrag_core.corpus.quotes import Quote
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.answers import CitedQuote
from webrag_core.routing.results import Finding

Emit = Callable[[AnswerEvent], None]


class Statements:
    """Sentences of one answer, and its quotes by number; `unproved` counts the choices that were left out. `emit` tells
    each sentence, after its quotes, as soon as it is said."""

    def __init__(self, corpus: Corpus, emit: Emit | None) -> None:
        self.sentences: list[AnswerSentence] = []
        self.choices: list[Choice] = []
        self.quotes: dict[int, CitedQuote] = {}
        self.unproved = 0
        self._corpus = corpus
        self._emit = emit
        self._numbers: dict[Quote, int] = {}
        self._versions: dict[int, CitedVersion] = {}

    @property
    def streams(self) -> bool:
        """Whether somebody is told each sentence as it is said."""
        return self._emit is not None

    async def say(self, choice: Choice) -> None:
        """Add a sentence, if its stored pages prove it. A passage that is cut out of a long table or listing may read
        otherwise than its page. Raises GuardrailsViolationError for a sentence with a secret."""
        saying = choice.saying
        quotes = quotes_in(saying.unit)
        guard.check_output([saying.text, *map(saying.unit.slice, saying.unit.spans)], self._corpus.settings)
        known = set(self.quotes)
        async with self._corpus.database.connection() as connection:
            for version_id in {quote.version_id for quote in quotes} - self._versions.keys():
                self._versions[version_id] = await cited_version(connection, version_id)
            quoted = [self._versions[quote.version_id].quoted(quote) for quote in quotes]
            if problem_of(saying.text, saying.proof, quoted) is not None:
                self.unproved += 1
                return
            numbers = [self._cited(quote, _heading(saying.unit), choice.support) for quote in quotes]
            added = {number: quote for number, quote in self.quotes.items() if number not in known}
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

    def show(self, units: Sequence[Unit], shown: Shown, *, likely: bool = False) -> Highlight:
        """Cite the passage from the first to the last unit, which is `likely` to hold the answer or not; marks are
        offsets within it. Raises GuardrailsViolationError for a passage with a secret."""
        first, last = units[shown.units[0]], units[shown.units[-1]]
        passage = (first.start, last.end)
        guard.check_output([first.slice(passage)], self._corpus.settings)
        number = self._cited(_quote(first, passage), _heading(first), 0.0)
        marks = [(units[index].start - first.start, units[index].end - first.start) for index in shown.marked]
        return Highlight(citation=number, marks=marks, likely=likely)

    def list(self, finding: Finding) -> Listed:
        """Cite a passage that an agent names as an answer of its own."""
        number = self._cited(finding.as_quote(), finding.heading, 0.0)
        return Listed(group=finding.group, label=finding.label, citation=number)

    def _cited(self, quote: Quote, heading: str | None, support: float) -> int:
        """The number of a quote, which it has from the first time that it is cited."""
        number = self._numbers.setdefault(quote, len(self._numbers) + 1)
        self.quotes.setdefault(number, CitedQuote(quote, heading, support))
        return number


def quotes_in(unit: Unit) -> list[Quote]:
    """What a sentence made of `unit` cites."""
    return [_quote(unit, span) for span in unit.spans]


def _quote(unit: Unit, span: tuple[int, int]) -> Quote:
    return Quote.of(unit.chunk.text, unit.chunk.version_id, *span, offset=unit.chunk.char_start)


def _heading(unit: Unit) -> str | None:
    return " > ".join(unit.heading_path) or None
