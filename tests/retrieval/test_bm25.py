"""BM25 that does not read everything: what it gives has the score that reading everything gives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.retrieval import bm25
from webrag_core.retrieval.bm25 import search_parents
from webrag_core.retrieval.scope import Scope, source_scope

ANIMALS = ("lion", "zebra", "whale", "krill", "mouse", "lizard", "eagle", "salmon")
PAGES = {
    f"/{number}": page(
        f"Page {number}", "The animal hunts. " * (number % 3 + 1) + f"The {ANIMALS[number % 8]} hunts at night."
    )
    for number in range(24)
}
QUERY = terms("At night the lion and the krill hunt an animal; no unicorn does")


def opened(settings: Settings, work: Callable[[Corpus, Scope], Awaitable[None]]) -> None:
    async def body() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            for path in PAGES:
                await corpus.add(SITE + path)
            async with corpus.database.connection() as connection:
                await work(corpus, await source_scope(connection, None))

    asyncio.run(body())


async def scores(corpus: Corpus, scope: Scope, limit: int, also: tuple[int, ...] = ()) -> dict[int, float]:
    async with corpus.database.snapshot() as connection:
        found = await search_parents(connection, QUERY, scope, limit=limit, also=also)
    return {hit.parent_id: hit.score for hit in found.hits}


def test_scores_are_exact_whatever_is_read_and_however_the_scope_is_looked_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(corpus: Corpus, everything: Scope) -> None:
        part = Scope(everything.document_ids[:15], {})
        for scope in (everything, part):
            exact = await scores(corpus, scope, 100)
            assert len(exact) == len(scope.document_ids)
            for few in (0, 100):
                monkeypatch.setattr(bm25, "_FEW_DOCUMENTS", few)
                assert await scores(corpus, scope, 100) == exact
                monkeypatch.setattr(bm25, "_READ", 1)
                found = await scores(corpus, scope, 100)
                assert 0 < len(found) < len(exact)  # those that hold the rarest term
                assert found == {parent: exact[parent] for parent in found}
                assert await scores(corpus, scope, 100, tuple(exact)) == exact
                also = tuple(exact)[-2:]
                both = await scores(corpus, scope, 1, also)
                assert both.keys() == {*also, next(iter(found))}
                assert both == {parent: exact[parent] for parent in both}
                monkeypatch.setattr(bm25, "_READ", 4_000)

    opened(settings, work)
