"""Dense search over a real graph: nothing is lost to filters, plans, other models, or a graph that gives up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from psycopg import AsyncConnection

from tests.indexing.test_model_switch import ShortModel
from webrag_core.config import Settings
from webrag_core.indexing import embedding_models
from webrag_core.indexing.model_switch import build_model, switch_model
from webrag_core.indexing.pipeline import Corpus
from webrag_core.providers.embedder import ModelIdentity, Vectors, WordLlamaEmbedder
from webrag_core.retrieval import dense
from webrag_core.retrieval.dense import ChildHit, graph_effort, search_children
from webrag_core.retrieval.scope import Scope, list_documents, scope_size

DOCS = "https://docs.python.org/3.11"
PAGES = ("library/heapq", "library/bisect", "library/textwrap", "library/queue", "howto/sorting", "library/colorsys")
QUERIES = ("How do I keep a heap of priorities?", "wrap a paragraph at seventy columns", "convert RGB to HSV", "krill")
LIMIT = 10


@dataclass(frozen=True, slots=True)
class Indexed:
    """The corpus with the document ids of PAGES in order."""

    corpus: Corpus
    model_id: int
    ids: list[int]


@pytest.fixture
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are built and used however few rows there are."""
    monkeypatch.setattr(embedding_models, "HNSW_MIN_ROWS", 0)
    monkeypatch.setattr(dense, "HNSW_MIN_ROWS", 0)


def indexed(settings: Settings, work: Callable[[Indexed], Awaitable[None]]) -> None:
    async def body() -> None:
        async with Corpus.open(settings) as corpus:
            ids = [(await corpus.add(f"{DOCS}/{path}.html")).document_id for path in PAGES]
            assert await corpus.indexer.finish_bulk()
            await work(Indexed(corpus, await corpus.model_id(), ids))

    asyncio.run(body())


def scope_of(ids: Sequence[int], *flags: str) -> Scope:
    return Scope(tuple(sorted(ids)), {}, flags)


async def ask(connection: AsyncConnection, model_id: int, vector: Vectors, scope: Scope, limit: int) -> list[ChildHit]:
    size = await scope_size(connection, scope)
    return await search_children(
        connection, model_id, vector, scope, matching_rows=size.children, limit=limit, ef_search=1
    )


async def by_hand(connection: AsyncConnection, model_id: int, vector: Vectors, scope: Scope) -> list[float]:
    """Every cosine in scope, best first, worked out here."""
    cursor = await connection.execute(
        f"SELECT e.embedding FROM vectors_{model_id} e JOIN chunks c ON c.id = e.chunk_id"  # noqa: S608
        " WHERE c.document_id = ANY(%s) AND (%s = '{}'::text[] OR c.flags && %s)",
        (await list_documents(connection, scope), list(scope.flags), list(scope.flags)),
    )
    rows = [row[0].to_numpy() for row in await cursor.fetchall()]
    return sorted((float(row @ vector) for row in rows), reverse=True)


async def graph_scans(connection: AsyncConnection, model_id: int) -> int:
    """How often this connection has read the graph, from a beginning of its own."""
    cursor = await connection.execute("SELECT pg_stat_get_xact_numscans(%s::regclass)", (f"vectors_{model_id}_hnsw",))
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def embed(query: str) -> Vectors:
    return (await WordLlamaEmbedder().embed([query]))[0]


@pytest.mark.usefixtures("small_graphs")
def test_the_graph_with_a_filter_finds_what_comparing_every_row_finds(settings: Settings) -> None:
    async def work(it: Indexed) -> None:
        scopes = [scope_of(it.ids), *(scope_of([one]) for one in it.ids), scope_of(it.ids[::2])]
        scopes += [scope_of(it.ids, "code"), scope_of(it.ids[:2], "code"), scope_of(it.ids[1:], "code", "admonition")]
        async with it.corpus.database.connection() as connection:
            await connection.execute(
                "WITH other AS (INSERT INTO sources (key) VALUES ('other.example') RETURNING id)"
                " UPDATE documents SET source_id = other.id FROM other WHERE documents.id = ANY(%s)",
                (it.ids[:2],),
            )
            await connection.execute(
                "UPDATE document_versions SET media_type = 'application/pdf' WHERE document_id = %s", (it.ids[1],)
            )
        scopes += [Scope(None, {}), *(Scope(None, {}, source_ids=(source,)) for source in (1, 2))]
        scopes += [*(Scope(None, {}, kind_ids=(kind,)) for kind in (1, 2)), Scope(None, {}, (), (2,), (1,))]
        for scope in scopes:
            for query in QUERIES:
                vector = await embed(query)
                async with it.corpus.database.snapshot() as connection:
                    before = await graph_scans(connection, it.model_id)
                    hits = await ask(connection, it.model_id, vector, scope, LIMIT)
                    assert await graph_scans(connection, it.model_id) == before + 1
                    best = (await by_hand(connection, it.model_id, vector, scope))[:LIMIT]
                    assert [hit.similarity for hit in hits] == pytest.approx(best, abs=1e-6)

    indexed(settings, work)


