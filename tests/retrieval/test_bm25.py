"""BM25 that does not read everything: what it gives has the score that reading everything gives."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.indexing import lexical
from webrag_core.indexing.lexical import term_counts
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.retrieval import bm25
from webrag_core.retrieval.bm25 import search_parents
from webrag_core.retrieval.scope import Scope, list_documents, source_scope

ANIMALS = ("lion", "zebra", "whale", "krill", "mouse", "lizard", "eagle", "salmon")
PAGES = {  # frequencies of "hunts" from 2 to 13: those above 7 are stored in another column
    f"/{number}": page(
        f"Page {number}", "The animal hunts. " * (number % 12 + 1) + f"The {ANIMALS[number % 8]} hunts at night."
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


async def plain_scores(corpus: Corpus, scope: Scope) -> dict[int, float]:
    """BM25 by its definition, from the texts of the parents."""
    async with corpus.database.connection() as connection:
        cursor = await connection.execute(
            "SELECT id, heading_path, body FROM chunks WHERE level = 'parent' AND document_id = ANY(%s)",
            (await list_documents(connection, scope),),
        )
        counts = {parent: term_counts(path, body) for parent, path, body in await cursor.fetchall()}
    mean = sum(count.total() for count in counts.values()) / len(counts)
    scores: dict[int, float] = dict.fromkeys(counts, 0.0)
    for term in set(QUERY):
        having = sum(term in count for count in counts.values())
        idf = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
        for parent, count in counts.items():
            norm = bm25.K1 * (1 - bm25.B + bm25.B * count.total() / mean)
            scores[parent] += idf * count[term] * (bm25.K1 + 1) / (count[term] + norm)
    return {parent: round(score, 9) for parent, score in scores.items() if score}


def test_scores_are_exact_whatever_is_read_and_however_the_scope_is_looked_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(corpus: Corpus, everything: Scope) -> None:
        async with corpus.database.connection() as connection:
            ids = await list_documents(connection, everything)
            await connection.execute(
                "WITH other AS (INSERT INTO sources (key) VALUES ('other.example') RETURNING id)"
                " UPDATE documents SET source_id = other.id FROM other WHERE documents.id = ANY(%s)",
                (ids[15:],),
            )
            await connection.execute(
                "UPDATE document_versions SET media_type = 'application/pdf' WHERE document_id = ANY(%s)", (ids[:15],)
            )
        part, source, kind = (
            Scope(tuple(ids[:15]), {}),
            Scope(None, {}, source_ids=(1,)),
            Scope(None, {}, kind_ids=(2,)),
        )
        for scope in (everything, part, source, kind):
            exact = await plain_scores(corpus, scope)
            assert len(exact) == (24 if scope is everything else 15)
            assert await scores(corpus, scope, 100) == exact  # of few parents all codes are read
            monkeypatch.setattr(bm25, "_FEW_PARENTS", 0)
            assert await scores(corpus, scope, 100) == exact
            monkeypatch.setattr(bm25, "_HASHED_PARENTS", 0)
            assert await scores(corpus, scope, 100) == exact
            monkeypatch.setattr(bm25, "_MAX_POSTINGS", 1)
            rarest = await scores(corpus, scope, 100)
            assert 0 < len(rarest) < len(exact)  # those that hold the rarest term
            assert rarest == {parent: exact[parent] for parent in rarest}
            assert await scores(corpus, scope, 100, tuple(exact)) == exact
            also = tuple(sorted(exact, key=lambda parent: exact[parent])[:2])  # a better one would be the best itself
            both = await scores(corpus, scope, 1, also)
            assert both.keys() == {*also, next(iter(rarest))}
            assert both == {parent: exact[parent] for parent in both}
            monkeypatch.undo()

    opened(settings, work)


def test_the_planner_is_left_as_it_was(settings: Settings) -> None:
    async def work(corpus: Corpus, everything: Scope) -> None:
        async with corpus.database.snapshot() as connection:
            for scope in (everything, Scope((), {})):
                await search_parents(connection, QUERY, scope, limit=3)
                cursor = await connection.execute("SELECT current_setting('enable_seqscan')")
                assert await cursor.fetchone() == ("on",)

    opened(settings, work)


def test_kept_shares_of_frequent_terms_give_the_same_scores(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "FREQUENT", 1)  # of all terms

    async def work(corpus: Corpus, everything: Scope) -> None:
        exact = await plain_scores(corpus, everything)
        assert await lexical.count_frequent_terms(corpus.database)
        assert not await lexical.count_frequent_terms(corpus.database)  # no page has come since
        async with corpus.database.connection() as connection:
            counted = await connection.execute("SELECT count(*) FROM lexical_terms WHERE shares IS NULL")
            assert await counted.fetchone() == (0,)
        monkeypatch.setattr(bm25, "_FEW_PARENTS", 0)
        assert await scores(corpus, everything, 100) == exact
        for most in (3, 10, 30):  # postings: the last terms are read for those parents only that hold them most often
            monkeypatch.setattr(bm25, "_MAX_POSTINGS", most)
            some = await scores(corpus, everything, 100)
            assert 0 < len(some) < len(exact)
            assert some == {parent: exact[parent] for parent in some}
            assert await scores(corpus, everything, 100, tuple(exact)) == exact
        # of half of the pages the shares are those of all
        monkeypatch.setattr(bm25, "_MAX_POSTINGS", 4000)
        async with corpus.database.connection() as connection:
            half = Scope(tuple(await list_documents(connection, everything))[::2], {})
        inside = await scores(corpus, half, 100)
        assert len(inside) == 12
        assert inside.keys() < exact.keys()

    opened(settings, work)
