"""What the corpus could not answer, grouped by what is asked, with the pages that it may lack."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.application.reading import ListGaps
from webrag_core.config import Settings
from webrag_core.feedback.gaps import list_gaps
from webrag_core.feedback.models import NewFeedback
from webrag_core.feedback.store import record
from webrag_core.indexing.pipeline import Corpus

PERMIT = f"{SITE}/permit"
LACKING = f"{SITE}/dogs-on-board"


def test_what_could_not_be_answered(settings: Settings) -> None:
    site = LocalSite({"/permit": page("Harbour permit", "A harbour permit costs 40 euros a year in Skarvik.")})

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
                (await manager.answer(Question(text, sources=(key,)))).answer_id
                for text in ("Are dogs allowed on board?", "are dogs allowed on board", "What is a harbour permit?")
            ]
            answered = await manager.answer(Question("What does a harbour permit cost?", sources=(key,)))
            for kind, actor in (("wrong", "person"), ("helpful", "person")):
                await record(database, NewFeedback(answered.answer_id or 0, kind, "Ann", actor))  # type: ignore[arg-type]
            await record(database, NewFeedback(numbers[2] or 0, "wrong", "models", "model"))

            gaps = (await ListGaps.of().read(database)).gaps
            dogs = next(gap for gap in gaps if "dogs" in gap.question)
            assert (dogs.times, dogs.source, dogs.why) == (2, key, {"refused": 2})
            assert dogs.answers == [numbers[1], numbers[0]]
            assert dogs.lacking == [LACKING]
            assert dogs.week.weekday() == 0
            cost = next(gap for gap in gaps if "cost" in gap.question)
            assert (cost.why, cost.nearest) == ({"wrong": 1}, [PERMIT])
            assert (await ListGaps.of(source="other.example").read(database)).gaps == []
            async with database.connection() as connection:
                assert await list_gaps(connection, since=datetime.now(UTC) + timedelta(days=1)) == []

    asyncio.run(work())
