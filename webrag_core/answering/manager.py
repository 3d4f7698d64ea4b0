"""The manager: a question in, an answer in prose out, every sentence proved before it leaves."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict

from webrag_core.answering import confidence, guard, stored
from webrag_core.answering.compose.draft import Draft, draft_of
from webrag_core.answering.compose.highlights import Shown, highlights
from webrag_core.answering.compose.select import Choice, select
from webrag_core.answering.compose.units import Unit
from webrag_core.answering.gathering import Gathered, Question, gather, gather_part
from webrag_core.answering.models import Answer, AnswerSentence, Form, Highlight, SentenceCitation, Spent, Status
from webrag_core.answering.proof.recheck import Span, VersionTexts, problem_of, recheck
from webrag_core.answering.reflection import disagreements, missing_parts
from webrag_core.errors import IntegrityError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration import answers
from webrag_core.orchestration.engine import OrchestratorEngine, Progress
from webrag_core.orchestration.models import QueryType
from webrag_core.orchestration.request import check_question
from webrag_core.retrieval.reader import make_reader

__all__ = ["Manager", "Question"]

logger = logging.getLogger(__name__)

_FORMS: dict[QueryType, Form] = {
    "factual": "explain",
    "comparison": "compare",
    "how_to": "steps",
    "exploratory": "explain",
}


class Manager:
    """Answers questions over an open corpus, any number of them at a time. `engine` gathers their evidence; a server
    passes its own, so that the limits on endpoints hold for all of its calls together."""

    def __init__(self, corpus: Corpus, engine: OrchestratorEngine | None = None) -> None:
        self._corpus = corpus
        self._engine = engine or OrchestratorEngine(corpus)
        self._settings = corpus.settings

    async def answer(self, question: Question, progress: Progress | None = None) -> Answer:
        """Gather evidence, compose, prove, reflect, and look once more where a part of the question is left open.

        Raises InvalidInputError or GuardrailsViolationError for an unusable question before anything is written, and
        what gathering evidence raises; the stored run then says why it failed.
        """
        guard.check_input(question.text)
        check_question(question.text)
        begun = time.perf_counter()
        database = self._corpus.database
        async with database.connection() as connection:
            answer_id = await answers.new_id(connection)
        async with (
            database.claims.hold(answers.claim_of(answer_id)),
            answers.recorded_run(database, answer_id, self._register(question, answer_id)),
        ):
            return await self._answer(question, answer_id, begun, progress)

    async def _register(self, question: Question, answer_id: int) -> None:
        async with self._corpus.database.connection() as connection:
            await stored.start_answer(
                connection,
                answer_id,
                question=question.text,
                seed_url=question.urls[0] if question.urls else None,
                options={name: value for name, value in asdict(question).items() if name != "text" and value},
            )

    async def _answer(self, question: Question, answer_id: int, begun: float, progress: Progress | None) -> Answer:
        gathered = await gather(self._corpus, self._engine, question, progress)
        composing = time.perf_counter()
        draft, choices, sure = await self._compose(question, gathered)
        weakest = _weakest(draft, choices)
        open_part = draft.parts[weakest] if weakest is not None and sure < confidence.ANSWERED_AT else None
        if open_part is not None and await gather_part(self._engine, question, open_part, gathered):
            composing = time.perf_counter()
            draft, choices, sure = await self._compose(question, gathered)
        sayable = await self._proved(choices, gathered) if sure >= confidence.ANSWERED_AT else []
        sure = sure if sayable or sure < confidence.ANSWERED_AT else 0.0
        passages = [] if sayable else highlights(draft.units, _best_of_all(draft))
        spans = _Spans()
        sentences = [
            AnswerSentence(
                ordinal=ordinal,
                text=choice.saying.text,
                proof=choice.saying.proof,
                citations=spans.of_unit(choice.saying.unit, choice.support),
                part=choice.part,
                support=round(choice.support, 3),
            )
            for ordinal, choice in enumerate(sayable, start=1)
        ]
        nearest = [spans.of_highlight(draft.units, one) for one in passages]
        missing = missing_parts(draft.parts, sentences, len(draft.units), below_floor=bool(choices))
        async with self._corpus.database.transaction() as connection:
            citations = await stored.store_citations(connection, answer_id, spans.rows)
            answer = Answer(
                answer_id=answer_id,
                question=question.text,
                parts=list(draft.parts),
                form=_FORMS[gathered.kind],
                status=_status(sure, partial=bool(missing)),
                band=confidence.band_of(sure),
                confidence=round(sure, 3),
                confidence_note=confidence.note_of(gathered.note, draft.scores),
                final_reason=_reason(sure, draft, gathered),
                sentences=sentences,
                highlights=nearest,
                citations=citations,
                missing=missing,
                disagreements=disagreements(sentences),
                notes=_notes(citations),
                look_next=gathered.look_next if sure < confidence.SURE_AT else [],
                spent=Spent(
                    seconds=round(time.perf_counter() - begun, 3),
                    composing_seconds=round(time.perf_counter() - composing, 3),
                    pages=gathered.pages,
                    rounds=gathered.rounds,
                ),
                warnings=gathered.warnings,
                evidence_ids=gathered.evidence_ids,
            )
            texts = [*(one.text for one in sentences), *(one.quote for one in citations)]
            guard.check_output(texts, self._settings)
            await stored.finish_answer(connection, answer)
            async for name, problem in recheck(connection, answer_id):  # nothing unproved is stored
                if problem is not None:
                    raise IntegrityError(f"{name}: {problem}")
        return answer

    async def _proved(self, choices: Sequence[Choice], gathered: Gathered) -> list[Choice]:
        """The choices that the stored pages prove. A passage that is cut out of a long table or listing may read
        otherwise than its page."""
        texts: VersionTexts = {}
        remaining = []
        async with self._corpus.database.connection() as connection:
            for choice in choices:
                spans = spans_of(choice.saying.unit)
                problem = await problem_of(connection, choice.saying.text, choice.saying.proof, spans, texts)
                if problem is None:
                    remaining.append(choice)
        if len(remaining) < len(choices):
            warning = f"sentences left out, because their page does not prove them: {len(choices) - len(remaining)}"
            logger.warning(warning)
            gathered.warnings.append(warning)
        return remaining

    async def _compose(self, question: Question, gathered: Gathered) -> tuple[Draft, list[Choice], float]:
        """The scored evidence, the chosen sentences, and the confidence that they answer the whole question."""
        reader = make_reader(self._settings)
        draft = await draft_of(question.text, gathered.parts, gathered.ranked, reader, safe=guard.safe_units)
        for warning in draft.warnings:
            if warning not in gathered.warnings:
                gathered.warnings.append(warning)
        supports = [confidence.supports(score) for score in draft.scores]
        choices = select(draft.units, draft.scores, supports, self._settings.answer_max_words)
        return draft, choices, confidence.confidence_of(choices, draft.scores, gathered.complete)


def spans_of(unit: Unit) -> list[Span]:
    """What a sentence made of `unit` cites."""
    return [_span(unit, span) for span in unit.spans]


def _span(unit: Unit, span: tuple[int, int]) -> Span:
    return (unit.chunk.version_id, *span, hashlib.sha256(unit.slice(span).encode()).hexdigest())


class _Spans:
    """The quotes of an answer, each once, numbered from 1 in the order of their first use."""

    def __init__(self) -> None:
        self.rows: list[tuple[*Span, str | None, float]] = []
        self._numbers: dict[Span, int] = {}

    def of_unit(self, unit: Unit, support: float) -> list[int]:
        """Numbers of what a sentence made of `unit` cites."""
        return [self._number(unit, span, support) for span in spans_of(unit)]

    def of_highlight(self, units: Sequence[Unit], shown: Shown) -> Highlight:
        """Cite the passage from the first to the last unit; marks are offsets within it."""
        first, last = units[shown.units[0]], units[shown.units[-1]]
        number = self._number(first, _span(first, (first.start, last.end)), 0.0)
        marks = [(units[index].start - first.start, units[index].end - first.start) for index in shown.marked]
        return Highlight(citation=number, marks=marks)

    def _number(self, unit: Unit, span: Span, support: float) -> int:
        if span not in self._numbers:
            self.rows.append((*span, " > ".join(unit.heading_path) or None, support))
            self._numbers[span] = len(self.rows)
        return self._numbers[span]


def _best_of_all(draft: Draft) -> list[int]:
    """Indexes of the units, the best of each part in turn."""
    turns = zip(*(score.order for score in draft.scores), strict=True)
    return list(dict.fromkeys(index for turn in turns for index in turn))


def _weakest(draft: Draft, choices: Sequence[Choice]) -> int | None:
    """The part of a joined question that its sentences support least; None for a question of one part."""
    if len(draft.parts) < 2:
        return None
    best = [max((one.support for one in choices if one.part == part), default=0.0) for part in range(len(draft.parts))]
    return best.index(min(best))


def _status(sure: float, *, partial: bool) -> Status:
    if sure < confidence.ANSWERED_AT:
        return "insufficient"
    return "partial" if partial or sure < confidence.SURE_AT else "answered"


def _reason(sure: float, draft: Draft, gathered: Gathered) -> str:
    """One sentence for people: why the answer is what it is."""
    if not draft.units:
        return gathered.note if not gathered.ranked else "the evidence holds no sentence"
    if sure < confidence.ANSWERED_AT:
        return (
            f"no answer is given: confidence {sure:.0%}, below {confidence.ANSWERED_AT:.0%}; the nearest passages are"
            " shown instead"
        )
    return f"confidence {sure:.0%} that these sentences hold the whole answer"


def _notes(citations: Sequence[SentenceCitation]) -> list[str]:
    """Facts about the evidence."""
    if not citations:
        return []
    oldest = min(citations, key=lambda one: one.seen_at)
    pages = len({one.url for one in citations})
    return [f"from {pages} page{'' if pages == 1 else 's'}; the oldest was last seen on {oldest.seen_at:%Y-%m-%d}"]
