"""The order of sentences by a configured reranker, over the wire, and what happens when it fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.answering.test_manager import QUESTION, QUEUES, THREADS
from tests.provider_server import Call, Provider, Reply, serving
from tests.retrieval.test_rerankers import envelope, results
from webrag_core.answering.compose.draft import Draft, draft_of
from webrag_core.answering.compose.reranked import SENT, make_sentence_reranker
from webrag_core.answering.gathering import Gathered, gathered_of
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import AnswerRequest, OrchestratorEngine

ASKED = Question(QUESTION, urls=(QUEUES,), expansion_budget=0)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def preferring(call: Call) -> dict[str, Any]:
    """A reranker for which one kind of sentence, and no other, is relevant."""
    documents = call.body["documents"]
    return envelope("jina", results(*((at, 0.9 if "FIFO" in text else 0.01) for at, text in enumerate(documents))))


def settings_of(settings: Settings, server: Provider) -> Settings:
    more = {"reranker_provider": "jina", "reranker_base_url": server.url, "reranker_timeout": 5.0}
    return Settings.model_validate(settings.model_dump() | more)


async def drafted(settings: Settings, gathered: Gathered) -> Draft:
    return await draft_of(QUESTION, gathered.parts, gathered.ranked, None, reranker=make_sentence_reranker(settings))


def test_the_reranker_reads_the_likeliest_sentences_and_orders_them(settings: Settings) -> None:
    async def work(own: Settings) -> Draft:
        async with Corpus.open(settings) as corpus:
            request = AnswerRequest((QUEUES,), QUESTION, mode="chunk", expansion_budget=0)
            return await drafted(own, gathered_of(await OrchestratorEngine(corpus).run(request)))

    with serving(preferring) as server:
        draft = asyncio.run(work(settings_of(settings, server)))
    [call] = server.calls
    assert 10 < len(call.body["documents"]) <= SENT
    assert any(THREADS in text for text in call.body["documents"])
    [score] = draft.scores
    assert "FIFO" in draft.units[score.order[0]].text
    assert len(score.order) == len(draft.units)


def ask(settings: Settings) -> Answer:
    async def work() -> Answer:
        async with Corpus.open(settings) as corpus:
            return await Manager(corpus).answer(ASKED)

    return asyncio.run(work())


def test_its_confidence_is_called_uncalibrated(settings: Settings) -> None:
    with serving(preferring) as server:
        answer = ask(settings_of(settings, server))
    assert "uncalibrated" in answer.confidence_note
    texts = [*(one.text for one in answer.sentences), *(one.quote for one in answer.citations)]
    assert any("FIFO" in text for text in texts)


def test_a_reranker_that_fails_costs_a_warning(settings: Settings) -> None:
    with serving(Reply({}, 500)) as server:
        answer = ask(settings_of(settings, server))
    assert any(THREADS in one.text for one in answer.sentences)
    assert any("sentences ordered without the reranker" in warning for warning in answer.warnings)


def test_the_same_question_sends_no_pair_again(settings: Settings) -> None:
    async def work(settings: Settings) -> tuple[Answer, int, Answer]:
        async with Corpus.open(settings) as corpus:
            manager = Manager(corpus)
            first = await manager.answer(ASKED)
            return first, len(server.calls), await manager.answer(ASKED)

    with serving(preferring) as server:
        first, calls, again = asyncio.run(work(settings_of(settings, server)))
    assert len(server.calls) == calls > 0
    assert [one.text for one in again.sentences] == [one.text for one in first.sentences]
