"""The graph's candidates and bonus (P6), on small sites where everything can be counted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.graph.cross_modal import BONUS, MAX_CANDIDATES, reach_pages
from webrag_core.retrieval.graph.walk import FAN_OUT, next_steps
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.request import Pattern, ScopeFilter, SearchRequest
from webrag_core.retrieval.scope import source_scope
from webrag_core.retrieval.search import CorpusSearch, search
from webrag_core.retrieval.searcher import Searcher

QUERY = "How do I rotate signing keys automatically?"
ANCHOR = "rotate signing keys automatically"
PAGES = {
    "/guide": page("Signing keys", "Whoever wants to rotate signing keys needs a plan.", {"/vault": ANCHOR}),
    "/vault": page("The vault", "A box of steel turns its secrets over at midnight, alone, without a hand on it."),
    "/birds": page("Birds", "Herons stand in shallow water and wait for frogs.", {"/vault": "a cupboard"}),
}


def searching(settings: Settings, work: Callable[[Corpus], Awaitable[None]], pages: Mapping[str, str] = PAGES) -> None:
    async def body() -> None:
        async with Corpus.open(settings, LocalSite(dict(pages))) as corpus:
            for path in pages:
                await corpus.add(SITE + path)
            await corpus.indexer.finish_bulk()
            await work(corpus)

    asyncio.run(body())


async def by_graph(corpus: Corpus, filters: ScopeFilter | None = None, query: str = QUERY) -> CorpusSearch:
    request = SearchRequest(query=query, pattern=Pattern.GRAPH, filters=filters or ScopeFilter())
    return await search(corpus, request)


def by_path(found: CorpusSearch) -> dict[str, RetrievedChunk]:
    return {one.chunk.source_url.removeprefix(SITE): one.chunk for one in found.chunks}


def test_a_page_without_a_word_of_the_question_is_found_by_the_anchor_that_has_them(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        assert set(by_path(await search(corpus, SearchRequest(query=QUERY)))) == {"/guide"}
        found = await by_graph(corpus)
        chunks = by_path(found)
        assert list(chunks) == ["/guide", "/vault", "/birds"]  # the last one links to the vault in other words
        assert found.candidates == 3
        birds, vault = chunks["/birds"], chunks["/vault"]
        assert birds.score == birds.raw_score
        assert vault.score == pytest.approx(vault.raw_score + BONUS * (1 - vault.raw_score))  # the best path of all
        assert {citation.source_url for citation in found.citations} >= {f"{SITE}/guide", f"{SITE}/vault"}

    searching(settings, work)


def test_the_bonus_is_bounded_and_leaves_the_raw_score_alone(settings: Settings) -> None:
    pages = PAGES | {
        "/keys": page("Keys", "Rotate signing keys automatically with a timer.", {"/guide": "signing keys"})
    }

    async def work(corpus: Corpus) -> None:
        plain = by_path(await search(corpus, SearchRequest(query=QUERY)))
        lifted = by_path(await by_graph(corpus))
        assert plain.keys() < lifted.keys()
        for path, chunk in lifted.items():
            assert -1e-9 <= chunk.score - chunk.raw_score <= BONUS * (1 - chunk.raw_score) + 1e-9
            if path in plain:
                assert chunk.raw_score == plain[path].raw_score
                assert (chunk.relevance or 0) >= 0
        assert lifted["/guide"].score > lifted["/guide"].raw_score  # a hit that another hit leads to
        scores = [chunk.score for chunk in lifted.values()]
        assert scores == sorted(scores, reverse=True)

    searching(settings, work, pages)


@pytest.mark.parametrize(
    "filters", [ScopeFilter(url_prefixes=[f"{SITE}/guide"]), ScopeFilter(flags=["code"])], ids=["pages", "passages"]
)
def test_no_page_or_passage_outside_the_filter_comes_from_the_graph(settings: Settings, filters: ScopeFilter) -> None:
    code = "Whoever wants to rotate signing keys calls this.</p><pre><code>rotate(keys)</code></pre><p>So it is."
    pages = PAGES | {"/guide": page("Signing keys", code, {"/vault": ANCHOR})}

    async def work(corpus: Corpus) -> None:
        assert "/vault" in by_path(await by_graph(corpus))
        found = await by_graph(corpus, filters)
        assert set(by_path(found)) == {"/guide"}
        assert found.corpus_stats.total_documents == 1

    searching(settings, work, pages)


def test_without_edges_it_is_the_default_search(settings: Settings) -> None:
    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:  # as in a corpus of an earlier version
            await connection.execute("TRUNCATE graph_edges, graph_nodes, graph_documents")
        plain, found = await search(corpus, SearchRequest(query=QUERY)), await by_graph(corpus)
        assert (found.chunks, found.citations, found.candidates) == (plain.chunks, plain.citations, plain.candidates)

    searching(settings, work)


@pytest.mark.slow
def test_a_hub_with_thousands_of_links_stays_bounded(settings: Settings) -> None:
    links = {f"/n{number}": f"signing keys {number}" for number in range(60)}
    pages = {"/guide": page("Signing keys", "How to rotate signing keys.", links)}
    pages |= {path: page(f"Note {path}", f"Herons and frogs of pond {path}.") for path in links}

    async def work(corpus: Corpus) -> None:
        async with corpus.database.connection() as connection:
            await connection.execute(
                "INSERT INTO graph_nodes (kind, key, label) SELECT 'page', 'https://far.example/' || n, ''"
                " FROM generate_series(1, 4000) n;"
                "INSERT INTO graph_edges (document_id, version_id, src, dst, place, kind, strength, origin, char_start,"
                " char_end, seen_from) SELECT d.id, d.current_version, CASE f.out WHEN 1 THEN g.id ELSE n.id END,"
                " CASE f.out WHEN 1 THEN n.id ELSE g.id END, g.id, 'links_to', .1, 'explicit', 0, 1, now()"
                " FROM documents d JOIN graph_nodes g ON g.key = d.canonical_url, graph_nodes n,"
                " (VALUES (0), (1)) f (out) WHERE d.canonical_url LIKE '%/guide' AND n.key LIKE 'https://far%'"
            )
            cursor = await connection.execute("SELECT id FROM graph_nodes WHERE key = %s", (f"{SITE}/guide",))
            (hub,) = await cursor.fetchone() or (0,)
            assert len(await next_steps(connection, {hub: 1.0}, ["links_to"])) == 2 * FAN_OUT
        plain = await search(corpus, SearchRequest(query=QUERY, top_k=200))
        request = SearchRequest(query=QUERY, pattern=Pattern.GRAPH, top_k=200)
        found = await search(corpus, request)
        assert plain.candidates < found.candidates <= plain.candidates + MAX_CANDIDATES

    searching(settings, work, pages)


def test_what_the_question_names_leads_to_where_it_is_documented(settings: Settings) -> None:
    definition = "<dl><dt><code>Pool.drain()</code></dt><dd>Lets the water out.</dd></dl>"
    pages = PAGES | {"/pool": page("Reference", f"Herons.</p>{definition}<p>Frogs.")}
    query = "Why does signing keys call `Pool.drain()`, and when?"

    async def work(corpus: Corpus) -> None:
        model_id = await corpus.model_id()
        searcher = Searcher(corpus.database, corpus.embedder, model_id, corpus.settings)
        plain = await searcher.search(SearchRequest(query=query))
        hits = [chunk for chunk in plain.chunks if chunk.source_url == f"{SITE}/guide"]
        async with corpus.database.snapshot() as connection:
            scope = await source_scope(connection, None)
            reached = await reach_pages(connection, query, plain.term_idf, hits, scope)
            cursor = await connection.execute("SELECT id FROM documents WHERE canonical_url = %s", (f"{SITE}/pool",))
            (pool,) = await cursor.fetchone() or (0,)
        assert reached[pool].anchor == "Pool.drain"
        assert 0 < reached[pool].closeness <= 1
        assert all(0 < way.strength <= 1 and 1 <= len(way.edges) <= 2 for way in reached.values())

    searching(settings, work, pages)


def test_the_graph_helps_when_the_embedding_model_is_down(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def down(*_: object) -> None:
        raise EmbeddingError("no answer", code="down")

    async def work(corpus: Corpus) -> None:
        monkeypatch.setattr(corpus.embedder, "embed", down)
        found = await by_graph(corpus)
        assert found.degraded == ["dense"]
        assert "/guide" in by_path(found)

    searching(settings, work)
