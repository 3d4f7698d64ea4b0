"""The manager: a question in, an answer in prose out, every sentence proved before it leaves."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass
from functools import partial

from webrag_core.answering import confidence, guard, judgement, stored
from webrag_core.answering.compose.by_model import ModelComposer, ModelReport
from webrag_core.answering.compose.reranked import make_sentence_reranker
from webrag_core.answering.composition import Composition, compose, warnings_of
from webrag_core.answering.dialogue import read_in_dialogue
from webrag_core.answering.events import AnswerEvent, Done, Planned, Reflected, TaskDone
from webrag_core.answering.gathering import Gathered
from webrag_core.answering.likelihood import LIKELY_AT
from webrag_core.answering.models import Answer, Spent
from webrag_core.answering.proof.recheck import recheck
from webrag_core.answering.reflection import (
    applicability,
    coherence_of,
    disagreements,
    lacking,
    missing_parts,
    uncertainty,
)
from webrag_core.answering.statements import Emit, Statements
from webrag_core.answering.time_notes import change_notes, time_notes
from webrag_core.answering.verdicts import (
    agent_notes,
    date_notes,
    evidence_notes,
    meaning_notes,
    places_left,
    reason_of,
    status_of,
    withheld_notes,
)
from webrag_core.errors import AgentsFailedError, ChatError, IntegrityError, WebragError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.judging.chat_judge import failure_warning
from webrag_core.judging.verdict import Verdict
from webrag_core.orchestration import answers
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.orchestration.events import Progress
from webrag_core.orchestration.request import check_question
from webrag_core.orchestration.stream import streamed
from webrag_core.origin import ANSWER, asked_by
from webrag_core.percentages import cut, percent
from webrag_core.providers.prices import load_prices, priced
from webrag_core.result_warnings import Caution, log_warning
from webrag_core.retrieval.languages import language_warnings
from webrag_core.retrieval.models import spelling_note
from webrag_core.routing.agents.all import make_agents
from webrag_core.routing.budget import Ledger
from webrag_core.routing.execute import Execution, Executor
from webrag_core.routing.follow_up import follow_up
from webrag_core.routing.plan import ExecutionPlan, Task
from webrag_core.routing.question import Question
from webrag_core.routing.results import TaskResult, report_of
from webrag_core.routing.router import Router, budget_of
from webrag_core.routing.stored_tasks import record_plan, record_tasks
from webrag_core.trace import current_trace_id, span, traced

__all__ = ["Manager", "Question"]

logger = logging.getLogger(__name__)

_ELSEWHERE = frozenset({"text", "follows", "carry", "earlier", "wording"})
"""Fields of a question that are not among its stored options."""
_RESERVED = 0.25  # largest share of ANSWER_SECONDS that tasks leave to a composing chat model


@dataclass(slots=True)
class _Gathering:
    """Evidence of all plans, the composition of it, and when the last composition began."""

    plan: ExecutionPlan
    gathered: Gathered
    composition: Composition
    composing: float


class Manager:
    """Answers questions over an open corpus, any number of them at a time. `engine` reads pages for them; a server
    passes its own, so that the limits on endpoints hold for all of its calls together."""

    def __init__(self, corpus: Corpus, engine: OrchestratorEngine | None = None) -> None:
        self._corpus = corpus
        self._settings = corpus.settings
        agents = make_agents()
        engine = engine or OrchestratorEngine(corpus)
        self._router = Router(corpus, agents)
        self._executor = Executor(corpus, engine, agents)
        self._chat = corpus.chats.of("ANSWER_COMPOSER=llm") if self._settings.answer_composer == "llm" else None
        self._judge = engine.judge

    @property
    def _reserved(self) -> float:
        """Seconds of an answer that its tasks leave to a chat model that composes."""
        if self._chat is None:
            return 0.0
        return min(self._settings.answer_llm_timeout, _RESERVED * self._settings.answer_seconds)

    async def plan(self, question: Question) -> ExecutionPlan:
        """What would be done to answer a question; nothing is. Raises as `answer` for an unusable question."""
        guard.check_input(question.text)
        check_question(question.text)
        with traced():
            return await self._router.plan(await self._read(question))

    async def answer(self, question: Question, progress: Progress | None = None) -> Answer:
        """Plan, run the plan, compose, prove, reflect, and plan once more where a part of the question is left open.

        Raises InvalidInputError or GuardrailsViolationError for an unusable question before anything is written, and
        when no task of the plan brought a result what the only one raised, else AgentsFailedError; the stored run then
        says why it failed.
        """
        with traced():
            return await self._run(question, progress, None)

    def stream(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """As `answer`, told step by step (`answering.events`): what the loop does, and each sentence as soon as it is
        proved, in its final place. A chat model is read as it writes.

        Close it (`contextlib.aclosing`) when it is not read to its end: the run then counts as failed, and the pages
        that it stored are kept.
        """
        return streamed(partial(self._run, question, None))

    async def _run(self, question: Question, progress: Progress | None, emit: Emit | None) -> Answer:
        guard.check_input(question.text)
        check_question(question.text)
        begun = time.perf_counter()
        ledger = Ledger(budget_of(self._settings), reserved=self._reserved)
        question = await self._read(question)
        with ledger.in_force():
            plan = await self._router.plan(question)
        question = question.read_as(plan.question)
        database = self._corpus.database
        async with database.connection() as connection:
            answer_id = await answers.new_id(connection)
        async with (
            database.claims.hold(answers.claim_of(answer_id)),
            answers.recorded_run(database, answer_id, self._register(question, answer_id)),
        ):
            tell = emit or _tell_nobody
            with ledger.in_force(), asked_by(ANSWER):
                gathering = await self._gather(question, plan, answer_id, ledger, progress, tell)
            with ledger.in_force():
                gathered, composition = gathering.gathered, gathering.composition
                draft, choices = composition.draft, composition.choices
                statements = Statements(self._corpus, emit)
                sure, report = await self._say(question, gathering, statements, ledger)
            listed = [statements.list(finding) for finding in gathered.findings]
            passages = [] if statements.sentences or listed else composition.passages
            # a chat model that finds no answer has read the passages, too, unless a judge says that it is there
            counts = bool(passages) and (report is None or composition.verdict is not None)
            likely = counts and composition.passage >= LIKELY_AT
            sure = composition.passage if counts else sure
            shown = [
                statements.show(draft.units, passage, likely=likely and not place)
                for place, passage in enumerate(passages)
            ]
            missing = missing_parts(
                draft.parts,
                statements.sentences,
                len(draft.units),
                below_floor=bool(choices),
                unanswered=[] if report is None else report.unanswered,
            )
            differing = disagreements(statements.sentences)
            verdict = composition.verdict
            contradictions = judgement.contradiction_note(composition)
            coherence, coherence_reason = coherence_of(statements.sentences, differing, contradictions, verdict)
            tell(
                Reflected(
                    missing=missing, disagreements=differing, coherence=coherence, coherence_reason=coherence_reason
                )
            )
            model = None if report is None else report.model
            async with database.transaction() as connection:
                citations = await stored.store_citations(connection, answer_id, statements.quotes)
                confidence_note = confidence.note_of(
                    gathered,
                    draft.scores,
                    embedding=self._corpus.embedder.identity,
                    reranker=self._settings.reranker_provider,
                    model=model if verdict is None else verdict.model,
                )
                final_reason = reason_of(sure, draft, gathered, model, likely=likely)
                meaning = meaning_notes(draft, statements.choices)
                holds_for = [
                    *date_notes(question, plan, gathered),
                    *evidence_notes(citations),
                    *language_warnings(question.text, [passage.chunk for passage in gathered.ranked], self._settings),
                    *time_notes(question, statements.sentences),
                ]
                answer = Answer(
                    answer_id=answer_id,
                    trace_id=current_trace_id(),
                    question=question.text,
                    follows=question.follows,
                    wording=question.wording,
                    carried=list(question.carried),
                    parts=list(draft.parts),
                    form=composition.form,
                    composer=model or "extractive",
                    status=status_of(sure, gathered, partial=bool(missing), likely=likely),
                    band="likely" if likely else confidence.band_of(sure) if statements.sentences else "insufficient",
                    confidence=cut(sure),
                    confidence_note=confidence_note,
                    final_reason=final_reason,
                    sentences=statements.sentences,
                    highlights=shown,
                    citations=citations,
                    missing=missing,
                    disagreements=differing,
                    notes=[
                        *filter(None, [spelling_note(question.text, gathered.spellings)]),
                        *meaning,
                        *contradictions,
                        *agent_notes(gathered),
                        *holds_for,
                        *withheld_notes({} if statements.sentences else draft.withheld),
                        *change_notes(question, compared=_compared(gathered)),
                    ],
                    look_next=places_left(gathered.look_next, citations) if likely or sure < confidence.SURE_AT else [],
                    walk=gathered.walk,
                    listed=listed,
                    plan=plan,
                    tasks=gathered.tasks,
                    outcome=gathered.outcome,
                    verdict=verdict,
                    coherence=coherence,
                    coherence_reason=coherence_reason,
                    applicability=[*applicability(question, citations, draft.things), *holds_for],
                    uncertainty=uncertainty(
                        [final_reason, confidence_note],
                        lacking(composition.form, draft.things, draft.facts, statements.choices),
                        missing if len(draft.parts) > 1 else [],
                        gathered.tasks,
                    ),
                    spent=Spent(
                        seconds=round(time.perf_counter() - begun, 3),
                        composing_seconds=round(time.perf_counter() - gathering.composing, 3),
                        pages=gathered.pages,
                        rounds=len(gathered.walk),
                        chat_calls=ledger.chat.used,
                        replaced=0 if report is None else report.replaced,
                        providers=priced(ledger.meter.amounts, load_prices(self._settings)),
                    ),
                    warnings=gathered.warnings,
                    evidence_ids=gathered.evidence_ids,
                )
                await stored.finish_answer(connection, answer)
                with span("proof", sentences=len(answer.sentences)):
                    async for name, problem in recheck(connection, answer_id):  # nothing unproved is stored
                        if problem is not None:
                            raise IntegrityError(f"{name}: {problem}")
        await database.spending.flush(database.transaction)
        tell(Done(answer=answer))
        return answer

    async def _read(self, question: Question) -> Question:
        """The question as it is read behind the answer that it follows, if any."""
        async with self._corpus.database.connection() as connection:
            question = await read_in_dialogue(connection, question)
        guard.check_input(question.text)
        check_question(question.text)
        return question

    async def _register(self, question: Question, answer_id: int) -> None:
        async with self._corpus.database.connection() as connection:
            await stored.start_answer(
                connection,
                answer_id,
                question=question.text,
                seed_url=question.urls[0] if question.urls else None,
                options={
                    name: value
                    for name, value in asdict(question).items()
                    if name not in _ELSEWHERE and value not in (None, ())
                },
                follows=question.follows,
            )

    async def _gather(
        self,
        question: Question,
        plan: ExecutionPlan,
        answer_id: int,
        ledger: Ledger,
        progress: Progress | None,
        tell: Emit,
    ) -> _Gathering:
        """Run the plan and compose; then plan, run and compose again for the parts that its sentences leave open."""
        gathered = Gathered()
        executions: list[Execution] = []
        next_plan: ExecutionPlan | None = plan
        async with self._corpus.database.connection() as connection:
            await record_plan(connection, answer_id, plan)
        while next_plan is not None:
            iteration = len(executions) + 1
            tell(Planned(answer_id=answer_id, iteration=iteration, plan=next_plan))
            execution = await self._executor.execute(
                next_plan, ledger, progress=progress, tell=tell, on_end=partial(_tell_task, tell, iteration)
            )
            async with self._corpus.database.transaction() as connection:
                await record_tasks(connection, answer_id, iteration, execution)
            if iteration == 1 and execution.outcome == "failed":
                raise _failure(execution)
            for warning in execution.warnings:
                log_warning(logger, warning)
            executions.append(execution)
            gathered.add(execution, iteration)
            composing = time.perf_counter()
            reranker = make_sentence_reranker(self._settings, self._corpus.breakers, self._corpus.rankings)
            composition = await compose(question, gathered, self._settings, reranker)
            composition = judgement.judged(composition, await self._verdict(question, gathered, composition, ledger))
            gathered.warnings += [
                Caution(warning) for warning in warnings_of(composition.draft) if warning not in gathered.warnings
            ]
            done = composition.is_enough(plan.iteration.min_confidence) or iteration == plan.iteration.max_iterations
            next_plan = None
            if not done and ledger.seconds_left:
                next_plan = follow_up(executions, composition.open_parts(), composition.missing())
        return _Gathering(plan, gathered, composition, composing)

    async def _verdict(
        self, question: Question, gathered: Gathered, composition: Composition, ledger: Ledger
    ) -> Verdict | None:
        """What the chat model that judges says of the evidence: in the walk that gathered it, else now. None without
        one, where nothing is in doubt, and when it fails, with a warning."""
        if self._judge is None or gathered.verdict is not None:
            return gathered.verdict
        if not judgement.wants_verdict(composition, self._settings):
            return None
        draft = composition.draft
        try:
            with ledger.in_force():
                return await self._judge.judge(
                    gathered.meant(question.text),
                    draft.parts if len(draft.parts) > 1 else (),
                    judgement.best_chunks(composition),
                    seconds=max(1.0, ledger.seconds_left),
                )
        except ChatError as error:
            _warn(gathered, failure_warning(error))
            return None

    async def _say(
        self, question: Question, gathering: _Gathering, statements: Statements, ledger: Ledger
    ) -> tuple[float, ModelReport | None]:
        """Say what the chat model chooses, else the composition's own choices where they are sure enough. Returns the
        confidence in what is said, and the report of the model, if it chose."""
        gathered, sure, verdict = gathering.gathered, gathering.composition.sure, gathering.composition.verdict
        report = await self._say_by_model(question, gathering, statements, ledger)
        if report is not None and not statements.sentences and not statements.unproved:
            if sure >= confidence.ANSWERED_AT:
                _warn(
                    gathered,
                    f"{report.model} finds no answer in the evidence; without it, sentences would be given with"
                    f" confidence {percent(sure)} (ANSWER_COMPOSER=extractive)",
                )
            sure = 0.0
        elif report is not None:
            draft = gathering.composition.draft
            sure = (
                confidence.lifted(confidence.confidence_of(statements.choices, draft))
                if verdict is None
                else judgement.said_with(gathering.composition, statements.choices, verdict)
            )
        elif sure >= confidence.ANSWERED_AT:
            for choice in gathering.composition.choices:
                await statements.say(choice)
        if statements.unproved:
            _warn(gathered, f"sentences left out, because their page does not prove them: {statements.unproved}")
        return (sure if statements.sentences or sure < confidence.ANSWERED_AT else 0.0), report

    async def _say_by_model(
        self, question: Question, gathering: _Gathering, statements: Statements, ledger: Ledger
    ) -> ModelReport | None:
        """Say what the chat model chooses; None without one, when it fails before its first sentence, and when the
        evidence holds none of its sentences. A report without a sentence is its verdict: nothing answers."""
        draft, gathered = gathering.composition.draft, gathering.gathered
        verdict = gathering.composition.verdict
        denied = verdict is not None and judgement.probability_of(verdict) < confidence.ANSWERED_AT
        if self._chat is None or not draft.units or denied:
            return None
        settings = self._settings
        seconds = min(settings.answer_llm_timeout, ledger.seconds_left)
        composer = ModelComposer(self._chat, seconds, draft, gathering.composition.supports, settings.answer_max_words)
        try:
            async for choice in composer.choices(gathered.meant(question.text), stream=statements.streams):
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


def _tell_task(tell: Emit, iteration: int, task: Task, result: TaskResult) -> None:
    tell(TaskDone(task=report_of(task, result, iteration)))


def _tell_nobody(event: AnswerEvent) -> None:
    """Nobody reads the stream."""


def _warn(gathered: Gathered, warning: str) -> None:
    log_warning(logger, warning)
    gathered.warnings.append(Caution(warning))


def _compared(gathered: Gathered) -> bool:
    return any(task.kind == "history.changes" and task.findings for task in gathered.tasks)


def _failure(execution: Execution) -> WebragError:
    """Why a plan of which every task was lost failed: what the only one raised, else all reasons."""
    lost = [result for result in execution.results if result.lost]
    if len(lost) == 1 and isinstance(lost[0].cause, WebragError):
        return lost[0].cause
    reasons = [f"{item.id}: {item.error.message}" for item in lost if item.error is not None]
    return AgentsFailedError(f"no task of the plan brought a result ({'; '.join(reasons)})")
