"""Many calls at once: none fails, no page is stored twice, searches do not wait for answers."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from tests.local_site import SITE, page
from tests.mcp_server.clients import called, connected, text_of
from tests.mcp_server.tea_site import PAGES, QUESTION, SEED, HeldSite, tea_settings, tea_site

pytestmark = pytest.mark.slow

ANSWERS = 24
WAITING = 20


def test_many_answers_at_once(database_url: str) -> None:
    site = tea_site(**{f"tea-{n}": page(f"Tea {n}", f"Tea number {n} is old.", {"/": "Start"}) for n in range(10)})

    async def work() -> None:
        async with connected(tea_settings(database_url), site) as client:
            asked = [
                called(
                    client,
                    "answer",
                    urls=[SEED, f"{SITE}/tea-{n % 10}"],
                    question=f"{QUESTION} ({n})",
                    research_mode=("fast", "auto", "deep")[n % 3],
                )
                for n in range(ANSWERS)
            ]
            results = await asyncio.gather(*asked)
            assert not [text_of(result) for result in results if result.is_error]

    asyncio.run(work())
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT state, count(*) FROM answer_runs GROUP BY 1").fetchall() == [
            ("done", ANSWERS)
        ]
        row = connection.execute("SELECT count(*), count(DISTINCT canonical_url) FROM documents").fetchone()
        assert row is not None
        assert row[0] == row[1]
        row = connection.execute("SELECT count(*), count(DISTINCT document_id) FROM document_versions").fetchone()
        assert row is not None
        assert row[0] == row[1]


def test_a_search_does_not_wait_for_answers(database_url: str) -> None:
    site = HeldSite(dict(PAGES), held=frozenset(["/coffee"]))

    async def work() -> None:
        async with connected(tea_settings(database_url), site) as client:
            await called(client, "ingest", urls=f"{SITE}/green-tea")
            waiting = [
                asyncio.create_task(called(client, "answer", urls=f"{SITE}/coffee", question=f"{QUESTION} {n}"))
                for n in range(WAITING)
            ]
            await site.waiting.wait()
            found = await asyncio.gather(*(called(client, "search", question=f"{QUESTION} {n}") for n in range(20)))
            assert all("eighty degrees" in text_of(result) for result in found)
            assert "Documents: 1" in text_of(await called(client, "status"))
            assert not any(task.done() for task in waiting)
            site.released.set()
            assert not any(result.is_error for result in await asyncio.gather(*waiting))

    asyncio.run(work())
