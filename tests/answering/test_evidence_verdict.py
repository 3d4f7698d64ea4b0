"""`answer` and `ask` give one verdict on the same passages."""

from __future__ import annotations

import asyncio

import pytest

from tests.answering.test_manager import QUESTION, QUEUES
from webrag_core.answering.models import Answer
from webrag_core.application.operations import Ask, GatherEvidence
from webrag_core.application.services import Services
from webrag_core.config import Settings
from webrag_core.history.answers import open_answer
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.models import OrchestrationResult

QUESTIONS = (
    QUESTION,
    "How many items can an asyncio queue hold by default?",
    "What does join wait for?",
    "When was Zanzibar founded?",
)


async def both(settings: Settings, question: str) -> tuple[OrchestrationResult, Answer, str | None, str]:
    async with Corpus.open(settings) as corpus:
        services = Services.over(corpus)
        evidence = await GatherEvidence.of(urls=(QUEUES,), question=question, expansion_budget=0, mode="chunk").run(
            services
        )
        answer = await Ask.of(question=question, urls=(QUEUES,), expansion_budget=0).run(services)
        assert evidence.answer_id is not None
        kept = (await open_answer(corpus.database, evidence.answer_id)).answer
        return evidence, answer, kept.status, kept.percent()


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_verdict(settings: Settings, question: str) -> None:
    evidence, answer, status, percent = asyncio.run(both(settings, question))
    assert evidence.status == answer.status == status
    assert evidence.confidence == answer.confidence
    assert percent in evidence.summary()
    if evidence.status != "not_found":
        assert evidence.best_citation == evidence.best_first[0].number
        assert percent in evidence.verdict_line()
