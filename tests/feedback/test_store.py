"""Feedback on a real answer: what is taken, what is refused, what becomes of it when pages go."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from evals.retrieval.data import load_documents, load_questions
from tests.local_site import SITE, LocalSite
from tests.mcp_server.tea_site import GREEN, QUESTION, SEED, tea_settings, tea_site
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.config import Settings
from webrag_core.corpus.forget import forget
from webrag_core.corpus.retention import prune
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.errors import InvalidInputError
from webrag_core.feedback.goldens import golden_files, renew_goldens, write_goldens
from webrag_core.feedback.models import Better, Feedback, NewFeedback
from webrag_core.feedback.proof import NotVerbatimError
from webrag_core.feedback.store import MOST_OF_MODELS_A_DAY, decide, list_feedback, record
from webrag_core.indexing.pipeline import Corpus
from webrag_core.store.database import Database

TWO_MINUTES = "It is left for two minutes, never longer: bitter substances dissolve after that."
GREEN_URL = f"{SITE}/green-tea"
BETTER = Better(GREEN_URL, TWO_MINUTES)


@pytest.fixture
def tea(database_url: str, tmp_path: Path) -> Settings:
    return tea_settings(database_url, webrag_home=tmp_path, webrag_previews=2)


def asked(settings: Settings, site: LocalSite | None = None) -> Answer:
    async def work() -> Answer:
        async with Corpus.open(settings, site or tea_site()) as corpus:
            return await Manager(corpus).answer(Question(QUESTION, urls=(SEED, GREEN_URL), expansion_budget=0))

    return asyncio.run(work())


def said(settings: Settings, answer_id: int = 1, **more: Any) -> Feedback:
    """Record feedback of Ada's; `more` changes it."""
    given = {"kind": "helpful", "actor": "Ada", "actor_kind": "person", **more}

    async def work() -> Feedback:
        async with await Database.open(settings) as database:
            return await record(database, NewFeedback(answer_id=answer_id, **given))

    return asyncio.run(work())


def on_database(settings: Settings, work: Callable[[Database], Any]) -> Any:
    async def opened() -> Any:
        async with await Database.open(settings) as database:
            return await work(database)

    return asyncio.run(opened())


async def violations(database: Database) -> list[str]:
    return [f"{one.rule} {one.where}" async for one in verify_corpus(database, VerificationCounts())]


def prose_id(settings: Settings) -> int:
    number = asked(settings).answer_id
    assert number is not None
    return number


def of_an_earlier_version(settings: Settings, answer_id: int) -> None:
    """Give the answer a row as earlier versions wrote them: a passage that it considered."""
    with psycopg.connect(str(settings.database_url)) as connection:
        connection.execute(
            "INSERT INTO exposures (answer_id, rank, chunk_id, agent, shown, propensity)"
            " SELECT %s, 1, k.id, 'pages', false, 1 FROM chunks k JOIN documents d ON d.id = k.document_id"
            " WHERE d.canonical_url = %s AND k.level = 'parent' LIMIT 1",
            (answer_id, GREEN_URL),
        )
        rows = connection.execute(
            "SELECT answer_id, rank, agent, shown, propensity FROM contract.v_exposure"
        ).fetchall()
    assert rows == [(answer_id, 1, "pages", False, 1.0)]


def test_feedback_is_stored_as_it_was_said(tea: Settings) -> None:
    number = prose_id(tea)
    stored = said(tea, number, kind="wrong", citation=1, text="It says eighty.", value=-2)
    assert (stored.kind, stored.value, stored.citation, stored.text) == ("wrong", -2, 1, "It says eighty.")
    assert (stored.actor, stored.actor_kind, stored.weight, stored.state) == ("Ada", "person", 1.0, "new")
    assert stored.question == QUESTION
    assert said(tea, number).value == 1
    assert said(tea, number, actor="models", actor_kind="model").weight == 0
    assert [one.id for one in on_database(tea, list_feedback)] == [3, 2, 1]


def test_a_better_source_is_proved_when_it_comes_in(tea: Settings) -> None:
    stored = said(tea, prose_id(tea), kind="better_source", better=BETTER).suggested
    assert stored is not None
    assert stored.quote == TWO_MINUTES
    assert stored.sha256 == hashlib.sha256(TWO_MINUTES.encode()).hexdigest()
    again = Better(GREEN_URL, version=stored.version, char_start=stored.char_start, char_end=stored.char_end)
    assert said(tea, kind="missing", better=again, answer_id=prose_id(tea)).suggested == stored


