"""What `Manager.stream` tells while an answer comes into being, in this order."""

from __future__ import annotations

from typing import Literal

from webrag_core.answering.models import Answer, AnswerSentence, Disagreement, Missing, SentenceCitation
from webrag_core.retrieval.models import Contract


class Planned(Contract):
    """The question is accepted. Evidence comes from given `pages`, from what is `stored`, or from what was (`past`)."""

    event: Literal["planned"] = "planned"
    answer_id: int
    question: str
    evidence_from: Literal["pages", "stored", "past"]


class TaskDone(Contract):
    """Evidence was gathered: numbers of passages, of pages fetched and of rounds, and the parts of the question."""

    event: Literal["task_done"] = "task_done"
    passages: int
    pages: int
    rounds: int
    parts: list[str]


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
