"""What `Manager.stream` tells while an answer comes into being, in this order.

The loop's events stand between `planned` and the `task_done` of the task that walks. `type` is stable; the JSON form is
`model_dump(mode="json")`.
"""

from __future__ import annotations

from typing import Literal

from webrag_core.answering.models import Answer, AnswerSentence, Coherence, Disagreement, Missing, SentenceCitation
from webrag_core.orchestration.events import WalkEvent
from webrag_core.retrieval.models import Contract
from webrag_core.routing.plan import ExecutionPlan
from webrag_core.routing.results import TaskReport


class Planned(Contract):
    """The question is accepted, and this is what will be done. Told again when what is open is planned anew."""

    type: Literal["planned"] = "planned"
    answer_id: int
    iteration: int
    plan: ExecutionPlan


class TaskDone(Contract):
    """A task ended."""

    type: Literal["task_done"] = "task_done"
    task: TaskReport


class CitationReady(Contract):
    """A quote that the next sentence cites."""

    type: Literal["citation"] = "citation"
    citation: SentenceCitation


class SentenceReady(Contract):
    """A sentence, proved from the database and in its final place."""

    type: Literal["sentence"] = "sentence"
    sentence: AnswerSentence


class Reflected(Contract):
    """What the sentences leave open, and where they disagree."""

    type: Literal["reflection"] = "reflection"
    missing: list[Missing]
    disagreements: list[Disagreement]
    coherence: Coherence | None = None
    coherence_reason: str = ""


class Done(Contract):
    """The whole answer, stored."""

    type: Literal["done"] = "done"
    answer: Answer


AnswerEvent = Planned | WalkEvent | TaskDone | CitationReady | SentenceReady | Reflected | Done
