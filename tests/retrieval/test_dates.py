"""Date filters of a search, and pages without a date."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.request import DateRange, ScopeFilter, SearchRequest
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


FILTERED: list[tuple[dict[str, Any], set[str], int]] = [
    ({"requested_years": [2015]}, {"/old"}, 1),
    ({"requested_years": [2025, 2024]}, {"/new", "/year-old"}, 1),
    ({"requested_years": [2018]}, set(), 1),  # published then, but the page says that it is of 2025
    ({"dated": DateRange(start=datetime(2024, 12, 31, tzinfo=UTC))}, {"/new", "/year-old", "/future"}, 1),
    ({"dated": DateRange(end=datetime(2024, 12, 31, 23, 59, tzinfo=UTC))}, {"/old"}, 1),
    ({"dated": DateRange()}, {"/new", "/year-old", "/old", "/future"}, 1),
    ({"dated": DateRange(end=NOW), "requested_years": [2031, 2015]}, {"/old"}, 1),
    ({"dated": DateRange(end=NOW), "filters": ScopeFilter(documents=[])}, set(), 0),
]
"""Filters, the pages that they let through, and how many undated ones they leave out."""


def test_years_and_dates_are_hard_filters_and_say_what_they_left_out(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        for more, expected, undated in FILTERED:
            found = await ask(corpus, **more)
            assert set(by_path(found)) == expected, more
            assert found.corpus_stats.total_documents == len(expected)
            left_out = [f"pages without a date, excluded by the date filter: {undated}"]
            assert found.warnings == (left_out if undated else [])

    searching(settings, work)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (datetime(2024, 1, 1), None, "no time zone"),
        (NOW, NOW - timedelta(days=1), "ends before it begins"),
    ],
)
def test_an_invalid_range_is_refused(start: datetime, end: datetime | None, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        DateRange(start, end)
