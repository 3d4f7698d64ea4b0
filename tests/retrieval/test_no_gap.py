"""Searches while the corpus is cut anew or changes its embedding model: never a gap, never two models in one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.indexing.test_model_switch import ShortModel
from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import StoreError
from webrag_core.indexing import embedding_models
from webrag_core.indexing.chunks import embedding_text
from webrag_core.indexing.model_switch import build_model, switch_model
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.embedder import WordLlamaEmbedder
from webrag_core.retrieval import dense
from webrag_core.retrieval.request import Pattern, SearchRequest
from webrag_core.retrieval.search import CorpusSearch, search

pytestmark = pytest.mark.slow

NAMES = ("lion", "whale", "heron", "otter", "badger", "lizard")
QUERY = "Which food does the animal look for, and where is its home?"


def text(name: str, turn: int) -> str:
    habits = " ".join(f"The {name} looks for food number {n} far from its home." for n in range(30))
    return page(name.title(), f"All about the {name}, turn {turn}. {habits}")


@pytest.fixture(params=["exact", "graph"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the graph everything is as above 20,000 rows, only smaller."""
    if request.param == "graph":
        monkeypatch.setattr(embedding_models, "HNSW_MIN_ROWS", 0)
        monkeypatch.setattr(dense, "HNSW_MIN_ROWS", 0)


def with_pages(settings: Settings, work: Callable[[Corpus, LocalSite], Awaitable[None]]) -> None:
    async def body() -> None:
        site = LocalSite({f"/{name}": text(name, 0) for name in NAMES})
        # candidates enough for all: so that a page that is missing is missing from the corpus
        wide = settings.model_copy(update={"child_target_tokens": 64, "redundancy_ceiling": 1.0, "reranker_top_n": 100})
        async with Corpus.open(wide, site) as corpus:
            for name in NAMES:
                await corpus.add(f"{SITE}/{name}")
            await corpus.indexer.finish_bulk()
            await work(corpus, site)

    asyncio.run(body())


def beside(corpus: Corpus, site: LocalSite, model: WordLlamaEmbedder, target: int) -> Corpus:
    """Another process's view of the same database."""
    settings = corpus.settings.model_copy(update={"child_target_tokens": target})
    return Corpus(corpus.database, site, settings, model)


async def ask(corpus: Corpus, pattern: Pattern) -> CorpusSearch:
    """One search, whose quotes have been proved, with every cosine worked out again from the text of the match."""
    found = await search(corpus, SearchRequest(query=QUERY, pattern=pattern, alpha=None))
    model = corpus.embedder
    assert found.model_id == await corpus.model_id()
    if pattern is Pattern.SEMANTIC:
        chunks = [one.chunk for one in found.chunks]
        texts = [embedding_text(chunk.title, chunk.match_heading_path, chunk.match_text) for chunk in chunks]
        query, *vectors = await model.embed([QUERY, *texts])
        cosines = [float(vector @ query) for vector in vectors]
        assert [chunk.raw_similarity for chunk in chunks] == pytest.approx(cosines, abs=1e-5)
    return found


async def watch(corpus: Corpus, over: asyncio.Event) -> int:
    """Search again and again until it is over; every page is found each time. How many searches there were."""
    count = 0
    while not over.is_set() or not count:
        for pattern in (Pattern.SEMANTIC, Pattern.HYBRID, Pattern.RERANKED):
            found = await ask(corpus, pattern)
            assert set(found.corpus_stats.documents_matched) == {f"{SITE}/{name}" for name in NAMES}
            assert found.warnings == []
            count += 1
        await asyncio.sleep(0)
    return count


async def during(work: Awaitable[None], *readers: Corpus) -> None:
    over = asyncio.Event()
    watching = [asyncio.create_task(watch(corpus, over)) for corpus in readers for _ in range(2)]
    try:
        await work
    finally:
        over.set()
        counts = await asyncio.gather(*watching)
    assert min(counts) >= 3


def test_pages_that_are_cut_and_written_anew_are_found_throughout(settings: Settings) -> None:
    async def work(corpus: Corpus, site: LocalSite) -> None:
        async def again() -> None:
            for turn, target in enumerate((128, 64, 256), start=1):
                writer = beside(corpus, site, WordLlamaEmbedder(), target)
                for name in NAMES:
                    if turn != 2:  # the same text, cut otherwise
                        site.pages[f"/{name}"] = text(name, turn)
                    await writer.add(f"{SITE}/{name}", refresh=True)

        await during(again(), corpus)

    with_pages(settings, work)


def test_a_model_is_built_and_switched_to_and_back_under_running_searches(settings: Settings) -> None:
    async def work(corpus: Corpus, site: LocalSite) -> None:
        async def build() -> None:
            await build_model(corpus.database, ShortModel(), batch_size=4)

        await during(build(), corpus)
        old = await ask(corpus, Pattern.SEMANTIC)
        running = [asyncio.create_task(ask(corpus, pattern)) for pattern in (Pattern.SEMANTIC, Pattern.RERANKED) * 4]
        short = await switch_model(corpus.database, ShortModel.identity)
        for found in await asyncio.gather(*running):  # whoever had begun ends with the model it had
            assert found.model_id == old.model_id != short
            assert {one.chunk.source_url for one in found.chunks} == {f"{SITE}/{name}" for name in NAMES}

        new = beside(corpus, site, ShortModel(), 128)

        async def again() -> None:
            for name in NAMES:
                site.pages[f"/{name}"] = text(name, 7)
                await new.add(f"{SITE}/{name}", refresh=True)

        await during(again(), new)
        assert (await ask(new, Pattern.SEMANTIC)).model_id == short

    with_pages(settings, work)


def test_a_process_with_the_retired_model_says_so_and_answers_by_words(settings: Settings) -> None:
    async def work(corpus: Corpus, site: LocalSite) -> None:
        await build_model(corpus.database, ShortModel(), batch_size=64)
        await switch_model(corpus.database, ShortModel.identity)
        (warning,) = (await ask(corpus, Pattern.SEMANTIC)).warnings
        assert "switched to another embedding model" in warning
        new = beside(corpus, site, ShortModel(), 128)
        for name in NAMES:
            site.pages[f"/{name}"] = text(name, 7)
            await new.add(f"{SITE}/{name}", refresh=True)
        for pattern in (Pattern.HYBRID, Pattern.RERANKED):
            found = await ask(corpus, pattern)
            assert {one.chunk.source_url for one in found.chunks} == {f"{SITE}/{name}" for name in NAMES}
            assert found.warnings == [warning]
        with pytest.raises(StoreError, match="another embedding model") as caught:
            await ask(corpus, Pattern.SEMANTIC)
        assert caught.value.code == "embedding_model_mismatch"

    with_pages(settings, work)
