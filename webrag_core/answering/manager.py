"""The manager: a question in, an answer in prose out, every sentence proved before it leaves."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict
from functools import partial

from webrag_core.answering import confidence, guard, stored
from webrag_core.answering.compose.by_model import ModelComposer, ModelReport
from webrag_core.answering.compose.draft import Draft, draft_of
from webrag_core.answering.compose.features import Array
from webrag_core.answering.compose.forms import form_of
from webrag_core.answering.compose.highlights import Shown, highlights
from webrag_core.answering.compose.reranked import make_sentence_reranker
from webrag_core.answering.compose.select import Choice, select
from webrag_core.answering.compose.timeline import moment_of
from webrag_core.answering.events import Done, Event, Planned, Reflected, TaskDone
from webrag_core.answering.exposures import record_exposures
from webrag_core.answering.gathering import Gathered, Question, gather, gather_part
from webrag_core.answering.languages import language_notes
from webrag_core.answering.models import Answer, Form, SentenceCitation, Spent, Status
from webrag_core.answering.proof.recheck import recheck
from webrag_core.answering.reflection import disagreements, missing_parts
from webrag_core.answering.statements import Emit, Statements
from webrag_core.answering.time_notes import time_notes
from webrag_core.errors import ChatError, IntegrityError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration import answers
from webrag_core.orchestration.engine import OrchestratorEngine, Progress
from webrag_core.orchestration.request import check_question
from webrag_core.percentages import cut, percent
from webrag_core.providers.chat import ChatEndpoint
from webrag_core.result_warnings import log_warning
from webrag_core.retrieval.reader import make_reader

__all__ = ["Manager", "Question"]

logger = logging.getLogger(__name__)


class Manager:
    """Answers questions over an open corpus, any number of them at a time. `engine` gathers their evidence; a server
    passes its own, so that the limits on endpoints hold for all of its calls together."""

    def __init__(self, corpus: Corpus, engine: OrchestratorEngine | None = None) -> None:
        self._corpus = corpus
        self._engine = engine or OrchestratorEngine(corpus)
        self._settings = corpus.settings
        self._chat = (
            ChatEndpoint(self._settings, "ANSWER_COMPOSER=llm") if self._settings.answer_composer == "llm" else None
        )

    async def answer(self, question: Question, progress: Progress | None = None) -> Answer:
        """Gather evidence, compose, prove, reflect, and look once more where a part of the question is left open.

        Raises InvalidInputError or GuardrailsViolationError for an unusable question before anything is written, and
        what gathering evidence raises; the stored run then says why it failed.
        """
        return await self._run(question, progress, None)

    async def stream(self, question: Question) -> AsyncGenerator[Event]:
        """As `answer`, told step by step: a sentence leaves as soon as it is proved, in its final place. A chat model
        is read as it writes. Close it (`contextlib.aclosing`) when it is not read to its end: the run then counts as
        failed."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        run = asyncio.create_task(self._run(question, None, events.put_nowait))
        run.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await run
        finally:
            run.cancel()
            await asyncio.wait([run])

    async def _run(self, question: Question, progress: Progress | None, emit: Emit | None) -> Answer:
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
            tell = emit or _tell_nobody
            tell(Planned(answer_id=answer_id, question=question.text, evidence_from=question.evidence_from))
            gathered, draft, choices, sure, composing = await self._drafted(question, progress)
            tell(_task_done(gathered, draft))
            statements = Statements(self._corpus, emit)
            sure, report = await self._say(question, gathered, draft, choices, sure, statements)
            nearest = [] if statements.sentences else [statements.show(draft.units, one) for one in _highlights(draft)]
            missing = missing_parts(draft.parts, statements.sentences, len(draft.units), below_floor=bool(choices))
            differing = disagreements(statements.sentences)
            tell(Reflected(missing=missing, disagreements=differing))
            model = None if report is None else report.model
            async with database.transaction() as connection:
                citations = await stored.store_citations(connection, answer_id, statements.quotes)
                answer = Answer(
                    answer_id=answer_id,
                    question=question.text,
                    parts=list(draft.parts),
                    form=_form(question, gathered),
                    composer=model or "extractive",
                    status=_status(sure, partial=bool(missing)),
                    band=confidence.band_of(sure),
                    confidence=cut(sure),
                    confidence_note=confidence.note_of(
                        gathered,
                        draft.scores,
                        embedding=self._corpus.indexer.embedder.identity,
                        reranker=self._settings.reranker_provider,
                        model=model,
                    ),
                    final_reason=_reason(sure, draft, gathered, model),
                    sentences=statements.sentences,
                    highlights=nearest,
                    citations=citations,
                    missing=missing,
                    disagreements=differing,
                    notes=[
                        *_notes(citations, {} if statements.sentences else draft.withheld),
                        *language_notes(question.text, citations),
                        *time_notes(question, statements.sentences),
                    ],
                    look_next=gathered.look_next if sure < confidence.SURE_AT else [],
                    walk=gathered.walk,
                    spent=Spent(
                        seconds=round(time.perf_counter() - begun, 3),
                        composing_seconds=round(time.perf_counter() - composing, 3),
                        pages=gathered.pages,
                        rounds=len(gathered.walk),
                        chat_calls=self._chat is not None and bool(draft.units),
                        replaced=0 if report is None else report.replaced,
                    ),
                    warnings=gathered.warnings,
                    evidence_ids=gathered.evidence_ids,
                )
                await record_exposures(connection, answer_id, gathered.ranked, citations, question.evidence_from)
                await stored.finish_answer(connection, answer)
                async for name, problem in recheck(connection, answer_id):  # nothing unproved is stored
                    if problem is not None:
                        raise IntegrityError(f"{name}: {problem}")
        tell(Done(answer=answer))
        return answer

    async def _register(self, question: Question, answer_id: int) -> None:
        async with self._corpus.database.connection() as connection:
            await stored.start_answer(
                connection,
                answer_id,
                question=question.text,
                seed_url=question.urls[0] if question.urls else None,
                options={name: value for name, value in asdict(question).items() if name != "text" and value},
            )

    async def _drafted(
        self, question: Question, progress: Progress | None
    ) -> tuple[Gathered, Draft, list[Choice], float, float]:
        """Evidence, its scored units, the sentences chosen without a model and the confidence in them, and when the
        last composition began. Looks once more for the part of a question that its sentences support least."""
        gathered = await gather(self._corpus, self._engine, question, progress)
        composing = time.perf_counter()
        draft, choices, sure = await self._compose(question, gathered)
        weakest = _weakest(draft, choices)
        open_part = draft.parts[weakest] if weakest is not None and sure < confidence.ANSWERED_AT else None
        if open_part is not None and await gather_part(self._engine, question, open_part, gathered):
            composing = time.perf_counter()
            draft, choices, sure = await self._compose(question, gathered)
        return gathered, draft, choices, sure, composing

    async def _say(
        self,
        question: Question,
        gathered: Gathered,
        draft: Draft,
        choices: Sequence[Choice],
        sure: float,
        statements: Statements,
    ) -> tuple[float, ModelReport | None]:
        """Say what the chat model chooses, else `choices` where they are sure enough. Returns the confidence in what is
        said, and the report of the model, if it chose."""
        report = await self._say_by_model(question, draft, statements, gathered)
        if report is not None and not statements.sentences and not statements.unproved:
            if sure >= confidence.ANSWERED_AT:
                _warn(
                    gathered,
                    f"{report.model} finds no answer in the evidence; without it, sentences would be given with"
                    f" confidence {percent(sure)} (ANSWER_COMPOSER=extractive)",
                )
            sure = 0.0
        elif report is not None:
            sure = confidence.lifted(confidence.confidence_of(statements.choices, draft.scores, gathered))
        elif sure >= confidence.ANSWERED_AT:
            for choice in choices:
                await statements.say(choice)
        if statements.unproved:
            _warn(gathered, f"sentences left out, because their page does not prove them: {statements.unproved}")
        return (sure if statements.sentences or sure < confidence.ANSWERED_AT else 0.0), report

    async def _say_by_model(
        self, question: Question, draft: Draft, statements: Statements, gathered: Gathered
    ) -> ModelReport | None:
        """Say what the chat model chooses; None without one, when it fails before its first sentence, and when the
        evidence holds none of its sentences. A report without a sentence is its verdict: nothing answers."""
        if self._chat is None or not draft.units:
            return None
        settings = self._settings
        composer = ModelComposer(
            self._chat, settings.answer_llm_timeout, draft, _supports(draft), settings.answer_max_words
        )
        try:
            async for choice in composer.choices(question.text, stream=statements.streams):
                await statements.say(choice)
        except ChatError as error:
            _warn(gathered, f"composing by {error.model} failed ({error.reason}); composed without it")
            return None
        for warning in composer.report.warnings():
            _warn(gathered, warning)
        if composer.report.dropped and not statements.choices:
            _warn(gathered, f"composed without {composer.report.model}: the evidence holds none of its sentences")
            return None
        return composer.report

    async def _compose(self, question: Question, gathered: Gathered) -> tuple[Draft, list[Choice], float]:
        """The scored evidence, the chosen sentences, and the confidence that they answer the whole question."""
        reader = make_reader(self._settings)
        form = _form(question, gathered)
        safe = partial(guard.safe_units, form=form)
        reranker = make_sentence_reranker(self._settings)
        draft = await draft_of(question.text, gathered.parts, gathered.ranked, reader, reranker=reranker, safe=safe)
        gathered.warnings += [one for one in _warnings(draft) if one not in gathered.warnings]
        choices = select(
            draft.units, draft.scores, _supports(draft), self._settings.answer_max_words, form, moment_of(question.text)
        )
        return draft, choices, confidence.confidence_of(choices, draft.scores, gathered)


