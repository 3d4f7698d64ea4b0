"""The same text of several pages is a single result, and no page fills the first results alone."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.folding import folded, spread
from webrag_core.retrieval.models import RankedChunk, RetrievedChunk
from webrag_core.retrieval.request import ScopeFilter, SearchRequest
from webrag_core.retrieval.search import CorpusSearch, search, search_corpus

RETURNS = "Goods may be brought back within 28 days with the receipt, and the price is paid back to the card in full."
OTHERS = {f"/other{number}": page(f"Other {number}", f"The river of number {number} is long.") for number in range(6)}


def _ranked(place: int, text: str, page_number: int | None = None) -> RankedChunk:
    number = place if page_number is None else page_number
    chunk = RetrievedChunk(
        chunk_id=place,
        document_id=number,
        version_id=number,
        version_sha256="0" * 64,
        source_url=f"{SITE}/{number}",
        title=None,
        text=text,
        heading_path=[],
        chunk_index=place,
        char_start=0,
        char_end=len(text),
        match_start=0,
        match_end=len(text),
        match_heading_path=[],
        token_count=10,
        score=1 - place / 100,
        raw_similarity=0.0,
        lexical_score=0.0,
        depth=0,
        flags=[],
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return RankedChunk(chunk=chunk, reranked_score=chunk.score)


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        ((RETURNS, RETURNS, RETURNS), [0]),
        ((RETURNS, f"{RETURNS} Thank you."), [0]),
        ((RETURNS, RETURNS.replace("28", "14")), [0, 1]),
        ((RETURNS, RETURNS.replace("28", "14"), RETURNS, RETURNS.replace("28", "14")), [0, 1]),
        ((f"{RETURNS} Ask Ana Brand.", f"{RETURNS} Ask Ana Brandt."), [0, 1]),
        ((f"{RETURNS} {RETURNS.replace('28', '30')}", RETURNS), [0]),
        ((RETURNS, "The river is long."), [0, 1]),
    ],
)
def test_only_what_says_the_same_of_the_same_is_folded(texts: tuple[str, ...], kept: list[int]) -> None:
    result = folded([_ranked(place, text) for place, text in enumerate(texts)], 0.85)
    assert [one.chunk.chunk_id for one in result] == kept
    assert sum(len(one.chunk.also_on) for one in result) == len(texts) - len(kept)


def test_a_page_has_three_of_the_first_ten() -> None:
    items = ["a"] * 6 + ["b"] * 2 + list("cdefgh") + ["a"]
    assert spread(items, str, bool) == [*"aaabbcdefg", *"aaa", *"ha"]
    assert spread([*"aaaaab"], str, bool) == [*"aaabaa"]
    assert spread([*"aaaaab"], str, lambda item: item == "a") == [*"aaaaab"]  # nothing of the other is relevant


def _searched(settings: Settings, pages: dict[str, str], query: str) -> CorpusSearch:
    async def work() -> CorpusSearch:
        async with Corpus.open(settings, LocalSite(pages)) as corpus:
            for path in pages:
                await corpus.add(SITE + path)
            return await search_corpus(corpus, query)

    return asyncio.run(work())


def test_eight_pages_with_a_text_are_a_result_as_sure_as_one(settings: Settings) -> None:
    pages = {f"/shop{number}": page("Returns", RETURNS) for number in range(8)}
    result = _searched(settings, pages | OTHERS, "Within how many days may goods be brought back?")
    assert result.chunks[0].chunk.source_url == f"{SITE}/shop0"
    assert [other.source_url for other in result.chunks[0].chunk.also_on] == [f"{SITE}/shop{n}" for n in range(1, 8)]
    assert all(other.is_equal for other in result.chunks[0].chunk.also_on)
    assert len(result.citations[0].also_on) == 7
    assert "also on 7 other pages" in result.to_markdown()
    assert not any("/shop" in one.source_url for one in result.citations[1:])


def test_copies_do_not_change_how_relevant_a_text_is(settings: Settings) -> None:
    shops = {
        f"/shop{one}": page(f"Shop {one}", f"{RETURNS}<p>Shop {one} is at {one * 11} Harbour Road.</p>")
        for one in range(1, 9)
    }

    async def work() -> None:
        async with Corpus.open(settings, LocalSite(shops | OTHERS)) as corpus:
            for path in shops | OTHERS:
                await corpus.add(SITE + path)
            query = "Within how many days may goods be brought back?"
            several = await search_corpus(corpus, query)
            places = [SITE + path for path in ("/shop3", *OTHERS)]
            single = await search(corpus, SearchRequest(query=query, filters=ScopeFilter(url_prefixes=places)))
        assert all("/shop" in one.chunk.source_url for one in several.chunks[:8])
        relevances = [one.reranked_score for one in several.chunks[:8]]
        assert max(relevances) - min(relevances) < 0.02
        assert relevances[0] == pytest.approx(single.chunks[0].reranked_score, abs=0.03)

    asyncio.run(work())
