"""Dates in a search: the boost's formula, when it is off, hard filters, and what becomes of pages without a date."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.recency import Recency, names_years
from webrag_core.retrieval.request import Pattern, SearchRequest
from webrag_core.retrieval.scope import DateRange, ScopeFilter
from webrag_core.retrieval.search import CorpusSearch, search

NOW = datetime(2025, 6, 30, tzinfo=UTC)
DATES: dict[str, tuple[datetime | None, datetime | None]] = {  # published, modified
    "/new": (datetime(2018, 1, 1, tzinfo=UTC), datetime(2025, 3, 1, tzinfo=UTC)),
    "/year-old": (datetime(2024, 12, 31, 23, 59, tzinfo=UTC), None),
    "/old": (datetime(2015, 5, 5, tzinfo=UTC), None),
    "/undated": (None, None),
    "/future": (None, datetime(2031, 1, 1, tzinfo=UTC)),
}
QUERY = "How is the budget of the ministry made?"


def searching(settings: Settings, work: Callable[[Corpus], Awaitable[None]]) -> None:
    """Five pages that say the same about budgets, dated as above, all of them fetched in the middle of 2025."""

    async def body() -> None:
        pages = {path: page("Budget", f"The budget of the ministry is made in spring. {path[1:]}.") for path in DATES}
        async with Corpus.open(settings.model_copy(update={"redundancy_ceiling": 1.0}), LocalSite(pages)) as corpus:
            for path, (published, modified) in DATES.items():
                document = (await corpus.add(SITE + path)).document_id
                async with corpus.database.connection() as connection:
                    await connection.execute(
                        "UPDATE document_versions SET published = %s, modified = %s, fetched_at = %s"
                        " WHERE document_id = %s",
                        (published, modified, NOW, document),
                    )
            await work(corpus)

    asyncio.run(body())


async def ask(corpus: Corpus, query: str = QUERY, **more: Any) -> CorpusSearch:
    return await search(corpus, SearchRequest(query=query, **more))


def by_path(found: CorpusSearch) -> dict[str, float]:
    return {one.chunk.source_url.removeprefix(SITE): one.reranked_score for one in found.chunks}


@pytest.mark.parametrize("pattern", [Pattern.SEMANTIC, Pattern.HYBRID, Pattern.RERANKED])
def test_the_boost_is_the_published_formula_on_the_final_score_and_nowhere_else(
    settings: Settings, pattern: Pattern
) -> None:
    async def work(corpus: Corpus) -> None:
        plain = await ask(corpus, pattern=pattern)
        boosted = await ask(corpus, pattern=pattern, recency_boost=0.1)
        assert plain.recency is None
        assert boosted.recency == Recency(0.1, 5, datetime(2025, 3, 1, tzinfo=UTC))
        tiers = {"/new": 1.0, "/year-old": 0.8, "/old": 0.0, "/undated": 0.0, "/future": 0.0}
        before, after = by_path(plain), by_path(boosted)
        assert set(after) == set(before) == set(tiers)
        for path, tier in tiers.items():
            assert after[path] == pytest.approx(before[path] * (1 + 0.1 * tier) / 1.1)
        assert list(after.values()) == sorted(after.values(), reverse=True)
        raw = {one.chunk.chunk_id: (one.chunk.raw_score, one.chunk.score) for one in plain.chunks}
        assert {one.chunk.chunk_id: (one.chunk.raw_score, one.chunk.score) for one in boosted.chunks} == raw
        assert [citation.score for citation in boosted.citations] == list(after.values())

    searching(settings, work)


def test_the_setting_is_the_default_and_off(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        assert (await ask(corpus)).recency is None
        corpus.settings = settings.model_copy(update={"agent_rerank_recency_boost": 0.05})
        found = await ask(corpus, recent_year_window=12)
        assert found.recency is not None
        assert (found.recency.boost, found.recency.window) == (0.05, 12)
        assert (await ask(corpus, recency_boost=0.0)).recency is None

    searching(settings, work)


@pytest.mark.parametrize("more", [{"query": "budget 2015"}, {"query": "预算2015年"}, {"requested_years": [2015, 2024]}])
def test_the_boost_is_off_where_years_are_named(settings: Settings, more: dict[str, Any]) -> None:
    async def work(corpus: Corpus) -> None:
        assert (await ask(corpus, **more, recency_boost=0.1)).recency is None

    searching(settings, work)


def test_without_any_date_the_boost_changes_nothing(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            await connection.execute("UPDATE document_versions SET published = NULL, modified = NULL")
        found = await ask(corpus, recency_boost=1.0)
        assert found.recency is None
        assert found.chunks == (await ask(corpus)).chunks != []

    searching(settings, work)


@pytest.mark.parametrize(
    ("more", "expected", "undated"),
    [
        ({"requested_years": [2015]}, {"/old"}, 1),
        ({"requested_years": [2025, 2024]}, {"/new", "/year-old"}, 1),
        ({"requested_years": [2018]}, set(), 1),  # published then, but the page says that it is of 2025
        ({"dated": DateRange(start=datetime(2024, 12, 31, tzinfo=UTC))}, {"/new", "/year-old", "/future"}, 1),
        ({"dated": DateRange(end=datetime(2024, 12, 31, 23, 59, tzinfo=UTC))}, {"/old"}, 1),
        ({"dated": DateRange()}, {"/new", "/year-old", "/old", "/future"}, 1),
        ({"dated": DateRange(end=NOW), "requested_years": [2031, 2015]}, {"/old"}, 1),
        ({"dated": DateRange(end=NOW), "filters": ScopeFilter(documents=[])}, set(), 0),
    ],
)
def test_years_and_dates_are_hard_filters_and_say_what_they_left_out(
    settings: Settings, more: dict[str, Any], expected: set[str], undated: int
) -> None:
    async def work(corpus: Corpus) -> None:
        found = await ask(corpus, **more)
        assert set(by_path(found)) == expected
        assert found.corpus_stats.total_documents == len(expected)
        left_out = [f"pages that state no date and were left out for it: {undated}"]
        assert found.warnings == (left_out if undated else [])

    searching(settings, work)


@pytest.mark.parametrize(
    ("dated", "message"),
    [
        (DateRange(start=datetime(2024, 1, 1)), "no time zone"),
        (DateRange(NOW, NOW - timedelta(days=1)), "ends before it begins"),
    ],
)
def test_a_range_that_is_none(settings: Settings, dated: DateRange, message: str) -> None:
    async def work(corpus: Corpus) -> None:
        with pytest.raises(InvalidInputError, match=message):
            await ask(corpus, dated=dated)

    searching(settings, work)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["budget 2024"], True),
        (["what now", "in 1999?"], True),
        (["٢٠٢٤ ميزانية"], True),
        (["2024-05-17"], True),
        (["port 8080", "12024", "20240", "3.11", "2100", "1899", "année"], False),
    ],
)
def test_what_names_a_year(texts: Sequence[str], expected: bool) -> None:
    assert names_years(texts) is expected


@pytest.mark.parametrize(("window", "tier"), [(1, 0.0), (2, 0.5), (5, 0.8), (10, 0.9)])
def test_the_window_is_in_years(window: int, tier: float) -> None:
    recency = Recency(0.1, window, NOW)
    assert recency.tier(datetime(2024, 1, 1, tzinfo=UTC), NOW) == pytest.approx(tier)
    assert recency.weight(None, NOW) == pytest.approx(1 / 1.1)
    assert recency.weight(NOW, NOW) == 1.0
