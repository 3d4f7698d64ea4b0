"""Circuit breakers: state in a real database, real SDKs against local servers, a clock of the test's own."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acquisition.local_server import gate_to, resolver
from tests.acquisition.local_server import reply as page_reply
from tests.acquisition.local_server import serving as serving_site
from tests.chat_server import KEY, said
from tests.provider_server import Call, Provider, Reply, serving
from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.memento.acquirer import MementoAcquirer
from webrag_core.config import Settings
from webrag_core.corpus.acquirers import make_acquirer
from webrag_core.corpus.status import corpus_status
from webrag_core.corpus.stored_pages import stored_pages
from webrag_core.errors import ChatError, EmbeddingError, FetchError, Reason
from webrag_core.indexing.pipeline import Corpus
from webrag_core.mcp_server.listing import status_text
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
from webrag_core.store.breakers import Breaker, Breakers, breaker_states
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


async def open_it(breaker: Breaker) -> None:
    """Let it open, by as many failures as it takes."""
    for _ in range(breaker.failures):
        await breaker.failed("down")


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
            await open_it(breaker)
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
            await open_it(one)
            assert await one.closed_until() is not None
            assert await other.closed_until() is None

    asyncio.run(work())


def test_without_a_database_it_counts_as_closed(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> datetime | None:
        database = await Database.open(settings)
        breaker = breakers_over(database, Clock()).of("chat", "https://api.example")
        await open_it(breaker)
        await database.close()
        return await breaker.closed_until()

    assert asyncio.run(work()) is None
    assert "counts as closed" in caplog.text


@pytest.mark.parametrize(("status", "opens"), [(503, True), (429, True), (400, False), (401, False), (404, False)])
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
            start.wait()
            if await breaker.closed_until() is None:
                with asked.get_lock():
                    asked.value += 1

    asyncio.run(work())


@pytest.mark.slow
def test_of_eight_processes_one_probes(settings: Settings) -> None:
    async def prepare() -> None:
        async with await Database.open(settings) as database:
            breaker = breakers_over(database, Clock()).of("chat", "https://api.example")
            await open_it(breaker)

    asyncio.run(prepare())
    fork = multiprocessing.get_context("forkserver")
    fork.set_forkserver_preload([__name__])  # what all of them import, imported once
    start, asked = fork.Barrier(8), fork.Value("i", 0)
    processes = [fork.Process(target=_race, args=(settings.model_dump(), start, asked)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert asked.value == 1


def test_an_ingest_with_an_open_embedder_loses_nothing(settings: Settings) -> None:
    more = {"embedding_api_key": KEY, "embedding_model": "e", "embedding_dimensions": 8, "embedding_timeout": 2.0}
    more["embedding_max_wait"] = 0.0

    async def work(server: Provider) -> tuple[int, int]:
        own = Settings.model_validate(settings.model_dump() | more | {"embedding_base_url": f"{server.url}/v1"})
        async with Corpus.open(own) as corpus:
            await open_it(corpus.breakers.of("embeddings", f"{server.url}/v1"))
            added = await corpus.add(QUEUES)
            assert not server.calls
            async with corpus.database.connection() as connection:
                cursor = await connection.execute("SELECT count(*) FROM document_versions")
                row = await cursor.fetchone()
            return added.waiting, int((row or (0,))[0])

    with serving(Reply({"error": {}}, status=503, headers={"retry-after": "0"})) as server:
        waiting, versions = asyncio.run(work(server))
    assert waiting > 0
    assert versions == 1


def embedding_settings(settings: Settings, server: Provider, **more: Any) -> Settings:
    given = {
        "embedding_api_key": KEY,
        "embedding_base_url": f"{server.url}/v1",
        "embedding_model": "e",
        "embedding_dimensions": 8,
        "embedding_timeout": 5.0,
        "embedding_max_wait": 0.0,
    }
    return Settings.model_validate(settings.model_dump() | given | more)


def vectors(call: Call, length: int = 8) -> dict[str, Any]:
    rows = [
        {"object": "embedding", "index": index, "embedding": [1.0] + [0.0] * (length - 1)}
        for index in range(len(call.body["input"]))
    ]
    return {"object": "list", "model": "e", "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def test_batches_at_the_same_time_wait_for_the_probe_among_them(settings: Settings) -> None:
    async def work(server: Provider) -> int:
        own = embedding_settings(settings, server, embedding_batch_size=1)
        async with await Database.open(own) as database:
            clock = Clock()
            breakers = breakers_over(database, clock)
            breaker = breakers.of("embeddings", f"{server.url}/v1")
            await open_it(breaker)
            clock.after(60)
            embedder = OpenAIEmbedder(own, breakers)
            async with asyncio.TaskGroup() as group:  # pages of one ingest, where the first error cancels the others
                pages = [group.create_task(embedder.embed([f"{page} a", f"{page} b"])) for page in range(4)]
            await embedder.aclose()
            return sum(len(page.result()) for page in pages)

    with serving(vectors) as server:
        assert asyncio.run(work(server)) == 8
        assert len(server.calls) == 8


def test_batches_that_waited_for_a_probe_that_failed_are_not_sent(settings: Settings) -> None:
    async def work(server: Provider) -> tuple[EmbeddingError, int]:
        own = embedding_settings(settings, server, embedding_batch_size=1, embedding_max_wait=0)
        async with await Database.open(own) as database:
            clock = Clock()
            breakers = breakers_over(database, clock)
            breaker = breakers.of("embeddings", f"{server.url}/v1")
            await open_it(breaker)
            clock.after(60)
            with pytest.raises(EmbeddingError) as caught:
                await OpenAIEmbedder(own, breakers).embed(["a", "b", "c", "d"])
            async with database.connection() as connection:
                [state] = await breaker_states(connection)
            assert state.retry_at == clock.now + timedelta(seconds=60)
            return caught.value, state.failures

    with serving(Reply({"error": {}}, status=503, headers={"retry-after": "0"})) as server:
        error, failures = asyncio.run(work(server))
        assert len(server.calls) == 4, "the attempts of the probe"
    assert failures == 6
    assert KEY not in error.message


def test_vectors_of_another_length_are_an_answer(settings: Settings) -> None:
    async def work(server: Provider) -> list[str]:
        own = embedding_settings(settings, server)
        async with await Database.open(own) as database:
            breakers = breakers_over(database, Clock())
            for _ in range(4):
                await breakers.of("embeddings", f"{server.url}/v1").failed("down")
            with pytest.raises(EmbeddingError, match="shape"):
                await OpenAIEmbedder(own, breakers).embed(["tea"])
            async with database.connection() as connection:
                return [one.state for one in await breaker_states(connection)]

    with serving(lambda call: vectors(call, 7)) as server:
        assert asyncio.run(work(server)) == []


def test_a_page_stored_while_the_embedder_was_not_asked_is_indexed_later(settings: Settings) -> None:
    async def work(server: Provider) -> tuple[str, int, int]:
        own = embedding_settings(settings, server)
        async with await Database.open(own) as database:
            clock = Clock()
            breakers = breakers_over(database, clock)
            await open_it(breakers.of("embeddings", f"{server.url}/v1"))
            corpus = Corpus(database, make_acquirer(own), own, OpenAIEmbedder(own, breakers))
            waiting = await corpus.add(QUEUES)
            assert waiting.waiting > 0
            assert "not asked" in waiting.warnings[-1]
            assert not server.calls
            clock.after(60)
            added = await corpus.add(QUEUES)
            async with database.connection() as connection:
                cursor = await connection.execute("SELECT count(*) FROM document_versions")
                row = await cursor.fetchone()
            return added.outcome, added.embedded, int((row or (0,))[0])

    with serving(vectors) as server:
        outcome, embedded, versions = asyncio.run(work(server))
    assert (outcome, versions) == ("reused", 1)
    assert embedded > 0


def test_a_cancelled_probe_gives_its_turn_back_after_its_time(settings: Settings) -> None:
    asked = threading.Event()

    def hang(call: Call) -> Reply:
        asked.set()
        return Reply({}, hold=True)

    async def work(server: Provider) -> tuple[ChatError | str, ChatError | str]:
        own = chat_settings(settings, server)
        async with await Database.open(own) as database:
            clock = Clock()
            breakers = breakers_over(database, clock)
            await open_it(breakers.of("chat", f"{server.url}/v1"))
            clock.after(60)
            probe = asyncio.create_task(ask(ChatEndpoint(own, "a test", breakers)))
            assert await asyncio.to_thread(asked.wait, 30)
            probe.cancel()
            with pytest.raises(asyncio.CancelledError):
                await probe
            meanwhile = await ask(ChatEndpoint(own, "a test", breakers))
            clock.after(121)
            return meanwhile, await ask(ChatEndpoint(own, "a test", breakers))

    with serving(said("tea"), hang) as server:
        meanwhile, later = asyncio.run(work(server))
    assert isinstance(meanwhile, ChatError)
    assert meanwhile.retry_at == START + timedelta(seconds=180)
    assert later == "tea"


def test_an_open_firecrawl_is_a_provider_that_failed(settings: Settings) -> None:
    async def work(server: Provider) -> FetchError:
        given = {"firecrawl_api_url": server.url, "firecrawl_api_key": KEY, "firecrawl_timeout": 5.0}
        own = Settings.model_validate(settings.model_dump() | given)
        gate = NetworkGate(own, resolver=resolver({"docs.example": ["93.184.216.34"]}))
        async with await Database.open(own) as database:
            firecrawl = FirecrawlAcquirer(own, gate, breakers_over(database, Clock()))
            for _ in range(5):
                with pytest.raises(FetchError):
                    await firecrawl.fetch("https://docs.example/")
            calls = len(server.calls)
            with pytest.raises(FetchError) as caught:
                await firecrawl.fetch("https://docs.example/")
            assert len(server.calls) == calls
            return caught.value

    with serving(Reply({"success": False}, status=503, headers={"retry-after": "0"})) as server:
        error = asyncio.run(work(server))
    assert error.reason is Reason.PROVIDER_FAILED
    assert error.retry_at == START + timedelta(seconds=60)
    assert "not asked: it failed 5 times in a row; next try at 12:01:00 UTC" in error.message


def test_an_archive_has_one_breaker_for_all_dates(settings: Settings) -> None:
    page = "https://tea.example/kinds"

    async def work() -> tuple[FetchError, int, int]:
        pages = {f"/gate/{page}": page_reply(b"", status="503 Busy")}
        async with await Database.open(settings) as database, serving_site(pages) as site:
            timegate = f"http://127.0.0.1:{site.port}/gate"
            breaker = breakers_over(database, Clock()).of("archive", timegate)
            archive = MementoAcquirer(HttpAcquirer(gate_to(f"127.0.0.1:{site.port}")), timegate, breaker)
            for year in range(5):
                with pytest.raises(FetchError):
                    await archive.nearest_to(datetime(2010 + year, 1, 1, tzinfo=UTC)).fetch(page)
            requests = len(site.requests)
            with pytest.raises(FetchError) as caught:
                await archive.fetch(page)
            return caught.value, requests, len(site.requests)

    error, before, after = asyncio.run(work())
    assert before == after
    assert error.reason is Reason.PROVIDER_FAILED
    assert error.retry_at == START + timedelta(seconds=60)


def test_an_archive_that_our_own_rules_hold_back_shows_no_sign_of_life(settings: Settings) -> None:
    async def work() -> list[int]:
        async with await Database.open(settings) as database:
            breaker = breakers_over(database, Clock()).of("archive", "http://127.0.0.1:9/gate")
            for _ in range(4):
                await breaker.failed("timeout")
            gate = NetworkGate(settings)
            with pytest.raises(FetchError) as caught:
                await MementoAcquirer(HttpAcquirer(gate), "http://127.0.0.1:9/gate", breaker).fetch(
                    "https://a.example/"
                )
            assert caught.value.reason is Reason.BLOCKED_ADDRESS
            async with database.connection() as connection:
                return [one.failures for one in await breaker_states(connection)]

    assert asyncio.run(work()) == [4]


def test_the_status_of_the_mcp_server_names_what_is_not_asked(settings: Settings) -> None:
    async def work() -> str:
        async with await Database.open(settings) as database:
            for url, failures in (("https://down.example", 5), ("https://shaky.example", 2)):
                for _ in range(failures):
                    await breakers_over(database, Clock()).of("chat", url).failed("HTTP 503")
            async with database.connection() as connection:
                pages = await stored_pages(connection, ids=None, limit=1)
                return status_text(await corpus_status(connection), pages, place=None, urls=True)

    text = asyncio.run(work())
    assert "Not asked before 12:01:00 UTC, after 5 failures in a row: chat down.example" in text
    assert "shaky.example" not in text
