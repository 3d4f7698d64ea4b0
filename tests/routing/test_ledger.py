"""One ledger for a whole answer: every exchange with a chat model counts, whoever has it, and time is kept."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.answering.test_by_model import settings_of
from tests.answering.test_manager import QUESTION, QUEUES, THREADS
from tests.chat_server import analysis, said, sent_data
from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, serving
from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.config import Settings
from webrag_core.errors import AgentsFailedError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.chat import chat_allowance
from webrag_core.routing.budget import Ledger
from webrag_core.routing.plan import Budget

ASKED = Question(QUESTION, urls=(QUEUES,), expansion_budget=0)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def reply(call: Call) -> Any:
    """Analyses what is to be analysed, and composes of what it is given."""
    data = sent_data(call)
    if "sections" not in data:
        return analysis("queues between threads")
    sentences = {key: text for row in data["sections"] for key, text in row["sentences"].items()}
    key = next(key for key, text in sentences.items() if THREADS in text)
    return said(json.dumps({"sentences": [{"text": sentences[key], "from": [key]}], "unanswered": []}))


def ask(settings: Settings, question: Question = ASKED, site: Any = None) -> Answer:
    async def work() -> Answer:
        async with Corpus.open(settings, site) as corpus:
            answer = await Manager(corpus).answer(question)
            assert chat_allowance.get() is None
            return answer

    return asyncio.run(work())


def test_analysis_and_composition_count_together(settings: Settings) -> None:
    with serving(reply) as server:
        answer = ask(settings_of(settings, server, decomposition_mode="llm"))
        assert answer.spent.chat_calls == len(server.calls) == 2
    assert answer.composer == "m"


def test_what_analysis_has_spent_composition_lacks(settings: Settings) -> None:
    with serving(reply) as server:
        answer = ask(settings_of(settings, server, decomposition_mode="llm", answer_chat_calls=1))
        assert answer.spent.chat_calls == len(server.calls) == 1
    assert answer.composer == "extractive"
    assert any(THREADS in one.text for one in answer.sentences)
    [warning] = [one for one in answer.warnings if "ANSWER_CHAT_CALLS" in one]
    assert "its 1 exchanges" in warning


def test_without_an_allowance_nobody_is_asked(settings: Settings) -> None:
    with serving(reply) as server:
        answer = ask(settings_of(settings, server, decomposition_mode="llm", answer_chat_calls=0))
        assert (answer.spent.chat_calls, server.calls) == (0, [])
    assert answer.composer == "extractive"
    assert any(THREADS in one.text for one in answer.sentences)
    assert any("ANSWER_CHAT_CALLS" in one for one in answer.warnings)


class Slow(LocalSite):
    """Every page takes a minute."""

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        await asyncio.sleep(3_600)
        return await LocalSite.fetch(self, url, etag=etag, last_modified=last_modified)


def test_the_seconds_of_an_answer_are_kept(settings: Settings) -> None:
    own = settings.model_copy(update={"answer_seconds": 1.0})

    async def work() -> None:
        async with Corpus.open(own, Slow({"/": page("Tea", "Tea is brewed.")})) as corpus:
            with pytest.raises(AgentsFailedError, match="no result within"):
                await Manager(corpus).answer(Question("How is tea brewed?", urls=(SITE,)))

    asyncio.run(work())


def test_a_ledger_runs_down_by_its_clock() -> None:
    now = [100.0]
    ledger = Ledger(Budget(seconds=5, chat_calls=1), clock=lambda: now[0])
    assert ledger.seconds_left == 5
    now[0] += 4.5
    assert ledger.seconds_left == 0.5
    now[0] += 9
    assert ledger.seconds_left == 0
    with ledger.in_force():
        assert chat_allowance.get() is ledger.chat
    assert chat_allowance.get() is None