def _tell_nobody(event: Event) -> None:
    """Nobody reads the stream."""


def _warn(gathered: Gathered, warning: str) -> None:
    log_warning(logger, warning)
    gathered.warnings.append(warning)


def _warnings(draft: Draft) -> list[str]:
    orders = draft.withheld.get("order", 0)
    warning = f"sentences of the pages that give orders to a model, and are never said: {orders}"
    return [*draft.warnings, *([warning] if orders else [])]


def _form(question: Question, gathered: Gathered) -> Form:
    return question.form or form_of(question.text, gathered.kind)


def _supports(draft: Draft) -> list[Array]:
    return [confidence.supports(score) for score in draft.scores]


def _highlights(draft: Draft) -> list[Shown]:
    return highlights(draft.units, draft.best_of_all)


def _task_done(gathered: Gathered, draft: Draft) -> TaskDone:
    return TaskDone(
        passages=len(gathered.ranked), pages=gathered.pages, rounds=len(gathered.walk), parts=list(draft.parts)
    )


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


def _reason(sure: float, draft: Draft, gathered: Gathered, model: str | None) -> str:
    """One sentence for people: why the answer is what it is."""
    if not gathered.ranked:
        return "no passage of the pages that were read has to do with the question" if gathered.walk else gathered.note
    if not draft.units:
        return "the evidence holds no sentence"
    if model is not None and sure < confidence.ANSWERED_AT:
        return f"{model} found no sentence that answers; the nearest passages are shown instead"
    if sure < confidence.ANSWERED_AT:
        return (
            f"no answer is given: confidence {percent(sure)}, below {percent(confidence.ANSWERED_AT)}; the nearest"
            " passages are shown instead"
        )
    return f"confidence {percent(sure)} that these sentences hold the whole answer"


def _notes(citations: Sequence[SentenceCitation], withheld: Mapping[str, int]) -> list[str]:
    """Facts about the evidence: how old it is, which quotes are from texts that their pages no longer have, and which
    sentences could not be said."""
    causes = {"request": "ask the reader to do something else", "address": "give addresses of other sites"}
    silent = [
        f"sentences that {what} are never part of an answer; there were {withheld[one]}"
        for one, what in causes.items()
        if one in withheld
    ]
    if not citations:
        return silent
    oldest = min(citations, key=lambda one: one.seen_at)
    pages = len({one.url for one in citations})
    notes = [f"from {pages} page{'' if pages == 1 else 's'}; the oldest was last seen on {oldest.seen_at:%Y-%m-%d}"]
    superseded = [f"[{one.number}]" for one in citations if not one.current]
    return [*notes, *([f"the pages of {', '.join(superseded)} have another text now"] if superseded else []), *silent]
