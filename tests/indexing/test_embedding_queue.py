"""Pages share requests to a remote model, wait as long as it asks, and cost only themselves where it is down."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.local_site import SITE, LocalSite, page
from tests.pauses import noted_pauses
from tests.provider_server import Call, Provider, Reply, serving
from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError, FetchError
from webrag_core.indexing.model_switch import build_model, list_models
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.providers.embedder import OpenAIEmbedder

SIZE = 8
PAGES = [f"{SITE}/{number}" for number in range(30)]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def answer(call: Call) -> dict[str, Any]:
    rows = [{"index": at, "embedding": [1.0, *[0.1] * (SIZE - 1)]} for at in range(len(call.body["input"]))]
    return {"data": rows, "model": "m", "usage": {"prompt_tokens": 10 * len(rows), "total_tokens": 10 * len(rows)}}


def remote(settings: Settings, server: Provider, **more: Any) -> Settings:
    own = {"embedding_base_url": server.url, "embedding_model": "m", "embedding_dimensions": SIZE, **more}
    return settings.model_copy(update=own)


def site() -> LocalSite:
    sections = "".join(f"<h2>Part {part}</h2><p>{'word ' * 120} {part}</p>" for part in range(4))
    return LocalSite({url.removeprefix(SITE): page(f"Page {url[-2:]}", sections) for url in PAGES})


async def ingest(corpus: Corpus) -> dict[str, AddedDocument | FetchError]:
    results: dict[str, AddedDocument | FetchError] = {}
    await corpus.add_all(PAGES, results.__setitem__)
    return results


@pytest.mark.slow
def test_requests_are_full_across_pages_and_their_tokens_are_kept(settings: Settings) -> None:
    async def work(own: Settings) -> tuple[int, int]:
        async with Corpus.open(own, site()) as corpus:
            results = await ingest(corpus)
            assert all(isinstance(result, AddedDocument) for result in results.values())
            embedded = sum(result.embedded for result in results.values() if isinstance(result, AddedDocument))
            (model,) = await list_models(corpus.database)
            assert model.missing == 0
            return embedded, model.tokens

    with serving(answer) as server:
        embedded, tokens = asyncio.run(work(remote(settings, server, embedding_batch_size=32)))
    sizes = [len(call.body["input"]) for call in server.calls]
    assert sum(sizes) == embedded >= 4 * len(PAGES)
    assert tokens == 10 * embedded
    assert sizes.count(32) >= embedded // 32 - 1  # the last pages wait for no more than themselves


@pytest.mark.slow
def test_an_ingest_waits_as_long_as_the_endpoint_asks(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = noted_pauses(monkeypatch)

    async def work(own: Settings) -> None:
        async with Corpus.open(own, site()) as corpus:
            assert all(isinstance(result, AddedDocument) for result in (await ingest(corpus)).values())

    limited = Reply({}, 429, {"Retry-After": "45"})
    with serving(answer, answer, limited, limited) as server:
        asyncio.run(work(remote(settings, server, embedding_batch_size=32, embedding_max_workers=1)))
    assert pauses == pytest.approx([45.0, 45.0], abs=0.5)


@pytest.mark.slow
def test_pages_are_found_by_words_where_the_endpoint_is_down_and_all_end_where_it_refuses_the_key(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted_pauses(monkeypatch)

    async def work(own: Settings, server: Provider) -> None:
        async with Corpus.open(own, site()) as corpus:
            server.answer = Reply({}, 503)
            results = await ingest(corpus)
            assert all(result.waiting for result in results.values() if isinstance(result, AddedDocument))
            assert len(results) == len(PAGES)
            async with corpus.database.connection() as connection:
                cursor = await connection.execute("SELECT count(*) FROM fetch_log WHERE outcome = 'fetched'")
                assert await cursor.fetchone() == (len(PAGES),)
                await connection.execute("DELETE FROM breakers")
            server.answer = Reply({}, 401)
            with pytest.raises(EmbeddingError, match="EMBEDDING_API_KEY"):
                await ingest(corpus)
            server.answer = answer
            again = await ingest(corpus)
            assert {result.outcome for result in again.values() if isinstance(result, AddedDocument)} == {"reused"}

    with serving(answer) as server:
        asyncio.run(work(remote(settings, server), server))


@pytest.mark.slow
def test_a_build_has_as_many_requests_under_way_as_workers_and_says_what_they_cost(settings: Settings) -> None:
    async def work(own: Settings) -> None:
        async with Corpus.open(settings, site()) as corpus:
            await ingest(corpus)
            model = OpenAIEmbedder(own)
            limits = {"batch_size": own.embedding_batch_size, "workers": own.embedding_max_workers}
            report = await build_model(corpus.database, model, **limits)
            await model.aclose()
            assert report.tokens == 10 * report.embedded
            assert report.vectors == report.embedded

    together = threading.Barrier(3)
    first = iter(range(3))

    def counted(call: Call) -> dict[str, Any]:
        if next(first, None) is not None:
            together.wait()  # for the other two: no answer before three requests are under way
        return answer(call)

    with serving(counted) as server:
        asyncio.run(work(remote(settings, server, embedding_batch_size=16, embedding_max_workers=3)))
    assert not together.broken
