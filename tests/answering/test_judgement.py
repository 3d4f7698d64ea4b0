"""A chat model that judges the evidence of answers: it raises, lowers, names what is missing; it cannot overrule checks
by code, and without it answers are as they were."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.answering.test_by_model import ask, choosing, honest, settings_of
from tests.answering.test_manager import QUESTION, QUEUES, THREADS
from tests.chat_server import said, sent_data
from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Reply, serving
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.answering.replay import recompose
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database

ASKED = Question(QUESTION, urls=(QUEUES,), expansion_budget=0)
Judge = Callable[[list[dict[str, Any]]], dict[str, Any]]

KETTLE = LocalSite(
    {
        "/": page(
            "Copper kettle",
            "The copper kettle is polished by hand. The copper kettle holds 1.7 litres of water."
            " It comes in three colours and goes with any stove that you have at home.",
        )
    }
)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def judging(judge: Judge, compose: Callable[[Call], Any] | None = None) -> Callable[[Call], Any]:
    """A server that judges what holds passages, and chooses among sentences."""

    def reply(call: Call) -> Any:
        data = sent_data(call)
        if "passages" in data:
            return said(json.dumps(judge(data["passages"])))
        return (compose or choosing(honest))(call)

    return reply


def with_judge(settings: Settings, server: Any, **more: Any) -> Settings:
    return settings_of(settings, server, **({"judge": "llm", "judge_doubt_to": 1.0} | more))


def named(passages: list[dict[str, Any]], text: str) -> list[int]:
    return [one["number"] for one in passages if text in one["text"]]


def reads_well(passages: list[dict[str, Any]]) -> dict[str, Any]:
    holds = named(passages, "thread-safe")
    return {"sufficient": "full" if holds else "none", "probability": 0.97 if holds else 0.03, "passages": holds}


def denies(passages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"sufficient": "none", "probability": 0.02, "passages": [], "missing": []}


def claims(passages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"sufficient": "full", "probability": 1.0, "passages": [one["number"] for one in passages]}


def calls_of(server: Any) -> list[str]:
    return ["judge" if "passages" in sent_data(call) else "composer" for call in server.calls]


def test_what_a_judge_reads_is_as_sure_as_the_judge_is(settings: Settings) -> None:
    with serving(judging(reads_well)) as server:
        answer = ask(with_judge(settings, server), ASKED)
    assert (answer.status, answer.band, answer.confidence) == ("answered", "high", 0.97)
    assert THREADS in answer.sentences[0].text
    assert answer.verdict is not None
    assert answer.verdict.sufficient == "full"
    assert answer.confidence_note == "uncalibrated: judged by m"
    assert calls_of(server) == ["judge", "composer"]
    assert answer.spent.chat_calls == 2


def test_a_judge_that_finds_no_answer_forbids_it(settings: Settings) -> None:
    with serving(judging(denies)) as server:
        answer = ask(with_judge(settings, server), ASKED)
    assert (answer.status, answer.sentences) == ("not_found", [])
    assert answer.confidence == 0.02
    assert calls_of(server) == ["judge"]  # nobody is paid to choose from it


@pytest.mark.parametrize("composer", ["llm", "extractive"])
def test_a_judge_raises_what_is_refused_without_it(settings: Settings, composer: str) -> None:
    question = Question("How much does the kettle take?", urls=(f"{SITE}/",), expansion_budget=0)
    plain = ask(settings, question, KETTLE)
    assert plain.status != "answered"

    def judge(passages: list[dict[str, Any]]) -> dict[str, Any]:
        return {"sufficient": "full", "probability": 0.9, "passages": named(passages, "1.7 litres")}

    def write(sentences: dict[str, str]) -> list[dict[str, Any]]:
        return [{"text": text, "from": [key]} for key, text in sentences.items() if "1.7 litres" in text]

    with serving(judging(judge, choosing(write))) as server:
        answer = ask(with_judge(settings, server, answer_composer=composer), question, KETTLE)
    if composer == "llm":
        assert (answer.status, answer.confidence) == ("answered", 0.9)
        assert "1.7 litres" in answer.sentences[0].text
    else:
        assert answer.status in ("answered", "likely")
        shown = [*(one.text for one in answer.sentences), *(one.text for one in answer.likely)]
        assert any("1.7 litres" in text for text in shown)


def test_a_judge_cannot_claim_against_the_checks(settings: Settings) -> None:
    question = Question("Does the Zanzibar kettle hold 1.7 litres?", urls=(f"{SITE}/",), expansion_budget=0)
    with serving(judging(claims, choosing(lambda sentences: [{"text": "x", "from": [key]} for key in sentences]))) as s:
        answer = ask(with_judge(settings, s), question, KETTLE)
    assert answer.status == "not_found"
    assert not answer.sentences


FAILURES: dict[str, Any] = {
    "babbles": said("I would say that they do."),
    "is silent": said(None),
    "fails": Reply("oops", 400),
    "hangs up": Reply(None, cut=True),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_judge_that_fails_changes_nothing_but_a_warning(settings: Settings, how: str) -> None:
    plain = ask(settings, ASKED)
    with serving(lambda call: FAILURES[how]) as server:
        answer = ask(with_judge(settings, server, answer_composer="extractive"), ASKED)
    assert [one.text for one in answer.sentences] == [one.text for one in plain.sentences]
    assert (answer.status, answer.confidence) == (plain.status, plain.confidence)
    assert answer.verdict is None
    assert any("judged by numbers alone" in warning for warning in answer.warnings)


def test_a_clear_case_costs_no_call(settings: Settings) -> None:
    with serving(judging(reads_well)) as server:
        answer = ask(with_judge(settings, server, answer_composer="extractive", judge_doubt_to=0.5), ASKED)
    assert answer.sentences
    assert server.calls == []


def test_what_a_judge_misses_is_searched_for(settings: Settings) -> None:
    site = LocalSite({"/": page("Queues", "A queue holds items."), "/b": page("Sizes", "Its maxsize is zero.")})

    def judge(passages: list[dict[str, Any]]) -> dict[str, Any]:
        return {"sufficient": "none", "probability": 0.1, "passages": [], "missing": ["maxsize of sizes"]}

    async def work(settings: Settings) -> Answer:
        async with Corpus.open(settings, site) as corpus:
            for path in ("/", "/b"):
                await corpus.add(f"{SITE}{path}")
            return await Manager(corpus).answer(Question("How many items does a queue hold?"))

    with serving(judging(judge)) as server:
        answer = asyncio.run(work(with_judge(settings, server)))
    assert [task.iteration for task in answer.tasks] == [1, 2]
    assert answer.status == "not_found"


def test_a_judged_answer_is_composed_again_without_a_call(settings: Settings) -> None:
    with serving(judging(reads_well)) as server:
        own = with_judge(settings, server, answer_composer="extractive")
        answer = ask(own, ASKED)
        made = len(server.calls)

        async def again() -> bool:
            async with await Database.open(own) as database:
                assert answer.answer_id is not None
                found = await recompose(database, own, answer.answer_id)
                return found.same and found.confidence == answer.confidence

        assert asyncio.run(again())
        assert len(server.calls) == made
