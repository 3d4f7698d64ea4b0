"""Retrieval patterns by name: each one's scores from its formula, on pages in a real database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from tests.local_site import SITE, LocalSite, page
from tests.provider_server import Call, serving
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.bm25 import search_parents
from webrag_core.retrieval.patterns import RRF_K, alpha_fusion, rank_fusion
from webrag_core.retrieval.request import Pattern, ScopeFilter, SearchRequest
from webrag_core.retrieval.scope import source_scope
from webrag_core.retrieval.search import CorpusSearch, search, search_corpus
from webrag_core.retrieval.searcher import Searcher

PAGES = {
    "/lions": page("Lions", "The lion is a large cat that lives in prides on the savannah. Lions hunt zebras."),
    "/whales": page("Whales", "The blue whale is the largest animal. Whales filter krill from the sea."),
    "/cats": page("Cats", "The cat sleeps for sixteen hours. A cat hunts mice and the odd lizard."),
    "/errors": page("Errors", "The code EX-4711 means that the feline detector has lost its calibration."),
}
QUERY = "Which feline hunts zebras?"
NO_FLOOR = {"retrieval_similarity_floor": -1.0}


def searching(
    settings: Settings,
    work: Callable[[Corpus], Awaitable[None]],
    pages: Mapping[str, str] = PAGES,
    **more: Any,
) -> None:
    async def body() -> None:
        chosen = settings.model_copy(update=more)
        async with Corpus.open(chosen, LocalSite(dict(pages))) as corpus:
            for path in pages:
                await corpus.add(SITE + path)
            await work(corpus)

    asyncio.run(body())


def paths(found: CorpusSearch) -> list[str]:
    return [one.chunk.source_url.removeprefix(SITE) for one in found.chunks]


async def lexical_shares(corpus: Corpus, query: str) -> dict[int, float]:
    async with corpus.database.snapshot() as connection:
        scope = await source_scope(connection, None)
        hits = (await search_parents(connection, terms(query), scope, limit=100)).hits
    return {hit.parent_id: hit.relative for hit in hits}


@pytest.mark.parametrize("name", ["hybrid", "hybrid_search", "P2", " Hybrid-Search ", "p2"])
def test_a_pattern_goes_by_name_and_number(name: str) -> None:
    assert Pattern.named(name) is Pattern.HYBRID


@pytest.mark.parametrize("name", ["", "P7", "p0", "modal", "_search"])
def test_an_unknown_pattern_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"semantic \(P1\).*cross_modal \(P6\)"):
        Pattern.named(name)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"query": " "}, "query is empty"),
        ({"alpha": 0.5}, "only hybrid_search takes fusion and alpha"),
        ({"pattern": Pattern.SEMANTIC, "fusion": "rrf"}, "only hybrid_search takes fusion and alpha"),
        ({"pattern": Pattern.HYBRID, "fusion": "rrf", "alpha": 0.5}, "fusion by rank"),
        ({"pattern": Pattern.HYBRID, "alpha": 1.5}, "between 0 and 1, got 1.5"),
        ({"pattern": Pattern.HYBRID, "alpha": float("nan")}, "between 0 and 1, got nan"),
        ({"top_k": 0}, "top_k must be at least 1, got 0"),
        ({"requested_years": [20_24_0]}, "got 20240"),
        ({"requested_years": [9999]}, "got 9999"),
        ({"formulations": ["other"]}, "only multi_query_retrieval takes formulations, not reranked_retrieval"),
        ({"pattern": Pattern.MULTI_QUERY}, "at least one other formulation"),
        ({"pattern": Pattern.MULTI_QUERY, "formulations": [QUERY]}, "at least one other formulation"),
        ({"pattern": Pattern.MULTI_QUERY, "formulations": [""]}, "formulation is empty"),
        ({"pattern": Pattern.MULTI_QUERY, "formulations": [str(n) for n in range(9)]}, "at most 8"),
        ({"pattern": Pattern.FILTERED}, "needs a filter"),
    ],
)
def test_what_no_search_can_mean(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        SearchRequest(**{"query": QUERY, **wrong})


def test_the_default_is_what_the_loop_does(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        found = await search(corpus, SearchRequest(query=QUERY))
        assert found.pattern is Pattern.RERANKED
        async with corpus.database.connection() as connection:
            scope = await source_scope(connection, None)
        searcher = Searcher(corpus.database, corpus.embedder, found.model_id, corpus.settings)
        chunks = (await searcher.retrieve(QUERY, scope, mode="chunk")).chunks
        assert [one.chunk for one in found.chunks] == sorted(chunks, key=lambda chunk: -(chunk.relevance or 0))
        assert [one.reranked_score for one in found.chunks] == [one.chunk.relevance for one in found.chunks]
        assert (await search_corpus(corpus, QUERY)).chunks == found.chunks
        filtered = SearchRequest(query=QUERY, pattern=Pattern.FILTERED, filters=ScopeFilter(sources=["site.example"]))
        assert (await search(corpus, filtered)).chunks == found.chunks

    searching(settings, work)


def test_semantic_is_the_cosine_alone_and_quotes_the_nearest_child(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        found = await search(corpus, SearchRequest(query=QUERY, pattern=Pattern.SEMANTIC))
        assert len(found.chunks) == 4
        for one in found.chunks:
            chunk = one.chunk
            assert one.reranked_score == chunk.score == chunk.raw_score == max(0.0, chunk.raw_similarity)
            assert (chunk.lexical_score, chunk.relevance) == (0.0, None)
        cosines = [one.chunk.raw_similarity for one in found.chunks]
        assert cosines == sorted(cosines, reverse=True)
        assert cosines[0] < 0.3  # RETRIEVAL_SIMILARITY_FLOOR is for patterns that have words too

    searching(settings, work)


@pytest.mark.parametrize("alpha", [0.0, 0.3, None, 1.0])
def test_hybrid_by_weight(settings: Settings, alpha: float | None) -> None:
    async def work(corpus: Corpus) -> None:
        shares = await lexical_shares(corpus, QUERY)
        found = await search(corpus, SearchRequest(query=QUERY, pattern=Pattern.HYBRID, alpha=alpha))
        assert len(found.chunks) == 4
        for chunk in (one.chunk for one in found.chunks):
            assert chunk.lexical_score == pytest.approx(shares.get(chunk.chunk_id, 0.0))
            weight = 0.7 if alpha is None else alpha
            expected = weight * max(0.0, chunk.raw_similarity) + (1 - weight) * chunk.lexical_score
            assert chunk.raw_score == chunk.score == pytest.approx(expected)
            assert chunk.relevance is None

    searching(settings, work, **NO_FLOOR)


def test_hybrid_knows_the_cosine_also_of_what_only_its_words_found(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        request = SearchRequest(query="EX-4711", pattern=Pattern.HYBRID, alpha=0.5)
        found = await search(corpus, request)
        first = found.chunks[0].chunk
        assert first.source_url == f"{SITE}/errors"
        assert first.raw_similarity != 0
        assert first.raw_score == pytest.approx(0.5 * max(0, first.raw_similarity) + 0.5 * first.lexical_score)

    searching(settings, work, retrieval_similarity_floor=0.99)


def test_hybrid_by_ranks(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        semantic = await search(corpus, SearchRequest(query=QUERY, pattern=Pattern.SEMANTIC))
        lexical = list(await lexical_shares(corpus, QUERY))
        dense = [one.chunk.chunk_id for one in semantic.chunks]
        found = await search(corpus, SearchRequest(query=QUERY, pattern=Pattern.HYBRID, fusion="rrf"))
        for chunk in (one.chunk for one in found.chunks):
            ranks = [order.index(chunk.chunk_id) + 1 for order in (dense, lexical) if chunk.chunk_id in order]
            assert chunk.raw_score == pytest.approx(sum(1 / (RRF_K + rank) for rank in ranks) * (RRF_K + 1) / 2)

    searching(settings, work, **NO_FLOOR)


def test_fused_scores_stay_in_range() -> None:
    assert alpha_fusion(-0.4, 0.5, 0.5) == 0.25
    assert alpha_fusion(1.0000001, 1.0, 0.7) == 1.0
    assert rank_fusion([[7, 8], [7]]) == pytest.approx({7: 1.0, 8: 61 / 62 / 2})
    assert rank_fusion([[], []]) == {}


def test_several_formulations_find_what_one_does_not(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        asked = ("What filters the sea?", "largest animal krill", "lion prides")
        alone = [await search(corpus, SearchRequest(query=query)) for query in asked]
        request = SearchRequest(query=asked[0], pattern=Pattern.MULTI_QUERY, formulations=asked[1:])
        found = await search(corpus, request)
        assert found.queries == list(asked)
        best: dict[int, float] = {}
        for one in (chunk for result in alone for chunk in result.chunks):
            best[one.chunk.chunk_id] = max(best.get(one.chunk.chunk_id, 0.0), one.reranked_score)
        assert {one.chunk.chunk_id: one.reranked_score for one in found.chunks} == pytest.approx(best)
        assert set(paths(found)[:2]) == {"/whales", "/lions"}

    searching(settings, work)


def test_a_provider_reranks_the_candidates_of_all_formulations_once(settings: Settings) -> None:
    def answer(call: Call) -> Any:
        texts = call.body["documents"]
        return {"results": [{"index": i, "relevance_score": 0.9 if "krill" in t else 0.1} for i, t in enumerate(texts)]}

    async def work(corpus: Corpus) -> None:
        request = SearchRequest(query="lion", pattern=Pattern.MULTI_QUERY, formulations=("animal of the sea",))
        found = await search(corpus, request)
        assert (paths(found)[0], found.chunks[0].reranked_score) == ("/whales", 0.9)

    with serving(answer) as server:
        own = {"reranker_provider": "jina", "reranker_base_url": server.url}
        searching(settings, work, **own)
        assert [call.body["query"] for call in server.calls] == ["lion"]


@pytest.mark.parametrize("pattern", [Pattern.SEMANTIC, Pattern.HYBRID])
def test_a_pattern_without_reranking_asks_no_reranker(settings: Settings, pattern: Pattern) -> None:
    async def work(corpus: Corpus) -> None:
        assert (await search(corpus, SearchRequest(query=QUERY, pattern=pattern))).chunks

    searching(settings, work, reranker_provider="cohere")  # which has no key, and would be refused


@pytest.mark.parametrize("pattern", [Pattern.SEMANTIC, Pattern.HYBRID, Pattern.RERANKED])
def test_a_flag_narrows_every_pattern_to_passages_that_carry_it(settings: Settings, pattern: Pattern) -> None:
    async def work(corpus: Corpus) -> None:
        for mode in ("chunk", "full_context"):
            request = SearchRequest(query="cat mice", pattern=pattern, filters=ScopeFilter(flags=["code"]), mode=mode)
            found = await search(corpus, request)
            assert paths(found) == ["/code"]
            assert found.candidates == found.corpus_stats.total_parent_chunks == 1

    code = page("Code", "Feed them like this: </p><pre><code>cat.feed(mice=1)</code></pre><p> and wait.")
    searching(settings, work, pages=PAGES | {"/code": code})


def test_no_more_results_than_asked_for(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        every = await search(corpus, SearchRequest(query="animal cat lion whale error"))
        two = await search(corpus, SearchRequest(query="animal cat lion whale error", top_k=2))
        assert len(every.chunks) > 2
        assert (two.chunks, two.citations) == (every.chunks[:2], every.citations[:2])
        assert len((await search(corpus, SearchRequest(query="cat lion whale code", top_k=30))).chunks) > 1

    searching(settings, work, reranker_top_n=1 + 3)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (ScopeFilter(sources=["site.exmple"]), "no such source: site.exmple; there are site.example"),
        (ScopeFilter(flags=["tabel", "code"]), "no such flag: tabel; there are admonition, code"),
        (
            ScopeFilter(types=["docx"]),  # type: ignore[list-item]
            "no such document type: docx; there are html, pdf, text, office",
        ),
        (ScopeFilter(languages=["german"]), "'german' is not a language tag such as en or pt-BR; pages are in en"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(settings: Settings, filters: ScopeFilter, message: str) -> None:
    async def work(corpus: Corpus) -> None:
        with pytest.raises(InvalidInputError, match=message):
            await search(corpus, SearchRequest(query=QUERY, filters=filters))

    searching(settings, work)


def test_a_language_that_no_page_is_in_is_a_warning(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            await connection.execute("UPDATE document_versions SET language = 'en_GB' WHERE id % 2 = 0")
        none = await search(corpus, SearchRequest(query=QUERY, filters=ScopeFilter(languages=["de"])))
        assert none.chunks == []
        assert none.warnings == ["no page is in 'de'; pages are in en, en-gb"]
        some = await search(corpus, SearchRequest(query=QUERY, filters=ScopeFilter(languages=["EN-gb"])))
        assert some.corpus_stats.total_documents == 2
        assert some.warnings == []

    searching(settings, work)
