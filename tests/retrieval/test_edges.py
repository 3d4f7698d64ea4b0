"""Searches at the edges: nothing stored, one page, queries that are long, foreign, or hardly queries at all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import Mode, Pattern, SearchRequest
from webrag_core.retrieval.scope import ScopeFilter
from webrag_core.retrieval.search import CorpusSearch, search

ENGLISH = {
    "/whales": page("Whales", "The blue whale is the largest animal. Whales filter krill from the sea."),
    "/cats": page("Cats", "The cat sleeps for sixteen hours. A cat hunts mice and the odd lizard."),
}
FOREIGN = {
    "/zh": page("鲸鱼", "蓝鲸是地球上最大的动物。鲸鱼从海水中过滤磷虾为食。"),
    "/ar": page("الحيتان", "الحوت الأزرق هو أكبر حيوان على وجه الأرض. يتغذى على الكريل من البحر."),
    "/ru": page("Киты", "Синий кит — самое большое животное на Земле. Киты питаются крилем из моря."),
    "/emoji": page("Weather", "A sunny day is shown as ☀ and rain as 🌧 in every forecast of this office."),
}
QUERIES = {
    "/zh": "最大的动物是什么？",
    "/ar": "ما هو أكبر حيوان على وجه الأرض؟",
    "/ru": "Какое животное самое большое?",
}
LONG = " ".join(f"What is whale number {n} doing in the sea of krill" for n in range(1_000)) + "?"
ODD = [
    "?!… --- ;;; ()[]{}",
    "🐳",
    "🧑🏽‍🚀🏴‍☠️",
    "the",
    "a",
    "%",
    "\\",
    "'",
    "\t\n.",
    "\u200b",
    "NaN",
    "0",
    LONG,
    "x" * 60_000,
]
PATTERNS = [pattern for pattern in Pattern if pattern is not Pattern.FILTERED]


def request(query: str, pattern: Pattern, mode: Mode = "chunk") -> SearchRequest:
    others = (f"{query} whale",) if pattern is Pattern.MULTI_QUERY else ()
    filters = ScopeFilter(types=["html"]) if pattern is Pattern.FILTERED else ScopeFilter()
    return SearchRequest(query=query, pattern=pattern, formulations=others, filters=filters, mode=mode)


def searching(settings: Settings, pages: Mapping[str, str], work: Callable[[Corpus], Awaitable[None]]) -> None:
    async def body() -> None:
        async with Corpus.open(settings, LocalSite(dict(pages))) as corpus:
            for path in pages:
                await corpus.add(SITE + path)
            await work(corpus)

    asyncio.run(body())


def check(found: CorpusSearch) -> None:
    """Scores in range and falling, a citation for each chunk; they were proved against the stored text before."""
    scores = [one.reranked_score for one in found.chunks]
    assert scores == sorted(scores, reverse=True)
    for one in found.chunks:
        chunk = one.chunk
        for score in (one.reranked_score, chunk.score, chunk.raw_score, chunk.lexical_score, chunk.relevance or 0.0):
            assert 0 <= score <= 1
        assert -1 <= chunk.raw_similarity <= 1 + 1e-6
    assert [citation.number for citation in found.citations] == [n + 1 for n in range(len(found.chunks))]


@pytest.mark.parametrize("pattern", Pattern)
def test_an_empty_corpus_has_no_answer_and_no_error(settings: Settings, pattern: Pattern) -> None:
    async def work(corpus: Corpus) -> None:
        for mode in ("auto", "chunk", "full_context"):
            found = await search(corpus, request("Which animal eats krill?", pattern, mode))
            assert (found.chunks, found.citations, found.candidates, found.warnings) == ([], [], 0, [])
            assert (found.corpus_stats.total_documents, found.corpus_stats.total_tokens) == (0, 0)

    searching(settings, {}, work)


@pytest.mark.parametrize("pattern", Pattern)
def test_one_page_is_found_whatever_the_pattern(settings: Settings, pattern: Pattern) -> None:
    async def work(corpus: Corpus) -> None:
        for mode in ("auto", "chunk", "full_context"):
            found = await search(corpus, request("Which animal eats krill?", pattern, mode))
            check(found)
            assert [one.chunk.source_url for one in found.chunks] == [f"{SITE}/whales"]
            assert found.corpus_stats.total_documents == 1

    searching(settings, {"/whales": ENGLISH["/whales"]}, work)


@pytest.mark.parametrize("query", ODD, ids=lambda query: ascii(query[:12]))
def test_queries_that_are_hardly_any(settings: Settings, query: str) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern in PATTERNS:
            check(await search(corpus, request(query, pattern)))

    searching(settings, ENGLISH | FOREIGN, work)


def test_a_query_of_ten_thousand_tokens_still_means_something(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern in PATTERNS:
            found = await search(corpus, request(LONG, pattern))
            assert found.chunks[0].chunk.source_url == f"{SITE}/whales"

    searching(settings, ENGLISH, work)


@pytest.mark.parametrize("path", QUERIES)
def test_a_query_in_another_script_finds_the_page_in_that_script(settings: Settings, path: str) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern in PATTERNS:
            if pattern is not Pattern.SEMANTIC:  # the offline model hardly knows them
                found = await search(corpus, request(QUERIES[path], pattern))
                assert found.chunks[0].chunk.source_url == SITE + path

    searching(settings, ENGLISH | FOREIGN, work)


@pytest.mark.parametrize("path", QUERIES)
def test_a_query_in_another_script_finds_nothing_sure_in_an_english_corpus(settings: Settings, path: str) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern in PATTERNS:
            check(await search(corpus, request(QUERIES[path], pattern)))
        found = await search(corpus, SearchRequest(query=QUERIES[path]))
        assert all(one.reranked_score < 0.5 for one in found.chunks)

    searching(settings, ENGLISH, work)


def test_an_emoji_is_searched_for_without_an_error_and_promises_nothing(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        found = await search(corpus, SearchRequest(query="🌧"))
        check(found)
        assert all(one.reranked_score < 0.5 for one in found.chunks)

    searching(settings, ENGLISH | FOREIGN, work)


def test_the_same_search_gives_the_same_citations(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern in PATTERNS:
            first, *others = [await search(corpus, request("largest animal of the sea", pattern)) for _ in range(3)]
            assert first.citations
            for other in others:
                assert (other.chunks, other.citations) == (first.chunks, first.citations)

    searching(settings, ENGLISH | FOREIGN, work)
