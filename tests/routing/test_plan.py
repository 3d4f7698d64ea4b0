"""What is wrong with a plan is said at once; dates and intents are read out of questions, whatever they hold."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from webrag_core.routing.features import CorpusState, read_with
from webrag_core.routing.intents import intent_of, names_in
from webrag_core.routing.plan import (
    ApiFetch,
    Budget,
    Capabilities,
    CorpusSearch,
    ExecutionPlan,
    HistoryChanges,
    HistoryPage,
    PagesWalk,
    Task,
    problems,
)
from webrag_core.routing.question import Question
from webrag_core.routing.question_dates import as_of, since_of, until_of
from webrag_core.routing.task_words import task_words

URL = "https://docs.example/a"
TODAY = date(2026, 11, 25)
CAN = Capabilities(
    urls=frozenset({URL}),
    sources=frozenset({"docs.example", "b.example"}),
    agents=frozenset({"corpus", "pages", "history"}),
)


def plan_of(*tasks: Task, parts: int = 1) -> ExecutionPlan:
    return ExecutionPlan(
        question="?",
        parts=["?"] * parts,
        tasks=list(tasks),
        budget=Budget(seconds=20, chat_calls=1),
        made_by="test",
        rationale="because",
    )


def search(name: str = "search", **options: Any) -> Task:
    return Task(id=name, params=CorpusSearch(query="?"), **options)


def test_a_good_plan_has_no_problem() -> None:
    walk = Task(id="walk", params=PagesWalk(query="?", urls=[URL]), after=["search"], unless=0.5)
    assert problems(plan_of(search(required=True), walk), CAN) == []


def test_every_problem_is_named_at_once() -> None:
    wrong = plan_of(
        search(),
        search(),
        search("far", after=["nowhere"], sub_question=3, deadline=99),
        search("lazy", unless=0.5),
        search("both", after=["search"], unless=0.5, required=True),
        Task(id="walk", params=PagesWalk(query="?", urls=["https://evil.example/"], sources=["unknown"])),
        Task(id="page", params=HistoryPage(url="https://elsewhere.example/", at="2024")),
        Task(id="changes", params=HistoryChanges(targets=["unknown.example"])),
    )
    text = "\n".join(problems(wrong, CAN))
    for problem in (
        "two tasks are called search",
        "far: waits for nowhere, which is no task of this plan",
        "far: serves part 4 of a question with 1",
        "far: may take 99 s, and the whole answer 20 s",
        "lazy: is to be skipped because of other tasks, and waits for none",
        "both: is required, and may be skipped",
        "walk: would fetch https://evil.example/, which nobody gave",
        "walk: source unknown is not one that may be asked",
        "page: https://elsewhere.example/ is neither stored nor given",
        "changes: source unknown.example is not one that may be asked",
    ):
        assert problem in text


def test_a_circle_and_an_agent_without_a_backend() -> None:
    circle = plan_of(search("a", after=["c"]), search("b", after=["a"]), search("c", after=["b"]), search("d"))
    assert problems(circle, CAN) == ["tasks wait for each other in a circle: a, b, c"]
    none = Capabilities(urls=frozenset(), sources=frozenset(), agents=frozenset())
    assert problems(plan_of(search()), none) == ["search: agent corpus has nothing to work with here"]


def test_a_plan_stays_within_the_sources_that_the_caller_named() -> None:
    within = Capabilities(urls=frozenset(), sources=CAN.sources, agents=CAN.agents, within=frozenset({"b.example"}))
    beyond = plan_of(search(), Task(id="other", params=CorpusSearch(query="?", sources=["docs.example"])))
    assert problems(beyond, within) == [
        "search: asks beyond the sources b.example",
        "other: source docs.example is not one that may be asked",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"tasks": []},
        {"tasks": [search(f"t{n}") for n in range(9)]},
        {"parts": []},
        {"version": 2},
        {"unknown": 1},
        {"tasks": [{"id": "x", "params": {"kind": "corpus.search", "query": "?", "sql": "DROP"}}]},
        {"tasks": [{"id": "x", "params": {"kind": "shell.run", "query": "?"}}]},
        {"tasks": [{"id": "X y", "params": {"kind": "corpus.search", "query": "?"}}]},
    ],
)
def test_what_is_no_plan_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExecutionPlan.model_validate({**plan_of(search()).model_dump(), **change})


@pytest.mark.parametrize(
    ("question", "since"),
    [
        ("What changed since March?", "2026-03"),
        ("What changed since December?", "2025-12"),
        ("What changed since 2024-05-17?", "2024-05-17"),
        ("What changed after 3 May 2024?", "2024-05-03"),
        ("What is new since yesterday?", "2026-11-24"),
        ("What is new since last week?", "2026-11-18"),
        ("What changed since version 3.11?", None),
        ("What has changed since 2024-13?", None),
        ("What changed?", None),
    ],
)
def test_dates_since_which_changes_are_asked_for(question: str, since: str | None) -> None:
    assert since_of(question, TODAY) == since


@pytest.mark.parametrize(
    ("question", "at"),
    [
        ("What did it say as of 2024-05-17?", "2024-05-17"),
        ("What was the default in 2010?", "2010"),
        ("What did it say in March 2023?", "2023-03"),
        ("Which features come in 2030?", None),
        ("What was planned for the release in 2030?", None),
        ("How do I filter rows in 2010?", None),
        ("What was the default in Python 3.10?", None),
    ],
)
def test_past_dates_that_are_asked_about(question: str, at: str | None) -> None:
    assert as_of(question, TODAY) == at


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_no_question_is_too_odd(text: str) -> None:
    intent_of(text)
    names_in(text)
    for read in (since_of, until_of, as_of):
        read(text, TODAY)


@pytest.mark.parametrize(
    "piece", ["who uses ", "what methods are there of ", "since ", "as of ", "'", "a.", "default of "]
)
def test_hostile_questions_are_read_in_linear_time(piece: str) -> None:
    text = (piece * 8_000)[:8_000]  # the longest question that is let in
    intent_of(text)
    names_in(text)
    as_of(text, TODAY)


def test_every_task_can_be_put_into_words() -> None:
    assert (
        task_words(HistoryChanges(targets=["docs.example"], since="2024")) == "what changed on docs.example since 2024"
    )
    assert task_words(PagesWalk(query="?", urls=[URL])) == f"read {URL} and follow links"


@pytest.mark.parametrize(
    "question",
    [
        "What changed since ſeptember?",
        "What changed since ٢٠٢٤-٠٥?",
        "What was it in ２０１０?",
        "What does https://[ say?",
        "Compare http://[a, and urn:nir:x",
    ],
)
def test_odd_letters_and_brackets_are_no_internal_error(question: str) -> None:
    read = read_with(Question(question), CorpusState(any_stored=True), TODAY)
    assert read.since in (None, "2026-09")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", [":", ".", "aA", "-", "aA:", "'", "(", "since ", "up to ", "was in ", "list the all "]
)
@pytest.mark.parametrize("end", ["", ":b", "....x"])
def test_a_hundred_thousand_hostile_letters_are_read_in_linear_time(piece: str, end: str) -> None:
    text = (piece * 100_000)[:100_000] + end
    intent_of(text)
    names_in(text)
    for read in (since_of, until_of, as_of):
        read(text, TODAY)


def test_a_web_archive_is_asked_only_for_addresses_that_the_caller_gave() -> None:
    can = Capabilities(urls=frozenset({URL}), sources=frozenset(), agents=frozenset({"api"}))

    def of(*identifiers: str) -> list[str]:
        return problems(plan_of(Task(id="document", params=ApiFetch(identifiers=list(identifiers)))), can)

    assert of(URL, "urn:nir:stato:legge:1990-08-07;241~art2") == []
    assert of("http://169.254.169.254/") == ["document: would fetch http://169.254.169.254/, which nobody gave"]
