"""What the corpus could not answer, grouped by what is asked, with the pages that it may lack; and golden questions of
it."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.application.closing_gaps import GoldenGap
from webrag_core.application.reading import ListGaps
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError, NotStoredError
from webrag_core.feedback.gaps import _Run, grouped, list_gaps, title_of
from webrag_core.feedback.goldens import golden_files
from webrag_core.feedback.models import Better, NewFeedback
from webrag_core.feedback.store import record
from webrag_core.indexing.pipeline import Corpus

PERMIT = f"{SITE}/permit"
LACKING = f"{SITE}/dogs-on-board"
COSTS = "A harbour permit costs 40 euros a year in Skarvik."


def test_what_could_not_be_answered(settings: Settings) -> None:
    site = LocalSite({"/permit": page("Harbour permit", COSTS)})

    async def work() -> None:
        async with Corpus.open(settings, site) as corpus:
            await corpus.add(PERMIT)
            database, manager = corpus.database, Manager(corpus)
            async with database.transaction() as connection:
                cursor = await connection.execute("SELECT id, key FROM sources")
                [(source, key)] = await cursor.fetchall()
                for url in (LACKING, f"{SITE}/towels", PERMIT):
                    await connection.execute(
                        "INSERT INTO site_map_pages (source_id, url, listed_in) VALUES (%s, %s, %s)",
                        (source, url, f"{SITE}/map.xml"),
                    )
            numbers = [
                (await manager.answer(Question(text, sources=(key,)))).answer_id or 0
                for text in ("Are dogs allowed on board?", "are dogs allowed on board", "What is a harbour permit?")
            ]
            answered = await manager.answer(Question("What does a harbour permit cost?", sources=(key,)))
            for kind, actor in (("wrong", "person"), ("helpful", "person")):
                await record(database, NewFeedback(answered.answer_id or 0, kind, "Ann", actor))  # type: ignore[arg-type]
            await record(database, NewFeedback(numbers[2], "wrong", "models", "model"))

            gaps = (await ListGaps.of().read(database)).gaps
            dogs = next(gap for gap in gaps if "dogs" in gap.question)
            assert (dogs.times, dogs.source, dogs.why) == (2, key, {"refused": 2})
            assert (dogs.question, dogs.wordings) == ("Are dogs allowed on board?", [])
            assert dogs.answers == [numbers[1], numbers[0]]
            assert dogs.lacking == [LACKING]
            assert dogs.week.weekday() == 0
            cost = next(gap for gap in gaps if "cost" in gap.question)
            assert (cost.why, cost.nearest, cost.is_golden) == ({"wrong": 1}, [PERMIT], False)
            [near] = cost.passages
            assert (near.answer_id, near.citation, near.url, near.quote) == (answered.answer_id, 1, PERMIT, COSTS)
            assert (await ListGaps.of(source="other.example").read(database)).gaps == []
            assert len((await ListGaps.of(limit=1).read(database)).gaps) == 1
            async with database.connection() as connection:
                assert await list_gaps(connection, since=datetime.now(UTC) + timedelta(days=1)) == []

            with pytest.raises(InvalidInputError, match="nobody has named a passage"):
                await GoldenGap.of(answers=tuple(dogs.answers)).accept(database, settings, actor="Ann")
            with pytest.raises(NotStoredError, match="no quote 99"):
                await GoldenGap.of(answers=(answered.answer_id,), citation=99).accept(database, settings, actor="Ann")
            with pytest.raises(NotStoredError, match="none of these answers"):
                await GoldenGap.of(answers=(10_000,)).accept(database, settings, actor="Ann")
            for _ in range(2):  # the second time changes nothing
                wanted = GoldenGap.of(answers=(answered.answer_id,), citation=1)
                suggestions = await wanted.accept(database, settings, actor="Ann")
                assert ([row.state for row in suggestions.feedback], suggestions.golden_questions) == (["accepted"], 1)
            better = Better(PERMIT, quote=COSTS)
            passage = await record(database, NewFeedback(numbers[0], "better_source", "Bob", "person", better=better))
            suggestions = await GoldenGap.of(answers=tuple(dogs.answers)).accept(database, settings, actor="Ann")
            assert suggestions.golden_questions == 3  # both wordings: they are other questions to a search
            assert [row.actor for row in suggestions.feedback] == ["Bob", "Ann"]
            questions = golden_files(settings)[0].read_text().splitlines()
            assert {json.loads(line)["question"] for line in questions} >= {"are dogs allowed on board"}
            gaps = (await ListGaps.of().read(database)).gaps
            dogs = next(gap for gap in gaps if "dogs" in gap.question)
            assert dogs.is_golden
            assert dogs.why == {"refused": 2}
            assert (dogs.passages[0].feedback, dogs.passages[0].quote) in [
                (row.id, COSTS) for row in suggestions.feedback
            ]
            assert passage.id in [row.id for row in suggestions.feedback]
            assert [near.quote for near in dogs.passages].count(COSTS) == 1  # though two questions name it

    asyncio.run(work())


def run(number: int, question: str) -> _Run:
    return _Run(number, question, date(2026, 1, 5), "a.example", "refused", [], False)


def groups(*questions: str) -> list[tuple[str, int]]:
    """Titles and sizes of the groups of questions, the last of which was put last."""
    runs = [run(number, question) for number, question in enumerate(questions, 1)]
    return [(title_of(group).question, len(group)) for group in grouped(reversed(runs))]


def test_a_group_is_named_by_the_question_that_is_nearest_to_all_of_it() -> None:
    usual = "How do I renew a harbour permit?"
    assert groups(usual, usual, "how do i renew a harbour permit", "renew old harbour permit") == [(usual, 4)]
    assert groups(usual, "harbour permit renew online now") == [("harbour permit renew online now", 1), (usual, 1)]


def test_questions_of_one_thing_that_want_another_are_apart() -> None:
    assert len(groups("How long is a harbour permit valid?", "What does a harbour permit cost?")) == 2
    assert len(groups("What is it?", "Who are you?", "what is it")) == 2  # without any term
