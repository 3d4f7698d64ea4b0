"""Searches while the embedding endpoint is down: by words, with a warning."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, Reply, serving
from tests.providers.test_openai_embedder import openai
from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import Pattern, SearchRequest
from webrag_core.retrieval.scope import Scope
from webrag_core.retrieval.search import search
from webrag_core.retrieval.searcher import Searcher

PAGES = {
    "/whales": page("Whales", "The blue whale is the largest animal. Whales filter krill from the sea."),
    "/cats": page("Cats", "The cat sleeps for sixteen hours. A cat hunts mice and the odd lizard."),
}


def without_endpoint(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, work: Callable[[Corpus], Awaitable[None]]
) -> None:
    """Index two pages with a remote model, then take its endpoint down."""
    monkeypatch.setenv("NO_PROXY", "*")
    down = False

    def answer(call: Call) -> Any:
        return Reply({"error": {"message": "no"}}, status=400) if down else openai(call)

    async def body(remote: Settings) -> None:
        nonlocal down
        async with Corpus.open(remote, LocalSite(dict(PAGES))) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            down = True
            await work(corpus)

    with serving(answer) as server:
        own = {"embedding_base_url": server.url, "embedding_model": "m", "embedding_dimensions": 64}
        asyncio.run(body(settings.model_copy(update=own)))


@pytest.mark.parametrize("pattern", [Pattern.RERANKED, Pattern.HYBRID, Pattern.MULTI_QUERY, Pattern.GRAPH])
def test_a_search_goes_on_by_words_and_says_so(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, pattern: Pattern
) -> None:
    others = ("which animal filters the sea",) if pattern is Pattern.MULTI_QUERY else ()

    async def work(corpus: Corpus) -> None:
        request = SearchRequest(query="Who eats krill?", pattern=pattern, formulations=others)
        result = await search(corpus, request)
        assert result.degraded == ["dense"]
        assert result.warnings[0].startswith("the embedding model failed; searched by words only: ")
        assert [one.chunk.source_url for one in result.chunks] == [f"{SITE}/whales"]
        assert all(one.chunk.raw_similarity == 0 for one in result.chunks)
        assert "krill" in result.citations[0].verbatim_text

    without_endpoint(settings, monkeypatch, work)


def test_the_full_context_is_complete_without_vectors(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(corpus: Corpus) -> None:
        documents = {(await corpus.add(SITE + path)).document_id: 0 for path in PAGES}
        searcher = Searcher(corpus.database, corpus.embedder, await corpus.model_id(), corpus.settings)
        result = await searcher.retrieve("Who eats krill?", Scope.of(documents), mode="full_context")
        assert (result.mode, result.degraded) == ("full_context", ["dense"])
        assert [chunk.source_url for chunk in result.chunks] == [f"{SITE}/whales", f"{SITE}/cats"]

    without_endpoint(settings, monkeypatch, work)


def test_a_semantic_search_needs_the_model(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(corpus: Corpus) -> None:
        with pytest.raises(EmbeddingError, match="semantic_search needs the embedding model, which failed"):
            await search(corpus, SearchRequest(query="Who eats krill?", pattern=Pattern.SEMANTIC))

    without_endpoint(settings, monkeypatch, work)
