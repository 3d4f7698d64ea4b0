"""Searches at the edges: nothing stored, one page, queries that are long, foreign, or hardly queries at all."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from tests.local_site import SITE, over_pages, page
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import Mode, Pattern, ScopeFilter, SearchRequest
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
LONG = " ".join(f"What is whale number {n} doing in the sea of krill" for n in range(150)) + "?"
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
    "x" * 9_990,
]
MODES: tuple[Mode, ...] = ("auto", "chunk", "full_context")
PATTERNS = [pattern for pattern in Pattern if pattern is not Pattern.FILTERED]


def request(query: str, pattern: Pattern, mode: Mode = "chunk") -> SearchRequest:
    others = (f"{query} whale",) if pattern is Pattern.MULTI_QUERY else ()
    filters = ScopeFilter(types=["html"]) if pattern is Pattern.FILTERED else ScopeFilter()
    return SearchRequest(query=query, pattern=pattern, formulations=others, filters=filters, mode=mode)


def check(found: CorpusSearch) -> None:
    """Scores in range and falling, a citation for each chunk; they were proved against the stored text before."""
    scores = [one.reranked_score for one in found.chunks]
    assert scores == sorted(scores, reverse=True)
    for one in found.chunks:
        chunk = one.chunk
        for score in (one.reranked_score, chunk.score, chunk.raw_score, chunk.lexical_score, chunk.relevance or 0.0):
            assert 0 <= score <= 1
        assert -1 <= chunk.raw_similarity <= 1 + 1e-6
    assert [citation.number for citation in found.citations] == [n + 1 for n in range(len(found.citations))]
    assert {citation.chunk_id for citation in found.citations} == {one.chunk.chunk_id for one in found.chunks}
    relevances = [citation.relevance for citation in found.citations]
    assert relevances == sorted(relevances, reverse=True)


def test_an_empty_corpus_has_no_answer_and_no_error(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern, mode in itertools.product(Pattern, MODES):
            found = await search(corpus, request("Which animal eats krill?", pattern, mode))
            assert (found.chunks, found.citations, found.candidates, found.warnings) == ([], [], 0, [])
            assert (found.corpus_stats.total_documents, found.corpus_stats.total_tokens) == (0, 0)

    over_pages(settings, {}, work)


def test_one_page_is_found_whatever_the_pattern(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern, mode in itertools.product(Pattern, MODES):
            found = await search(corpus, request("Which animal eats krill?", pattern, mode))
            check(found)
            assert [one.chunk.source_url for one in found.chunks] == [f"{SITE}/whales"]
            assert found.corpus_stats.total_documents == 1

    over_pages(settings, {"/whales": ENGLISH["/whales"]}, work)


def test_queries_that_are_hardly_any(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for query, pattern in itertools.product(ODD, PATTERNS):
            check(await search(corpus, request(query, pattern)))

    over_pages(settings, ENGLISH | FOREIGN, work)


def test_a_query_of_thousands_of_tokens_is_searched(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern in PATTERNS:
            found = await search(corpus, request(LONG, pattern))
            assert found.chunks[0].chunk.source_url == f"{SITE}/whales"

    over_pages(settings, ENGLISH, work)


def test_a_query_in_another_script_finds_the_page_in_that_script(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for (path, query), pattern in itertools.product(QUERIES.items(), PATTERNS):
            if pattern is not Pattern.SEMANTIC:  # the offline model hardly knows them
                found = await search(corpus, request(query, pattern))
                assert found.chunks[0].chunk.source_url == SITE + path

    over_pages(settings, ENGLISH | FOREIGN, work)


def test_a_query_in_another_script_finds_nothing_sure_in_an_english_corpus(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for query in QUERIES.values():
            for pattern in PATTERNS:
                check(await search(corpus, request(query, pattern)))
            found = await search(corpus, SearchRequest(query=query))
            assert all(one.reranked_score < 0.5 for one in found.chunks)

    over_pages(settings, ENGLISH, work)


def test_an_emoji_is_searched_for_without_an_error_and_promises_nothing(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        found = await search(corpus, SearchRequest(query="🌧"))
        check(found)
        assert all(one.reranked_score < 0.5 for one in found.chunks)

    over_pages(settings, ENGLISH | FOREIGN, work)


def test_the_same_search_gives_the_same_citations(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern in PATTERNS:
            first, *others = [await search(corpus, request("largest animal of the sea", pattern)) for _ in range(3)]
            assert first.citations
            for other in others:
                assert (other.chunks, other.citations) == (first.chunks, first.citations)

    over_pages(settings, ENGLISH | FOREIGN, work)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"query": None}, "the query must be a string, not NoneType"),
        ({"query": "x" * 1_200_000}, "the query has 1,200,000 characters; at most 10,000"),
        ({"mode": "bogus"}, "mode must be one of auto, chunk, full_context, got 'bogus'"),
        ({"pattern": "hybrid"}, "pattern must be a Pattern, got 'hybrid'"),
        ({"pattern": Pattern.HYBRID, "fusion": "sum"}, "fusion must be one of weighted, rrf, got 'sum'"),
        ({"context_budget": 0}, "context_budget must be at least 1, got 0"),
        ({"requested_years": [0]}, "year must be between 1 and 9998, got 0"),
    ],
)
def test_invalid_options_are_typed_errors(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        SearchRequest(**{"query": "whales", **fields})


def test_an_address_narrows_the_search_with_or_without_scheme(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for prefix in (f"{SITE}/whales", f"{SITE}/whales".removeprefix("https://")):
            filters = ScopeFilter(url_prefixes=[prefix])
            found = await search(corpus, SearchRequest(query="animal cat whale", filters=filters))
            assert [one.chunk.source_url for one in found.chunks] == [f"{SITE}/whales"]
            assert found.corpus_stats.total_documents == 1
        none = await search(corpus, SearchRequest(query="cat", filters=ScopeFilter(url_prefixes=["elsewhere.example"])))
        assert (none.is_empty, none.top_score, none.source_urls) == (True, 0.0, [])
        few = await search(corpus, SearchRequest(query="animal cat whale", context_budget=1))
        assert few.source_urls == [few.chunks[0].chunk.source_url]
        more = await search(corpus, SearchRequest(query="animal cat whale"))
        assert more.source_urls[:1] == few.source_urls
        assert sorted(more.source_urls) == [f"{SITE}/cats", f"{SITE}/whales"]

    over_pages(settings, ENGLISH, work)


def test_full_context_returns_every_chunk_in_reading_order_whatever_the_top_n(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for mode in ("full_context", "auto"):
            found = await search(corpus, SearchRequest(query="heading number 3", mode=mode, top_k=2))
            assert (found.mode, found.warnings) == ("full_context", [])
            assert len(found.chunks) == found.corpus_stats.total_parent_chunks > 4
            assert [one.chunk.chunk_index for one in found.chunks] == list(range(len(found.chunks)))
            assert found.top_score == max(one.reranked_score for one in found.chunks) > 0

    text = "".join(f"<h2>Heading {n}</h2><p>{f'Sentence number {n} about whales. ' * 20}</p>" for n in range(8))
    own = {"reranker_top_n": 3, "parent_max_tokens": 300}
    over_pages(settings.model_copy(update=own), {"/long": page("Long", text)}, work)


def test_a_scope_beyond_the_budget_says_why_the_full_context_was_not_used(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        found = await search(corpus, SearchRequest(query="whale", mode="full_context", context_budget=20))
        tokens = found.corpus_stats.total_tokens
        assert found.mode == "chunk"
        assert found.warnings == [
            f"full_context needs {tokens} tokens but RETRIEVAL_CONTEXT_BUDGET is 20; returned the best chunks instead"
        ]
        auto = await search(corpus, SearchRequest(query="whale", mode="auto", context_budget=20))
        assert auto.warnings[0].startswith("RETRIEVAL_FULL_CONTEXT_THRESHOLD (30000) exceeds")

    over_pages(settings, ENGLISH, work)
