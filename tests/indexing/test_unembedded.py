"""Texts without a vector: their pages are found by words, and get what can be had later."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.local_site import SITE, LocalSite, page
from tests.pauses import noted_pauses
from tests.provider_server import Call, Provider, Reply, serving
from webrag_core.config import Settings
from webrag_core.corpus.verification import verify_vectors
from webrag_core.errors import FetchError
from webrag_core.indexing.model_switch import list_models
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.retrieval.search import search_corpus

SIZE = 8
WORDS = ("amber", "basalt", "copper", "dolomite", "emerald", "felsite")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
    noted_pauses(monkeypatch)


def answer(call: Call) -> dict[str, Any]:
    rows = [{"index": at, "embedding": [1.0, *[0.1] * (SIZE - 1)]} for at in range(len(call.body["input"]))]
    return {"data": rows, "model": "m", "usage": {"prompt_tokens": len(rows), "total_tokens": len(rows)}}


def refusing(call: Call) -> Any:
    """Nothing about emeralds, not even its beginning."""
    return Reply({}, 400) if any("merald" in text for text in call.body["input"]) else answer(call)


def ten_at_most(call: Call) -> Any:
    return Reply({}, 422) if len(call.body["input"]) > 10 else answer(call)


def site() -> LocalSite:
    return LocalSite(
        {f"/{word}": page(f"On {word}", f"The {word} lies beneath the northern quarry.") for word in WORDS}
    )


def remote(settings: Settings, server: Provider) -> Settings:
    own = {"embedding_base_url": server.url, "embedding_model": "m", "embedding_dimensions": SIZE}
    return settings.model_copy(update=own)


async def ingest(corpus: Corpus) -> dict[str, AddedDocument]:
    results: dict[str, AddedDocument | FetchError] = {}
    await corpus.add_all([f"{SITE}/{word}" for word in WORDS], results.__setitem__)
    return {url: result for url, result in results.items() if isinstance(result, AddedDocument)}


async def missing(corpus: Corpus) -> tuple[int, int]:
    """Vectors, and those that are missing."""
    (model,) = await list_models(corpus.database)
    return model.vectors, model.missing


async def found(corpus: Corpus, word: str) -> str:
    result = await search_corpus(corpus, f"{word} beneath the quarry")
    return result.citations[0].source_url


async def whole(corpus: Corpus) -> bool:
    async with corpus.database.connection() as connection:
        return not await verify_vectors(connection, None, await corpus.model_id())


def test_of_six_pages_a_refused_text_costs_one_its_vector_and_none_its_place(settings: Settings) -> None:
    async def work(server: Provider) -> None:
        async with Corpus.open(remote(settings, server), site()) as corpus:
            added = await ingest(corpus)
            assert len(added) == len(WORDS)
            warned = {url: result.warnings for url, result in added.items() if result.warnings}
            assert list(warned) == [f"{SITE}/emerald"]
            assert "1 passages are searched by words only" in warned[f"{SITE}/emerald"][0]
            assert await missing(corpus) == (5, 0)
            for word in WORDS:
                assert await found(corpus, word) == f"{SITE}/{word}"
            before = len(server.calls)
            assert all(result.outcome == "reused" for result in (await ingest(corpus)).values())
            await corpus.indexer.finish_bulk()
            assert len(server.calls) == before  # a refused text is not sent again
            assert await whole(corpus)

    with serving(refusing) as server:
        asyncio.run(work(server))


def test_a_server_that_takes_ten_texts_gets_all_pages(settings: Settings) -> None:
    async def work(server: Provider) -> None:
        sections = "".join(f"<h2>Part {part}</h2><p>{'word ' * 120} {part}</p>" for part in range(9))
        many = LocalSite({f"/{word}": page(word, sections) for word in WORDS})
        async with Corpus.open(remote(settings, server), many) as corpus:
            assert len(await ingest(corpus)) == len(WORDS)
            vectors, lacking = await missing(corpus)
            assert vectors > 10
            assert lacking == 0

    with serving(ten_at_most) as server:
        asyncio.run(work(server))


@pytest.mark.parametrize("later", [pytest.param("added again", marks=pytest.mark.slow), "after a bulk"])
def test_pages_of_an_outage_are_found_by_words_and_get_their_vectors_later(settings: Settings, later: str) -> None:
    async def work(server: Provider) -> None:
        async with Corpus.open(remote(settings, server), site()) as corpus:
            server.answer = Reply({}, 500)
            added = await ingest(corpus)
            assert [result.waiting for result in added.values()] == [1] * len(WORDS)
            assert all("until the embedding model works again" in result.warnings[0] for result in added.values())
            assert await missing(corpus) == (0, len(WORDS))
            assert await whole(corpus)
            for word in WORDS:
                assert await found(corpus, word) == f"{SITE}/{word}"
            await corpus.indexer.finish_bulk()  # still down: no error
            async with corpus.database.connection() as connection:
                await connection.execute("DELETE FROM breakers")
            server.answer = answer
            if later == "added again":
                assert not any(result.waiting for result in (await ingest(corpus)).values())
            else:
                await corpus.indexer.finish_bulk()
            assert await missing(corpus) == (len(WORDS), 0)
            assert await whole(corpus)
            async with corpus.database.connection() as connection:
                cursor = await connection.execute("SELECT count(*) FROM texts_without_vector")
                assert await cursor.fetchone() == (0,)

    with serving(answer) as server:
        asyncio.run(work(server))