def test_what_does_not_stand_there_is_refused_with_what_is_nearest(tea: Settings) -> None:
    number = prose_id(tea)
    with pytest.raises(NotVerbatimError) as refused:
        said(tea, number, kind="better_source", better=Better(GREEN_URL, "It is left for three minutes, never longer."))
    assert f"nearest is: {TWO_MINUTES[:39]}" in refused.value.message
    assert "two minutes" not in refused.value.plain
    assert on_database(tea, list_feedback) == []


ODD = [
    ({"kind": "praise"}, "there is no feedback 'praise'"),
    ({"value": -1}, "the value of 'helpful' is 1 or 2, not -1"),
    ({"kind": "wrong", "value": 1}, "-1 or -2, not 1"),
    ({"value": 0}, "1 or 2, not 0"),
    ({"actor": "  "}, "is blank"),
    ({"actor": "A" * 101}, "has 101 characters; 100 at most"),
    ({"actor": "Ada\n"}, "cannot be seen"),
    ({"actor": "A\u202eda"}, "cannot be seen"),
    ({"actor": "A\u200bda"}, "cannot be seen"),
    ({"actor": "A\x00da"}, "cannot be seen"),
    ({"actor": " Ada"}, "begins or ends with a blank"),
    ({"actor": "Ada\u0301"}, "composed form"),
    ({"text": "x" * 4_001}, "has 4,001 characters; 4,000 at most"),
    ({"text": " "}, "the text is empty"),
    ({"text": "a\0b"}, "NUL"),
    ({"sentence": 1, "citation": 1}, "not about both"),
    ({"sentence": 99}, "has no sentence 99; it has"),
    ({"citation": -1}, "has no quote -1; it has"),
    ({"answer_id": 10**30}, "there is no answer 1000000000000000000000000000000"),
    ({"answer_id": -1}, "there is no answer -1"),
    ({"kind": "better_source"}, "needs its URL and its quote"),
    ({"kind": "helpful", "better": BETTER}, "names no better source"),
    ({"kind": "missing", "better": Better(GREEN_URL)}, "either its quote, or a version with both offsets"),
    ({"kind": "missing", "better": Better(GREEN_URL, "tea")}, "shorter than 12 characters"),
    ({"kind": "missing", "better": Better(GREEN_URL, "x" * 4_001)}, "4,000 at most"),
    ({"kind": "missing", "better": Better(GREEN_URL, char_start=1, char_end=90)}, "offsets are of a version"),
    ({"kind": "missing", "better": Better(GREEN_URL, version=1, char_start=5, char_end=10**9)}, "do not lie within"),
    ({"kind": "missing", "better": Better(GREEN_URL, TWO_MINUTES, version=10**12)}, "version 1000000000000"),
    ({"kind": "missing", "better": Better(f"{SITE}/nowhere", TWO_MINUTES)}, "nothing is stored of"),
]


def test_what_cannot_be_meant_is_refused(tea: Settings) -> None:
    number = prose_id(tea)
    for change, problem in ODD:
        with pytest.raises(InvalidInputError) as refused:
            said(tea, **{"answer_id": number, **change})
        assert problem in refused.value.message, (change, refused.value.message)
    assert on_database(tea, list_feedback) == []


def test_models_cannot_fill_the_table(tea: Settings) -> None:
    number = prose_id(tea)
    said(tea, number, actor="models", actor_kind="model")
    with psycopg.connect(str(tea.database_url)) as connection:
        connection.execute(
            "INSERT INTO feedback (answer_id, kind, value, actor, actor_kind, weight)"
            " SELECT %s, 'helpful', 1, 'models', 'model', 0 FROM generate_series(2, %s)",
            (number, MOST_OF_MODELS_A_DAY),
        )
    with pytest.raises(InvalidInputError, match="no more are taken"):
        said(tea, number, actor="models", actor_kind="model")
    assert said(tea, number).id  # people still can


def test_the_table_itself_gives_models_no_weight(tea: Settings) -> None:
    number = prose_id(tea)
    with psycopg.connect(str(tea.database_url)) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(
            "INSERT INTO feedback (answer_id, kind, value, actor, actor_kind, weight)"
            " VALUES (%s, 'helpful', 1, 'models', 'model', 1)",
            (number,),
        )


