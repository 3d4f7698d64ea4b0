"""Two real models over one corpus: built beside each other, switched, switched back; no search mixes them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.errors import EmbeddingError, InvalidInputError, StoreError
from webrag_core.indexing.indexer import Indexer
from webrag_core.indexing.model_switch import build_model, list_models, switch_model
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.embedder import ModelIdentity, Vectors, WordLlamaEmbedder
from webrag_core.providers.input_types import InputType
from webrag_core.retrieval.scope import source_scope
from webrag_core.retrieval.searcher import Searcher


class ShortModel(WordLlamaEmbedder):
    """The bundled model cut to its first 64 dimensions, which it is trained for."""

    identity = ModelIdentity("wordllama", "l2_supercat_64", 64, "l2")
    calls = 0
    fails_at = 0

    async def embed(self, texts: Sequence[str], input_type: InputType = "document") -> Vectors:
        self.calls += 1
        if self.calls == self.fails_at:
            raise EmbeddingError("no answer")
        whole = await WordLlamaEmbedder().embed(texts)
        short = whole[:, :64]
        return np.asarray(short / np.linalg.norm(short, axis=1, keepdims=True), dtype=np.float32)


def site() -> LocalSite:
    return LocalSite(
        {f"/{name}": page(name.title(), f"Everything about the {name}, its food and its home.") for name in NAMES}
    )


NAMES = ("lion", "whale", "heron", "otter")


def corpus_of(settings: Settings, work: Callable[[Corpus, LocalSite], Awaitable[None]]) -> None:
    async def body() -> None:
        local = site()
        async with Corpus.open(settings, local) as corpus:
            for name in NAMES:
                await corpus.add(f"{SITE}/{name}")
            await work(corpus, local)

    asyncio.run(body())


async def found(corpus: Corpus, model: WordLlamaEmbedder, model_id: int) -> list[str]:
    searcher = Searcher(corpus.database, model, model_id, corpus.settings)
    async with corpus.database.connection() as connection:
        scope = await source_scope(connection, None)
    result = await searcher.retrieve("Where is the otter at home?", scope)
    return [chunk.source_url for chunk in result.chunks]


async def violations(corpus: Corpus) -> list[str]:
    return [violation.rule async for violation in verify_corpus(corpus.database, VerificationCounts())]


def test_build_switch_and_back(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        old = await corpus.model_id()
        report = await build_model(corpus.database, ShortModel(), batch_size=2)
        assert report.embedded == report.vectors == 4
        states = {model.id: (model.state, model.missing) for model in await list_models(corpus.database)}
        assert states == {old: ("live", 0), report.model_id: ("building", 0)}
        assert (await found(corpus, WordLlamaEmbedder(), old))[0] == f"{SITE}/otter"

        assert await switch_model(corpus.database, ShortModel.identity) == report.model_id
        assert (await found(corpus, ShortModel(), report.model_id))[0] == f"{SITE}/otter"
        assert (await found(corpus, WordLlamaEmbedder(), old))[0] == f"{SITE}/otter"  # a query that had begun
        assert await violations(corpus) == []
        async with corpus.database.connection() as connection:
            cursor = await connection.execute("SELECT DISTINCT dim FROM contract.v_embedding")
            assert await cursor.fetchall() == [(64,)]

        again = await build_model(corpus.database, WordLlamaEmbedder(), batch_size=2)
        assert again.embedded == 0
        assert await switch_model(corpus.database, WordLlamaEmbedder.identity) == old
        assert await violations(corpus) == []

    corpus_of(settings, work)


def test_pages_that_change_during_a_build_are_caught_up(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        await build_model(corpus.database, ShortModel(), batch_size=8)
        local.pages["/heron"] = page("Heron", "The heron stands in the water and waits for fish.")
        await corpus.add(f"{SITE}/heron", refresh=True)
        with pytest.raises(StoreError) as caught:
            await switch_model(corpus.database, ShortModel.identity)
        assert caught.value.code == "model_incomplete"
        assert (await build_model(corpus.database, ShortModel(), batch_size=8)).embedded == 1
        await switch_model(corpus.database, ShortModel.identity)
        assert await violations(corpus) == []

    corpus_of(settings, work)


def test_an_interrupted_build_goes_on_where_it_was(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        failing = ShortModel()
        failing.fails_at = 2
        with pytest.raises(EmbeddingError):
            await build_model(corpus.database, failing, batch_size=2)
        assert (await build_model(corpus.database, ShortModel(), batch_size=2)).embedded == 2

    corpus_of(settings, work)


def test_a_writer_of_the_retired_model_is_refused(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        await build_model(corpus.database, ShortModel(), batch_size=8)
        await switch_model(corpus.database, ShortModel.identity)
        local.pages["/lion"] = page("Lion", "The lion sleeps for twenty hours a day.")
        stored = await corpus.ingestor.ingest(f"{SITE}/lion", refresh=True)
        for writer in (corpus.indexer, Indexer(corpus.database, WordLlamaEmbedder(), settings)):
            with pytest.raises(StoreError) as caught:
                await writer.index(stored.version_id)
            assert caught.value.code == "embedding_model_mismatch"
        await Indexer(corpus.database, ShortModel(), settings).index(stored.version_id)
        assert await violations(corpus) == []

    corpus_of(settings, work)


def test_searches_during_a_switch_never_see_a_gap(settings: Settings) -> None:
    async def work(corpus: Corpus, local: LocalSite) -> None:
        old = await corpus.model_id()
        report = await build_model(corpus.database, ShortModel(), batch_size=8)
        searches = [found(corpus, WordLlamaEmbedder(), old) for _ in range(6)]
        results = await asyncio.gather(*searches[:3], switch_model(corpus.database, ShortModel.identity), *searches[3:])
        assert results[3] == report.model_id
        for result in (*results[:3], *results[4:]):
            assert isinstance(result, list)
            assert result[0] == f"{SITE}/otter"

    corpus_of(settings, work)


def test_what_cannot_be_built_or_switched_to(settings: Settings) -> None:
    async def work() -> None:
        async with Corpus.open(settings, site()) as corpus:
            with pytest.raises(InvalidInputError, match="no page is indexed"):
                await build_model(corpus.database, ShortModel(), batch_size=8)
            await corpus.add(f"{SITE}/lion")
            with pytest.raises(InvalidInputError, match="live already"):
                await build_model(corpus.database, WordLlamaEmbedder(), batch_size=8)
            with pytest.raises(InvalidInputError, match="never built"):
                await switch_model(corpus.database, ShortModel.identity)

    asyncio.run(work())
