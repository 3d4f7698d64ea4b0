"""Circuit breakers: state in a real database, real SDKs against local servers, a clock of the test's own."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.chat_server import KEY, said
from tests.provider_server import Call, Provider, Reply, serving
from webrag_core.config import Settings
from webrag_core.corpus.status import corpus_status
from webrag_core.errors import ChatError, EmbeddingError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.providers.chat import ChatEndpoint, Message
from webrag_core.providers.embedder import OpenAIEmbedder
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.budget import Ledger
from webrag_core.routing.execute import Executor
from webrag_core.routing.plan import Budget, CorpusSearch, ExecutionPlan, Task
from webrag_core.routing.results import Output
from webrag_core.store.breakers import Breakers, breaker_states
from webrag_core.store.database import Database

START = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)
QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def after(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def breakers_over(database: Database, clock: Callable[[], datetime]) -> Breakers:
    return Breakers(database, failures=5, seconds=60, clock=clock)


def chat_settings(settings: Settings, server: Provider) -> Settings:
    given = {
        "orchestration_llm_base_url": f"{server.url}/v1",
        "orchestration_llm_api_key": KEY,
        "orchestration_llm_model": "m",
    }
    return Settings.model_validate(settings.model_dump() | given)


async def ask(chat: ChatEndpoint) -> ChatError | str:
    try:
        return await chat.complete([Message("user", "tea?")], seconds=5, max_tokens=10)
    except ChatError as error:
        return error


def test_it_opens_at_the_fifth_failure_and_closes_with_the_first_success(settings: Settings) -> None:
    async def work() -> None:
        clock = Clock()
        async with await Database.open(settings) as database:
            breaker = breakers_over(database, clock).of("chat", "https://api.example/v1?key=secret")
            assert breaker.name == "chat api.example"
            for _ in range(4):
                await breaker.failed("HTTP 503")
                assert await breaker.closed_until() is None
            await breaker.failed("HTTP 503")
            assert await breaker.closed_until() == START + timedelta(seconds=60)
            clock.after(59)
            assert await breaker.closed_until() is not None
            clock.after(1)
            assert await breaker.closed_until() is None, "the probe"
            assert await breaker.closed_until() is not None, "nobody else"
            await breaker.failed("HTTP 503")
            assert await breaker.closed_until() == clock.now + timedelta(seconds=60)
            clock.after(61)
            assert await breaker.closed_until() is None
            await breaker.succeeded()
            assert await breaker.closed_until() is None
            async with database.connection() as connection:
                assert await breaker_states(connection) == []

    asyncio.run(work())


def test_a_probe_that_never_comes_back_blocks_nobody_for_ever(settings: Settings) -> None:
    async def work() -> None:
        clock = Clock()
        async with await Database.open(settings) as database:
            breaker = breakers_over(database, clock).of("chat", "https://api.example/v1")
            for _ in range(5):
                await breaker.failed("late")
            clock.after(60)
            assert await breaker.closed_until() is None
            clock.after(119)
            assert await breaker.closed_until() is not None
            clock.after(2)
            assert await breaker.closed_until() is None

    asyncio.run(work())


def test_two_endpoints_share_nothing(settings: Settings) -> None:
    async def work() -> None:
        async with await Database.open(settings) as database:
            breakers = breakers_over(database, Clock())
            one, other = breakers.of("chat", "https://a.example"), breakers.of("chat", "https://b.example:8080/v1")
            for _ in range(5):
                await one.failed("down")
            assert await one.closed_until() is not None
            assert await other.closed_until() is None

    asyncio.run(work())


def test_without_a_database_it_counts_as_closed(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> datetime | None:
        database = await Database.open(settings)
        breaker = breakers_over(database, Clock()).of("chat", "https://api.example")
        for _ in range(5):
            await breaker.failed("down")
        await database.close()
        return await breaker.closed_until()

    assert asyncio.run(work()) is None
    assert "counts as closed" in caplog.text


@pytest.mark.parametrize(("status", "opens"), [(503, True), (429, True), (401, False), (404, False)])
def test_only_what_passes_counts(settings: Settings, status: int, opens: bool) -> None:
    async def work(server: Provider) -> list[str]:
        own = chat_settings(settings, server)
        async with Corpus.open(own) as corpus:
            for _ in range(5):
                chat = ChatEndpoint(own, "DECOMPOSITION_MODE=llm", corpus.breakers)
                assert isinstance(await ask(chat), ChatError)
            async with corpus.database.connection() as connection:
                return [one.state for one in (await corpus_status(connection)).breakers]

    with serving(Reply({"error": {"message": "no"}}, status=status, headers={"retry-after": "0"})) as server:
        states = asyncio.run(work(server))
    assert states == (["open"] if opens else [])


def test_an_open_breaker_asks_nobody_and_says_when(settings: Settings) -> None:
    async def work(server: Provider) -> tuple[int, ChatError | str]:
        own = chat_settings(settings, server)
        async with Corpus.open(own) as corpus:
            chat = ChatEndpoint(own, "DECOMPOSITION_MODE=llm", corpus.breakers)
            for _ in range(5):
                await ask(chat)
            calls = len(server.calls)
            return calls, await ask(chat)

    with serving(Reply({"error": {"message": "no"}}, status=503, headers={"retry-after": "0"})) as server:
        calls, error = asyncio.run(work(server))
        assert len(server.calls) == calls
    assert isinstance(error, ChatError)
    assert error.retry_at is not None
    assert "not asked: it failed 5 times in a row; next try at" in error.message
    assert KEY not in error.message


def test_success_starts_the_count_again(settings: Settings) -> None:
    replies = iter([503] * 4 * 3 + [200] + [503] * 4 * 3)

    def reply(call: Call) -> Any:
        status = next(replies)
        return said("tea") if status == 200 else Reply({"error": {}}, status=status, headers={"retry-after": "0"})

    async def work(server: Provider) -> list[str]:
        own = chat_settings(settings, server)
        async with Corpus.open(own) as corpus:
            for _ in range(9):
                await ask(ChatEndpoint(own, "DECOMPOSITION_MODE=llm", corpus.breakers))
            async with corpus.database.connection() as connection:
                return [f"{one.state} {one.failures}" for one in await breaker_states(connection)]

    with serving(reply) as server:
        assert asyncio.run(work(server)) == ["closed 4"]


def test_an_open_reranker_is_done_without(settings: Settings) -> None:
    async def work(server: Provider) -> tuple[int, list[str], int]:
        more = {"reranker_provider": "jina", "reranker_base_url": server.url, "reranker_timeout": 5.0}
        async with Corpus.open(Settings.model_validate(settings.model_dump() | more)) as corpus:
            await corpus.add(QUEUES)
            for _ in range(5):
                await search(corpus, SearchRequest(query="thread safe"))
            calls = len(server.calls)
            result = await search(corpus, SearchRequest(query="thread safe"))
            return calls, result.warnings, len(result.chunks)

    with serving(Reply({}, status=503)) as server:
        calls, warnings, chunks = asyncio.run(work(server))
        assert len(server.calls) == calls == 5
    assert chunks
    assert any("not asked" in warning and "ranked locally instead" in warning for warning in warnings)


def test_a_task_that_needs_it_is_skipped_with_the_time_of_the_next_try(settings: Settings) -> None:
    class Needs:
        """An agent whose endpoint is not asked."""

        async def run(self, task: Task, context: Context) -> Output:
            error = EmbeddingError("not asked")
            error.retry_at = START
            raise error

    async def work() -> tuple[str, str, datetime | None, str]:
        async with Corpus.open(settings) as corpus:
            task = Task(id="search", params=CorpusSearch(query="tea"))
            plan = ExecutionPlan(
                question="tea",
                parts=["tea"],
                tasks=[task],
                budget=Budget(seconds=10, chat_calls=0),
                made_by="test",
                rationale="",
            )
            executor = Executor(corpus, OrchestratorEngine(corpus), {"corpus": Needs()})
            done = await executor.execute(plan, Ledger(plan.budget))
            [result] = done.results
            assert result.error is not None
            return result.status, result.error.code, result.error.retry_at, done.outcome

    assert asyncio.run(work()) == ("skipped", "circuit_open", START, "failed")


def _race(settings: dict[str, Any], start: Any, asked: Any) -> None:
    async def work() -> None:
        async with await Database.open(Settings.model_validate(settings)) as database:
            breaker = breakers_over(database, lambda: START + timedelta(seconds=61)).of("chat", "https://api.example")
            start.wait(60)
            if await breaker.closed_until() is None:
                with asked.get_lock():
                    asked.value += 1

    asyncio.run(work())


def test_of_eight_processes_one_probes(settings: Settings) -> None:
    async def open_it() -> None:
        async with await Database.open(settings) as database:
            breaker = breakers_over(database, Clock()).of("chat", "https://api.example")
            for _ in range(5):
                await breaker.failed("down")

    asyncio.run(open_it())
    spawn = multiprocessing.get_context("spawn")
    start, asked = spawn.Barrier(8), spawn.Value("i", 0)
    processes = [spawn.Process(target=_race, args=(settings.model_dump(), start, asked)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(90)
        assert process.exitcode == 0
    assert asked.value == 1


def test_an_ingest_with_an_open_embedder_loses_nothing(settings: Settings) -> None:
    more = {"embedding_api_key": KEY, "embedding_model": "e", "embedding_dimensions": 8, "embedding_timeout": 2.0}

    async def work(server: Provider) -> tuple[bool, int]:
        own = Settings.model_validate(settings.model_dump() | more | {"embedding_base_url": f"{server.url}/v1"})
        async with Corpus.open(own) as corpus:
            embedder = OpenAIEmbedder(own, corpus.breakers)
            for _ in range(5):
                with pytest.raises(EmbeddingError):
                    await embedder.embed(["tea"])
            calls = len(server.calls)
            with pytest.raises(EmbeddingError) as caught:
                await corpus.add(QUEUES)
            assert len(server.calls) == calls
            async with corpus.database.connection() as connection:
                cursor = await connection.execute("SELECT count(*) FROM document_versions")
                row = await cursor.fetchone()
            return caught.value.retry_at is not None, int((row or (0,))[0])

    with serving(Reply({"error": {}}, status=503, headers={"retry-after": "0"})) as server:
        assert asyncio.run(work(server)) == (True, 1)