def test_accepted_corrections_are_golden_questions(tea: Settings) -> None:
    number = prose_id(tea)
    first = said(tea, number, kind="better_source", better=BETTER)
    other = said(tea, number, kind="better_source", better=Better(GREEN_URL, GREEN[:38]))
    said(tea, number, kind="wrong")

    async def work(database: Database) -> list[int]:
        sizes = [(await write_goldens(database, tea)).golden_questions]
        await decide(database, [first.id, other.id], accept=True)
        sizes.append((await write_goldens(database, tea)).golden_questions)
        await decide(database, [other.id], accept=False)
        await write_goldens(database, tea)
        return sizes

    assert on_database(tea, work) == [0, 1]
    questions, documents = golden_files(tea)
    pages = load_documents(documents)
    [golden] = load_questions(questions, pages)
    assert golden.question == QUESTION
    [span] = golden.evidence
    text = {one.id: one.text for one in pages}[span.document]
    assert text[span.start : span.end] == TWO_MINUTES
    assert len(pages) == 2  # the other page of the source is searched among
    assert on_database(tea, violations) == []


def test_deciding_all_or_none(tea: Settings) -> None:
    number = said(tea, prose_id(tea)).id
    with pytest.raises(InvalidInputError, match="there is no feedback 99"):
        on_database(tea, lambda database: decide(database, [number, 99], accept=True))
    assert on_database(tea, list_feedback)[0].state == "new"


def test_a_forgotten_page_leaves_no_word_behind(tea: Settings) -> None:
    answer = asked(tea)
    assert answer.answer_id is not None
    of_an_earlier_version(tea, answer.answer_id)
    quote = next(one.number for one in answer.citations if one.url == GREEN_URL)
    kept = said(tea, answer.answer_id, kind="wrong_route", text=f"{GREEN[:38]} says {GREEN_URL}.")
    said(tea, answer.answer_id, kind="wrong", citation=quote, text="no")
    suggestion = said(tea, answer.answer_id, kind="better_source", better=BETTER)

    async def work(database: Database) -> tuple[dict[str, int], list[Feedback]]:
        await decide(database, [suggestion.id], accept=True)
        await write_goldens(database, tea)
        removal = await forget(database, GREEN_URL, removed_by="test")
        await renew_goldens(database, tea)
        return removal.counts, await list_feedback(database)

    counts, left = on_database(tea, work)
    assert counts["feedback"] == 2
    assert counts["exposures"] == 1
    assert [(one.id, one.text) for one in left] == [(kept.id, None)]
    assert all(path.read_text(encoding="utf-8") == "" for path in golden_files(tea))
    with psycopg.connect(str(tea.database_url)) as connection:
        rows = connection.execute("SELECT feedback::text FROM feedback").fetchall()
    assert "green" not in str(rows).lower()
    assert on_database(tea, violations) == []


def test_a_forgotten_answer_takes_its_feedback_along(tea: Settings) -> None:
    number = prose_id(tea)
    said(tea, number)
    removal = on_database(tea, lambda database: forget(database, str(number), removed_by="test"))
    assert removal.counts["feedback"] == 1
    assert on_database(tea, list_feedback) == []


def test_old_exposures_and_rejected_feedback_are_pruned(tea: Settings) -> None:
    number = prose_id(tea)
    of_an_earlier_version(tea, number)
    rejected, kept = said(tea, number), said(tea, number)
    on_database(tea, lambda database: decide(database, [rejected.id], accept=False))
    with psycopg.connect(str(tea.database_url)) as connection:
        connection.execute("UPDATE answer_runs SET started_at = now() - interval '1 year'")
        connection.execute("UPDATE feedback SET created_at = now() - interval '1 year'")
    deleted = on_database(tea, lambda database: prune(database, tea))
    assert deleted["rejected_feedback"] == 1
    assert deleted["exposures"] == 1
    assert [one.id for one in on_database(tea, list_feedback)] == [kept.id]


def test_a_suggestion_that_was_tampered_with_is_a_violation(tea: Settings) -> None:
    said(tea, prose_id(tea), kind="better_source", better=BETTER)
    with psycopg.connect(str(tea.database_url)) as connection:
        connection.execute("UPDATE feedback SET suggested = jsonb_set(suggested, '{quote}', '\"three minutes\"')")
    assert on_database(tea, violations) == [f"suggestions-stand-in-their-text {GREEN_URL} v1"]
