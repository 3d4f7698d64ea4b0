"""Compose a past answer again from what its tasks brought, and what a judge said of it. Nobody is asked, nothing is
fetched or stored."""

from __future__ import annotations

from dataclasses import dataclass

from webrag_core.answering.composition import compose
from webrag_core.answering.gathering import Gathered
from webrag_core.answering.judgement import judged
from webrag_core.answering.models import Answer
from webrag_core.answering.proof.recheck import recheck
from webrag_core.answering.stored import load_answer
from webrag_core.config.answering import AnsweringSettings
from webrag_core.percentages import cut
from webrag_core.routing.question import Question
from webrag_core.routing.stored_tasks import load_executions
from webrag_core.store.database import Database


@dataclass(frozen=True, slots=True)
class Recomposed:
    """A stored answer beside what the same evidence gives now.

    `sentences` are composed again; None for an answer whose sentences a chat model chose, which is not asked again.
    `unproved` names the stored sentences that no longer follow from their pages.
    """

    answer: Answer
    sentences: list[str] | None
    confidence: float | None
    unproved: list[str]

    @property
    def same(self) -> bool:
        """Whether the same sentences were said, and all of them are proved."""
        sentences = [sentence.text for sentence in self.answer.sentences]
        return not self.unproved and (self.sentences is None or self.sentences == sentences)


async def recompose(database: Database, settings: AnsweringSettings, answer_id: int) -> Recomposed:
    """Compose the answer again. Raises InvalidInputError for one without a plan, and where its evidence is no longer
    kept."""
    async with database.connection() as connection:
        answer = await load_answer(connection, answer_id)
        executions = await load_executions(connection, answer_id)
        unproved = [name async for name, problem in recheck(connection, answer_id) if problem is not None]
    if answer.composer != "extractive":
        return Recomposed(answer, None, None, unproved)
    gathered = Gathered()
    for iteration, execution in enumerate(executions, start=1):
        gathered.add(execution, iteration)
    question = Question(answer.question, form=answer.form)
    composition = judged(await compose(question, gathered, settings), answer.verdict)
    texts = [choice.saying.text for choice in composition.choices] if composition.is_said else []
    shows = bool(composition.passages) and not composition.is_said and not gathered.findings
    return Recomposed(answer, texts, cut(composition.passage if shows else composition.sure), unproved)
