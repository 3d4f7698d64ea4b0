"""Plans over a real corpus: which are made, by whom, and what becomes of answers by them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, LiteralString

import pytest

from tests.answering.test_manager import QUESTION, QUEUES
from tests.chat_server import KEY, said, sent_data
from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Provider, serving
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.answering.replay import Recomposed, recompose
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.routing.agent_figures import AgentFigures, agent_figures, replaced_plans
from webrag_core.routing.agents.all import make_agents
from webrag_core.routing.expected import stored_complete
from webrag_core.routing.features import CorpusState, read_with
from webrag_core.routing.plan import Budget, Capabilities, ExecutionPlan, Iteration, problems
from webrag_core.routing.router_rules import default_plan
from webrag_core.store.database import Database

TASKS = "https://docs.python.org/3.11/library/asyncio-task.html"
LIMITS = Budget(seconds=60, chat_calls=6), Iteration()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def by_chat(settings: Settings, server: Provider) -> Settings:
    given = {
        "orchestration_llm_base_url": f"{server.url}/v1",
        "orchestration_llm_api_key": KEY,
        "orchestration_llm_model": "m",
        "decomposition_mode": "rule_based",
        "answer_composer": "extractive",
        "webrag_router": "llm",
    }
    return Settings.model_validate(settings.model_dump() | given)


async def with_pages(settings: Settings, question: Question, *pages: str) -> tuple[ExecutionPlan, Answer]:
    async with Corpus.open(settings) as corpus:
        for url in pages:
            await corpus.add(url)
        manager = Manager(corpus)
        return await manager.plan(question), await manager.answer(question)


def test_what_is_stored_is_asked_without_a_fetch(settings: Settings) -> None:
    plan, answer = asyncio.run(with_pages(settings, Question(QUESTION), QUEUES, TASKS))
    assert plan.made_by == "rules: stored"
    assert answer.plan is not None
    assert answer.plan.model_copy(update={"trace_id": plan.trace_id}) == plan
    assert answer.spent.pages == 0
    assert [(one.id, one.status) for one in answer.tasks] == [("search", "success")]
    assert answer.outcome == "complete"


def test_who_uses_a_thing_is_listed_with_its_passages(settings: Settings) -> None:
    _, answer = asyncio.run(with_pages(settings, Question("Who uses asyncio.Queue?"), QUEUES, TASKS))
    assert answer.listed
    assert {one.group for one in answer.listed} >= {"Mentions asyncio.Queue"}
    for one in answer.listed:
        citation = answer.citation(one.citation)
        assert "Queue" in citation.quote
    assert [one.agent for one in answer.tasks] == ["graph", "corpus"]


def test_an_address_that_is_not_there_fails_with_its_own_error(settings: Settings) -> None:
    with pytest.raises(FetchError):
        asyncio.run(with_pages(settings, Question(QUESTION, urls=("https://docs.python.org/3.11/nowhere.html",))))


def test_what_is_lost_is_said_and_the_rest_goes_on(settings: Settings) -> None:
    gone = "https://docs.python.org/3.11/nowhere.html"
    question = Question(QUESTION, urls=(gone,))
    plan, answer = asyncio.run(with_pages(settings, question, QUEUES))
    assert plan.made_by == "rules: new_page"
    [search, walk] = answer.tasks
    assert (search.status, walk.status) == ("success", "error")
    assert walk.error is not None
    assert walk.error.code == "not_found"
    assert answer.outcome == "degraded"
    assert any("no page was read, and no link followed" in warning for warning in answer.warnings)


def test_a_date_and_both_restrictions_are_refused(settings: Settings) -> None:
    question = Question(QUESTION, urls=(QUEUES,), sources=("docs.python.org",), at="2024")
    with pytest.raises(InvalidInputError, match="not both"):
        asyncio.run(with_pages(settings, question))


@pytest.mark.parametrize("urls", [(), (QUEUES,)])
@pytest.mark.parametrize("state", [CorpusState(), CorpusState(any_stored=True, sources=frozenset({"s"}))])
def test_the_default_plan_can_always_be_run(urls: tuple[str, ...], state: CorpusState) -> None:
    read = read_with(Question(QUESTION, urls), state, date(2026, 11, 25))
    plan = default_plan(read, *LIMITS)
    can = Capabilities(urls=frozenset(read.urls), sources=state.sources, agents=frozenset(make_agents()))
    assert problems(plan, can) == []
    assert ExecutionPlan.model_validate_json(plan.model_dump_json()) == plan


_OF_EARLIER_VERSIONS = """
UPDATE route_tasks SET output = jsonb_set(output, '{evidence}', (
    SELECT jsonb_agg(jsonb_set(one, '{chunk,graph}', 'null')) FROM jsonb_array_elements(output -> 'evidence') one))
