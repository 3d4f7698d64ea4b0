"""What `Manager.stream` tells while an answer comes into being, in this order."""

from __future__ import annotations

from typing import Literal

from webrag_core.answering.models import Answer, AnswerSentence, Disagreement, Missing, SentenceCitation
from webrag_core.retrieval.models import Contract
from webrag_core.routing.plan import ExecutionPlan
from webrag_core.routing.results import TaskReport


class Planned(Contract):
    """The question is accepted, and this is what will be done. Told again when what is open is planned anew."""

    event: Literal["planned"] = "planned"
    answer_id: int
    iteration: int
    plan: ExecutionPlan


class TaskDone(Contract):
    """A task ended."""

    event: Literal["task_done"] = "task_done"
    task: TaskReport


class CitationReady(Contract):
    """A quote that the next sentence cites."""

    event: Literal["citation"] = "citation"
    citation: SentenceCitation


class SentenceReady(Contract):
    """A sentence, proved from the database and in its final place."""

    event: Literal["sentence"] = "sentence"
    sentence: AnswerSentence


class Reflected(Contract):
    """What the sentences leave open, and where they disagree."""

    event: Literal["reflection"] = "reflection"
    missing: list[Missing]
    disagreements: list[Disagreement]


class Done(Contract):
    """The whole answer, stored."""

    event: Literal["done"] = "done"
    answer: Answer


Event = Planned | TaskDone | CitationReady | SentenceReady | Reflected | Done
