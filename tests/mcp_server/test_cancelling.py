"""A call that is cancelled or out of time: the work stops, what was committed stays, no run is left running."""

from __future__ import annotations

import asyncio
import json

import psycopg
import pytest

from tests.chat_server import chat_settings
from tests.local_site import SITE
from tests.mcp_server.clients import MODES, called, connected, sections_of, text_of
from tests.mcp_server.tea_site import PAGES, QUESTION, SEED, HeldSite, tea_settings
from tests.provider_server import Reply, serving
from tests.waiting import await_until
from webrag_core.orchestration import answers

GREEN_URL = f"{SITE}/green-tea"


async def rows(database_url: str, query: str) -> list[tuple[object, ...]]:
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        return await (await connection.execute(query.encode())).fetchall()


async def is_cancelled(database_url: str) -> bool:
    return await rows(database_url, RUNS) == [("failed", "cancelled")]


RUNS = "SELECT state, reason FROM answer_runs ORDER BY id"
READY = "SELECT canonical_url FROM documents WHERE status = 'ready' ORDER BY 1"


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("held", ["/", "/green-tea"])
def test_cancelled_while_fetching(database_url: str, mode: str, held: str) -> None:
    site = HeldSite(dict(PAGES), held=frozenset([held]))

    async def work() -> None:
        async with connected(tea_settings(database_url), site, mode=mode) as client:
            asking = asyncio.create_task(called(client, "answer", urls=SEED, question=QUESTION, research_mode="deep"))
            await site.waiting.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await await_until(lambda: is_cancelled(database_url))
            ready = await rows(database_url, READY)
            assert ((SEED,) in ready) == (held != "/")
            assert not any(url.endswith(held) for (url,) in ready if held != "/")
            site.released.set()
            assert not (await called(client, "answer", urls=SEED, question=QUESTION)).is_error  # and the server goes on
            assert (await rows(database_url, RUNS))[1:] == [("done", None)]

    asyncio.run(work())


@pytest.mark.slow
def test_cancelled_while_a_model_analyses(database_url: str) -> None:
    async def work() -> None:
        with serving(Reply({}, hold=True)) as model:
            settings = chat_settings(model.url, database_url=database_url)
            async with connected(settings, HeldSite(dict(PAGES))) as client:
                asking = asyncio.create_task(called(client, "answer", urls=SEED, question=QUESTION))
                await await_until(lambda: asyncio.sleep(0, bool(model.calls)))
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
                assert await rows(database_url, RUNS) == []

    asyncio.run(work())


def test_cancelled_while_its_row_is_written(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The insert may be through when the cancellation comes, and its id lost."""
    written = asyncio.Event()
    insert = answers.start_run

    async def late(*args: object, **named: object) -> int:
        answer_id = await insert(*args, **named)  # type: ignore[arg-type]
        written.set()
        await asyncio.sleep(0.2)
        return answer_id

    monkeypatch.setattr(answers, "start_run", late)

    async def work() -> None:
        async with connected(tea_settings(database_url), HeldSite(dict(PAGES))) as client:
            asking = asyncio.create_task(called(client, "answer", urls=SEED, question=QUESTION))
            await written.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await await_until(lambda: is_cancelled(database_url))

    asyncio.run(work())


def test_out_of_time_gives_what_there_is_and_says_so(database_url: str) -> None:
    site = HeldSite(dict(PAGES), held=frozenset(["/green-tea", "/coffee", "/history", "/gone"]))

    async def work() -> None:
        async with connected(tea_settings(database_url, webrag_answer_timeout=1), site) as client:
            result = await called(client, "answer", urls=SEED, question=QUESTION, research_mode="deep")
            assert not result.is_error
            sections = sections_of(text_of(result))
            assert "part of the evidence" in sections["PRESENTATION GUIDE"]
            assert "Stopped: timeout" in sections["STATS"]
            assert "PARTIAL" in sections["STATS"]
            assert SEED in sections["SOURCES"]
            data = await called(client, "answer", urls=SEED, question=QUESTION, research_mode="deep", output="data")
            assert data.structured_content is not None
            assert data.structured_content["partial"] is True
            assert await rows(database_url, RUNS) == [("done", None)] * 2

    asyncio.run(work())


def test_out_of_time_with_nothing_is_an_error(database_url: str) -> None:
    site = HeldSite(dict(PAGES), held=frozenset(["/"]))

    async def work() -> None:
        async with connected(tea_settings(database_url, mcp_tool_timeout=1), site) as client:
            result = await called(client, "answer", urls=SEED, question=QUESTION)
            assert result.is_error
            assert "[ERROR] timeout" in text_of(result)
            assert "are stored" in text_of(result)
            assert await rows(database_url, RUNS) == [("failed", "cancelled")]
            status = await called(client, "status")
            assert "Documents: 0" in text_of(status)

    asyncio.run(work())


@pytest.mark.slow
def test_progress_tells_phases_and_rounds_but_no_words_of_pages(database_url: str) -> None:
    async def work() -> None:
        async with connected(tea_settings(database_url), HeldSite(dict(PAGES))) as client:
            reports: list[tuple[float, str | None]] = []

            async def progress(done: float, total: float | None, message: str | None) -> None:
                reports.append((done, message))

            arguments = {"urls": SEED, "question": QUESTION, "research_mode": "auto"}
            await client.call_tool("answer", arguments, progress_callback=progress)
            assert [done for done, _ in reports] == list(range(1, len(reports) + 1))
            messages = [message or "" for _, message in reports]
            assert messages[0] == "fetching the requested pages"
            assert messages[1] == "looking at linked pages"
            assert messages[2].startswith("round 0: ")
            assert "following links" in messages
            assert messages[-1] == "verifying citations"
            assert "tea" not in json.dumps(messages).lower()

    asyncio.run(work())