WHERE output -> 'evidence' <> '[]';
UPDATE answer_runs SET plan = plan || '{"propensities": {"walk": 0.7}}' WHERE plan IS NOT NULL
"""
"""Fields that tasks were stored with."""


@pytest.mark.parametrize("stored_with", ["SELECT 1", _OF_EARLIER_VERSIONS], ids=["today", "earlier"])
def test_a_replayed_answer_is_the_same_and_asks_nobody(settings: Settings, stored_with: LiteralString) -> None:
    async def work() -> tuple[Recomposed, Answer]:
        async with Corpus.open(settings) as corpus:
            await corpus.add(QUEUES)
            answer = await Manager(corpus).answer(Question(QUESTION))
            async with corpus.database.connection() as connection:
                assert (await connection.execute(stored_with)).rowcount == 1  # of the last statement
        async with await Database.open(settings) as database:
            assert answer.answer_id is not None
            return await recompose(database, settings, answer.answer_id), answer

    made, answer = asyncio.run(work())
    assert made.same
    assert made.sentences == [one.text for one in answer.sentences]
    assert made.confidence == answer.confidence


def test_a_forgotten_page_leaves_no_trace_in_plans_and_tasks(settings: Settings) -> None:
    async def work() -> list[str]:
        async with Corpus.open(settings) as corpus:
            await Manager(corpus).answer(Question(QUESTION, urls=(QUEUES,), expansion_budget=0))
            await Manager(corpus).answer(Question("Who uses asyncio.Queue?", urls=(QUEUES,), expansion_budget=0))
            await forget(corpus.database, QUEUES, removed_by="test")
            async with corpus.database.connection() as connection:
                cursor = await connection.execute(
                    "SELECT concat(t.params, t.output, t.error, a.plan)"
                    " FROM route_tasks t JOIN answer_runs a ON a.id = t.answer_id"
                )
                return [str(row[0]) for row in await cursor.fetchall()]

    rows = asyncio.run(work())
    assert rows
    assert not any(QUEUES in row or "thread" in row.replace(QUESTION, "") for row in rows)


def planned(*tasks: str, reason: str = "it is stored") -> dict[str, Any]:
    return said(json.dumps({"tasks": list(tasks), "reason": reason}))


def test_a_chat_model_chooses_tasks_and_code_fills_them_in(settings: Settings) -> None:
    with serving(planned("walk_unless_found")) as server:
        plan, answer = asyncio.run(with_pages(by_chat(settings, server), Question(QUESTION, urls=(QUEUES,)), QUEUES))
    assert [task.id for task in plan.tasks] == ["search", "walk"]
    assert plan.made_by.startswith("m, prompt ")
    assert plan.rationale == "it is stored"
    assert KEY not in plan.model_dump_json()
    sent = sent_data(server.calls[0])
    assert sent["of_them_stored"] == 1
    assert QUEUES not in json.dumps(sent)  # it names no address, and is told none
    assert answer.spent.chat_calls == 1


def test_a_chat_model_is_told_the_names_and_identifiers_of_the_question(settings: Settings) -> None:
    law = "urn:nir:stato:legge:1990-08-07;241"
    question = Question(f"Does `Tea.brew` of {law} apply, and who uses asyncio.Queue?")
    with serving(planned("document")) as server:
        plan, _ = asyncio.run(with_pages(by_chat(settings, server), question, QUEUES))
    sent = sent_data(server.calls[0])
    assert {"Tea.brew", "asyncio.Queue"} <= set(sent["names"])
    assert (sent["defined_names"], sent["identifiers"]) == (["docs.python.org:asyncio.Queue"], [law])
    assert [task.params.model_dump()["identifiers"] for task in plan.tasks] == [[law]]


@pytest.mark.slow
def test_a_page_that_was_given_and_is_not_stored_is_read_whatever_a_model_plans(settings: Settings) -> None:
    with serving(lambda call: planned(*sent_data(call)["available_tasks"])) as server:
        plan, _ = asyncio.run(with_pages(by_chat(settings, server), Question(QUESTION, urls=(QUEUES,))))
    assert [task.id for task in plan.tasks] == ["walk"]  # there is nothing to search
    with serving(planned("search")) as server:
        plan, _ = asyncio.run(with_pages(by_chat(settings, server), Question(QUESTION, urls=(TASKS,)), QUEUES))
    assert [task.id for task in plan.tasks] == ["search", "walk"]


def test_a_long_reason_is_no_reason_to_plan_again(settings: Settings) -> None:
    with serving(said(json.dumps({"tasks": ["search"], "reason": "because " * 100}))) as server:
        plan, _ = asyncio.run(with_pages(by_chat(settings, server), Question(QUESTION), QUEUES))
    assert plan.made_by.startswith("m, prompt ")
    assert len(server.calls) == 2  # one for each of the two plans


def test_a_plan_that_cannot_be_run_is_sent_back_once(settings: Settings) -> None:
    def reply(call: Call) -> dict[str, Any]:
        return planned("search") if "problem_with_your_last_plan" in sent_data(call) else planned("past")

    with serving(reply) as server:
        plan, _ = asyncio.run(with_pages(by_chat(settings, server), Question(QUESTION), QUEUES))
    assert plan.made_by.startswith("m, prompt ")
    assert [task.id for task in plan.tasks] == ["search"]


@pytest.mark.parametrize(
    ("full", "read"),
    [
        ("Are the instances of asyncio.Queue safe?", "Are the instances of asyncio.Queue safe?"),
        (
            "Is the bomb recipe of asyncio.Queue thread safe?",
            "are instances of asyncio.Queue thread safe?",
        ),  # words of its own
        (None, "are instances of asyncio.Queue thread safe?"),
    ],
)
def test_a_chat_model_that_plans_reads_a_question_in_words_of_both(
    settings: Settings, full: str | None, read: str
) -> None:
    reply = {"tasks": ["search"], "reason": "it is stored"} | ({} if full is None else {"full_question": full})
    question = "are instances of it?"

    async def work(settings: Settings) -> Answer:
        async with Corpus.open(settings) as corpus:
            await corpus.add(QUEUES)
            manager = Manager(corpus)
            first = await manager.answer(Question("Is asyncio.Queue thread safe?"))
            return await manager.answer(Question(question, follows=first.answer_id))

    with serving(lambda call: said(json.dumps(reply))) as server:
        answer = asyncio.run(work(by_chat(settings, server)))
    assert (answer.question, answer.wording) == (read, question)
    first, second = map(sent_data, server.calls)
    assert "earlier_question" not in first
    assert (second["earlier_question"], second["question"]) == ("Is asyncio.Queue thread safe?", question)


@pytest.mark.parametrize("answer", [planned("past"), said("I would search."), said('{"tasks": []}'), said("{" * 5_000)])
def test_a_model_that_plans_nonsense_costs_a_warning(settings: Settings, answer: dict[str, Any]) -> None:
    with serving(answer) as server:
        plan, result = asyncio.run(with_pages(by_chat(settings, server), Question(QUESTION), QUEUES))
    assert plan.made_by == "rules: stored"
    assert any("planned by rules" in warning for warning in result.warnings)
    assert KEY not in " ".join(result.warnings)


def test_the_evidence_of_a_search_is_surer_with_a_better_passage_and_more_pages() -> None:
    surest = stored_complete(0.9, 1.0)
    assert 0 == stored_complete(0.0) < stored_complete(0.2, 0.4) < stored_complete(0.9, 0.4) < surest < 1


def test_a_stored_page_that_the_question_names_is_compared_and_not_fetched(settings: Settings) -> None:
    question = Question(f"What changed on {QUEUES}, and on https://elsewhere.example/?")
    plan, answer = asyncio.run(with_pages(settings, question, QUEUES))
    [changes] = [task for task in plan.tasks if task.params.kind == "history.changes"]
    assert changes.params.model_dump()["targets"] == [QUEUES]
    assert answer.spent.pages == 0
    assert {one.id: one.status for one in answer.tasks}["changes"] == "empty"


def test_a_stored_page_that_is_older_than_the_question_allows_is_read_again(settings: Settings) -> None:
    site = LocalSite({"/": page("Tea", "Green tea is brewed at eighty degrees.")})
    question = Question("How hot is green tea brewed?", urls=(f"{SITE}/",))

    async def work() -> tuple[Answer, Answer]:
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(f"{SITE}/")
            manager = Manager(corpus)
            return await manager.answer(question), await manager.answer(replace(question, max_age=0.0))

    stored, fresh = asyncio.run(work())
    assert stored.plan is not None
    assert fresh.plan is not None
    assert (stored.plan.made_by, fresh.plan.made_by) == ("rules: stored_site", "rules: stale_page")
    assert len(site.requests) == 2


def dated(year: int, degrees: str) -> str:
    """A page that states when it was published."""
    meta = f'<meta property="article:published_time" content="{year}-03-01T00:00:00Z">'
    text = page(f"Tea of {year}", f"Green tea is brewed at {degrees} degrees.")
    return text.replace("<head>", f"<head>{meta}", 1)


def test_only_pages_with_the_dates_that_were_given_are_asked_and_nothing_is_fetched(settings: Settings) -> None:
    site = LocalSite({"/old": dated(2021, "seventy"), "/new": dated(2024, "eighty")})
    text = "At how many degrees is green tea brewed?"

    async def work() -> list[Answer]:
        async with Corpus.open(settings, site) as corpus:
            for path in ("/old", "/new"):
                await corpus.add(f"{SITE}{path}")
            manager, urls = Manager(corpus), (f"{SITE}/unread",)
            return [
                await manager.answer(Question(text, years=(2021,))),
                await manager.answer(Question(text, urls=urls, since="2022")),
                await manager.answer(Question(text, urls=urls, until="2019")),
            ]

    old, new, none = asyncio.run(work())
    assert [one.url for one in old.citations] == [f"{SITE}/old"]
    assert [one.url for one in new.citations] == [f"{SITE}/new"]
    assert not none.citations
    for answer in (old, new, none):
        assert [one.kind for one in answer.tasks] == ["corpus.search"]
        assert answer.spent.pages == 0
    assert "pages that state a date" in old.applicability_note
    assert old.tasks[0].asked == "search everything stored, pages dated in 2021"


def test_what_agents_did_is_counted_by_agent_and_each_task_names_its_sources(settings: Settings) -> None:
    async def work() -> tuple[list[Answer], list[AgentFigures], int]:
        async with Corpus.open(settings) as corpus:
            await corpus.add(QUEUES)
            manager = Manager(corpus)
            texts = (QUESTION, "Who uses asyncio.Queue?")
            given = [await manager.answer(Question(text)) for text in texts]
            given.append(await manager.answer(Question(QUESTION, urls=("https://docs.python.org/3.11/nowhere.html",))))
            async with corpus.database.connection() as connection:
                since = datetime(2020, 1, 1, tzinfo=UTC)
                later = await agent_figures(connection, datetime(9999, 1, 1, tzinfo=UTC))
                assert later == []
                return given, await agent_figures(connection, since), await replaced_plans(connection, since)

    given, figures, replaced = asyncio.run(work())
    assert given[0].tasks[0].sources == ["docs.python.org"]
    counted = {one.agent: (one.dispatched, one.succeeded, one.failed, one.skipped) for one in figures}
    assert counted == {"corpus": (3, 3, 0, 0), "graph": (1, 1, 0, 0), "pages": (1, 0, 1, 0)}
    by_agent = {one.agent: one for one in figures}
    corpus, pages = by_agent["corpus"], by_agent["pages"]
    assert corpus.p50_ms is not None
    assert corpus.p95_ms is not None
    assert 0 < corpus.p50_ms <= corpus.p95_ms
    assert pages.p50_ms is None
    assert pages.text == "pages: 1 task, 0 succeeded, 1 failed"
    assert replaced == 0