@pytest.mark.usefixtures("small_graphs")
@pytest.mark.parametrize("flags", [(), ("code",)])
def test_a_graph_that_gives_up_early_leaves_it_to_the_exact_search(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    monkeypatch.setattr(dense, "_EF_SEARCH", 1)
    monkeypatch.setattr(dense, "_ROWS_PER_STEP", 10**9)

    async def work(it: Indexed) -> None:
        scope = scope_of(it.ids[-2:], *flags)
        vector = await embed(QUERIES[0])  # nearest to everything else
        async with it.corpus.database.snapshot() as connection:
            everything = await by_hand(connection, it.model_id, vector, scope)
            for limit in (1, 7, len(everything), len(everything) + 5, 2000):
                hits = await ask(connection, it.model_id, vector, scope, limit)
                assert len(hits) == min(limit, len(everything))
            assert [hit.similarity for hit in hits] == pytest.approx(everything, abs=1e-6)

    indexed(settings, work)


@pytest.mark.usefixtures("small_graphs")
def test_a_document_that_the_scope_has_not_heard_of_is_not_found(settings: Settings) -> None:
    async def work(it: Indexed) -> None:
        vector = await embed(QUERIES[0])
        scope = scope_of(it.ids[1:])  # without the page that fits best
        async with it.corpus.database.snapshot() as connection:
            total = (await scope_size(connection, scope_of(it.ids))).children
            hits = await search_children(
                connection, it.model_id, vector, scope, matching_rows=total, limit=LIMIT, ef_search=1
            )
            best = (await by_hand(connection, it.model_id, vector, scope))[:LIMIT]
        assert [hit.similarity for hit in hits] == pytest.approx(best, abs=1e-6)

    indexed(settings, work)


def test_row_counts_choose_the_way_whatever_was_searched_before(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_models, "HNSW_MIN_ROWS", 0)

    async def work(it: Indexed) -> None:
        vector = await embed(QUERIES[1])
        async with it.corpus.database.snapshot() as connection:
            narrow, wide = scope_of(it.ids[:1]), scope_of(it.ids)
            few = (await scope_size(connection, narrow)).children
            monkeypatch.setattr(dense, "HNSW_MIN_ROWS", few)
            before = await graph_scans(connection, it.model_id)
            for turn in range(before, before + 12):  # the driver prepares a statement that it has seen five times
                await ask(connection, it.model_id, vector, narrow, LIMIT)
                assert await graph_scans(connection, it.model_id) == turn
                await ask(connection, it.model_id, vector, wide, LIMIT)
                assert await graph_scans(connection, it.model_id) == turn + 1
            cursor = await connection.execute("SELECT current_setting('enable_seqscan')")
            assert await cursor.fetchone() == ("on",)  # for whatever else this transaction reads

    indexed(settings, work)


@pytest.mark.usefixtures("small_graphs")
@pytest.mark.slow
def test_no_search_mixes_models_before_during_or_after_a_switch(settings: Settings) -> None:
    async def work(it: Indexed) -> None:
        short = await build_model(it.corpus.database, ShortModel(), batch_size=64)
        scope = scope_of(it.ids[:3])

        async def check(model: WordLlamaEmbedder, model_id: int) -> None:
            for query in QUERIES:
                vector = (await model.embed([query]))[0]
                async with it.corpus.database.snapshot() as connection:
                    before = await graph_scans(connection, model_id)
                    hits = await ask(connection, model_id, vector, scope, LIMIT)
                    assert await graph_scans(connection, model_id) == before + 1
                    best = (await by_hand(connection, model_id, vector, scope))[:LIMIT]
                    assert [hit.similarity for hit in hits] == pytest.approx(best, abs=1e-6)

        async def both() -> None:
            await asyncio.gather(check(WordLlamaEmbedder(), it.model_id), check(ShortModel(), short.model_id))

        await both()
        await asyncio.gather(both(), switch_model(it.corpus.database, ShortModel.identity), both())
        await both()

    indexed(settings, work)


@pytest.mark.usefixtures("small_graphs")
def test_nothing_to_search_is_no_error(settings: Settings) -> None:
    async def work(it: Indexed) -> None:
        vector = await embed(QUERIES[0])
        async with it.corpus.database.snapshot() as connection:
            for scope in (scope_of([]), scope_of([2**31 - 1]), scope_of(it.ids, "no such flag")):
                assert await ask(connection, it.model_id, vector, scope, LIMIT) == []
            assert await ask(connection, it.model_id, vector, scope_of(it.ids), 0) == []

    indexed(settings, work)


@pytest.mark.usefixtures("small_graphs")
def test_a_model_too_wide_for_a_graph_goes_without(settings: Settings) -> None:
    async def body() -> None:
        async with Corpus.open(settings) as corpus, corpus.database.connection() as connection:
            for dimensions, graph in ((4000, True), (4001, False)):
                await connection.execute("UPDATE embedding_models SET state = 'retired'")
                identity = ModelIdentity("made up", str(dimensions), dimensions, "l2")
                model_id = await embedding_models.live_model(connection, identity)
                await connection.execute(
                    f"INSERT INTO vectors_{model_id} VALUES (1, 1, %s)",  # noqa: S608
                    (np.ones(dimensions, dtype=np.float32),),
                )
                assert await embedding_models.ensure_vector_index(corpus.database, model_id) is graph

    asyncio.run(body())


def test_effort_grows_with_the_corpus_and_with_the_filter() -> None:
    assert graph_effort(20_001, 20_001, least=60) == graph_effort(100_000, 100_000, least=60) == 400
    assert 400 < graph_effort(500_000, 500_000, least=60) < 1000
    assert 400 < graph_effort(100_000, 50_000, least=60) < graph_effort(100_000, 20_001, least=60) <= 1000
    assert graph_effort(10**9, 20_001, least=60) == 1000
    assert graph_effort(100_000, 100_000, least=900) == 900
