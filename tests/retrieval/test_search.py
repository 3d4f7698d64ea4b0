"""Search inside PostgreSQL: scores against formulas computed by hand, scope, budget, matching spans."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

import numpy as np
import pytest

from tests.local_site import SITE, LocalSite, page
from webrag_core.config import Settings
from webrag_core.errors import IntegrityError, InvalidInputError
from webrag_core.indexing.embedding_models import HNSW_MIN_ROWS
from webrag_core.indexing.lexical import term_counts
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.bm25 import K1, B, LexicalHit, LexicalResult, search_parents
from webrag_core.retrieval.calibration import relevance
from webrag_core.retrieval.citations import extract_citation, prove_citations, relevant
from webrag_core.retrieval.dense import search_children
from webrag_core.retrieval.merging import within_budget
from webrag_core.retrieval.models import RELEVANCE_FLOOR, MatchSpan, RetrievedChunk
from webrag_core.retrieval.ranking import select_candidates
from webrag_core.retrieval.scope import Scope, list_documents, source_scope
from webrag_core.retrieval.searcher import Searcher

PAGES = {
    "/lions": page("Lions", "The lion is a large cat that lives in prides on the savannah. Lions hunt zebras."),
    "/whales": page("Whales", "The blue whale is the largest animal. Whales filter krill from the sea."),
    "/cats": page("Cats", "The cat sleeps for sixteen hours. A cat hunts mice and the odd lizard."),
}


def search(settings: Settings, work: Callable[[Corpus, Searcher, dict[str, int]], Awaitable[None]]) -> None:
    """Index the three pages and hand over corpus, searcher and document ids by path."""

    async def body() -> None:
        async with Corpus.open(settings, LocalSite(dict(PAGES))) as corpus:
            ids = {path: (await corpus.add(SITE + path)).document_id for path in PAGES}
            model = await corpus.model_id()
            await work(corpus, Searcher(corpus.database, corpus.embedder, model, settings), ids)

    asyncio.run(body())


def test_finds_the_page_that_answers(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        scope = Scope.of(dict.fromkeys(ids.values(), 0))
        for mode in ("chunk", "full_context"):
            result = await searcher.retrieve("Which animal eats krill?", scope, mode=mode)
            assert result.chunks[0].source_url == f"{SITE}/whales"
            assert result.mode == mode
            assert result.corpus_stats.total_documents == 3

    search(settings, work)


def test_bm25_is_the_published_formula_over_the_scope(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        scope = Scope.of(dict.fromkeys(ids.values(), 0))
        found = await searcher.retrieve("anything", scope, mode="full_context")
        counts = {chunk.chunk_id: term_counts(chunk.heading_path, chunk.text) for chunk in found.chunks}
        lengths = {key: count.total() for key, count in counts.items()}
        mean = sum(lengths.values()) / len(lengths)
        query = terms("cat that hunts mice")
        async with corpus.database.snapshot() as connection:
            result = await search_parents(connection, query, scope, limit=10)
        for hit in result.hits:
            expected = 0.0
            for term in set(query):
                n = sum(term in count for count in counts.values())
                idf = math.log(1 + (len(counts) - n + 0.5) / (n + 0.5))
                assert result.idf[term] == pytest.approx(idf)
                f = counts[hit.parent_id][term]
                expected += idf * f * (K1 + 1) / (f + K1 * (1 - B + B * lengths[hit.parent_id] / mean))
            assert hit.score == pytest.approx(expected)
        assert result.hits[0].parent_id == next(c.chunk_id for c in found.chunks if c.source_url.endswith("/cats"))

    search(settings, work)


def test_similarity_is_the_cosine_of_the_stored_vectors(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        query = "big cats of the savannah"
        result = await searcher.retrieve(query, Scope.of({ids["/lions"]: 0}), mode="full_context")
        async with corpus.database.connection() as connection:
            cursor = await connection.execute(
                "SELECT vec FROM contract.v_embedding JOIN contract.v_chunk USING (chunk_id) WHERE doc_id = %s",
                (ids["/lions"],),
            )
            stored = [np.asarray(row[0].to_list()) for row in await cursor.fetchall()]
        vector = (await corpus.embedder.embed([query]))[0]
        assert result.chunks[0].raw_similarity == pytest.approx(max(float(v @ vector) for v in stored), abs=1e-5)

    search(settings, work)


def test_scope_keeps_everything_else_out(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        for mode in ("chunk", "full_context"):
            result = await searcher.retrieve("Which animal eats krill?", Scope.of({ids["/cats"]: 0}), mode=mode)
            assert {chunk.source_url for chunk in result.chunks} == {f"{SITE}/cats"}
        empty = await searcher.retrieve("krill", Scope.of({}))
        assert empty.chunks == []
        assert empty.corpus_stats.total_tokens == 0

    search(settings, work)


@pytest.mark.parametrize("query", ["nul\0", "not utf-8 \udcff"])
def test_a_query_that_is_no_text_is_refused(settings: Settings, query: str) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        with pytest.raises(InvalidInputError, match="invalid Unicode"):
            await searcher.retrieve(query, Scope.of({ids["/cats"]: 0}))
        async with corpus.database.connection() as connection:
            with pytest.raises(InvalidInputError, match="invalid Unicode"):
                await source_scope(connection, [query])

    search(settings, work)


@pytest.mark.parametrize("paths", ["abc", "cba"])
def test_equal_scores_are_cut_in_url_order_whoever_was_indexed_first(settings: Settings, paths: str) -> None:
    async def body() -> None:
        pages = {f"/{path}": page("Twins", "The same words about krill on every page.") for path in paths}
        async with Corpus.open(settings, LocalSite(pages)) as corpus:
            documents = {path: (await corpus.add(SITE + path)).document_id for path in pages}
            scope = Scope.of(dict.fromkeys(documents.values(), 0))
            model = await corpus.model_id()
            vector = (await corpus.embedder.embed(["krill"]))[0]
            async with corpus.database.snapshot() as connection:
                lexical = await search_parents(connection, terms("krill"), scope, limit=2)
                dense = await search_children(connection, model, vector, scope, matching_rows=3, limit=2, ef_search=100)
                cursor = await connection.execute(
                    "SELECT id, document_id FROM chunks WHERE level = 'parent' ORDER BY id"
                )
                owner = {parent: document for parent, document in await cursor.fetchall()}
            best = [documents["/a"], documents["/b"]]
            assert [owner[hit.parent_id] for hit in lexical.hits] == best
            assert [owner[hit.parent_id] for hit in dense] == best

    asyncio.run(body())


@pytest.mark.parametrize(("limit", "ef_search"), [(2, 2000), (900, 40), (5000, 100)])
def test_no_setting_asks_the_graph_for_more_than_it_takes(settings: Settings, limit: int, ef_search: int) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        vector = (await corpus.embedder.embed(["krill"]))[0]
        async with corpus.database.snapshot() as connection:
            found = await search_children(
                connection,
                await corpus.model_id(),
                vector,
                Scope.of(dict.fromkeys(ids.values(), 0)),
                matching_rows=HNSW_MIN_ROWS + 1,
                limit=limit,
                ef_search=ef_search,
            )
        assert len(found) == min(limit, 3)

    search(settings, work)


def test_candidates_beyond_any_number_are_all_there_are(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        wide = settings.model_copy(update={"retrieval_top_k_children_limit": 10**20})
        greedy = Searcher(corpus.database, corpus.embedder, await corpus.model_id(), wide)
        result = await greedy.retrieve("cat", Scope.of(dict.fromkeys(ids.values(), 0)), mode="chunk")
        assert result.chunks[0].source_url == f"{SITE}/cats"

    search(settings, work)


def test_a_quote_stands_under_its_own_heading(settings: Settings) -> None:
    """Without a title on the page a parent of two sections bears the first one's heading."""
    small = settings.model_copy(update={"child_target_tokens": 16})
    html = (
        "<html><body><main><h2>Lions</h2><p>The lion lives in prides on the wide savannah and hunts zebras.</p>"
        "<h2>Whales</h2><p>The whale filters krill from the cold sea, tons of it each day.</p></main></body></html>"
    )

    async def body() -> None:
        async with Corpus.open(small, LocalSite({"/": html})) as corpus:
            scope = Scope.of({(await corpus.add(f"{SITE}/")).document_id: 0})
            searcher = Searcher(corpus.database, corpus.embedder, await corpus.model_id(), small)
            for mode in ("chunk", "full_context"):
                (chunk,) = (await searcher.retrieve("krill whale", scope, mode=mode)).chunks
                assert chunk.heading_path == ["Lions"]
                assert "krill" in chunk.match_text
                assert chunk.section_heading == "Whales"

    asyncio.run(body())


def test_candidates_are_the_best_of_bm25_and_of_the_fusion() -> None:
    lexical = LexicalResult([LexicalHit(5, 9.0, 0.9), LexicalHit(6, 3.0, 0.3), LexicalHit(7, 3.0, 0.3)], {})
    cosines = {8: 0.9, 9: 0.2, 5: 0.1}
    assert select_candidates(cosines, lexical, None) == [5, 6, 7, 8, 9]
    assert select_candidates(cosines, lexical, 2) == [5, 8]
    assert select_candidates(cosines, lexical, 3) == [5, 6, 8]  # 6 and 7 tie: the order of BM25
    assert select_candidates({}, LexicalResult([], {}), 3) == []


@pytest.mark.parametrize("limit", [1, 2, 7, 50])
def test_the_best_of_bm25_is_a_candidate_however_many_dense_hits_there_are(limit: int) -> None:
    lexical = LexicalResult([LexicalHit(1, 2.0, 0.1), LexicalHit(2, 1.9, 0.09)], {})
    cosines = {parent_id: 0.6 for parent_id in range(100, 160)}  # 0.4 * 0.6 is more than 0.6 * 0.1
    assert 1 in select_candidates(cosines, lexical, limit)


def test_half_of_the_candidates_go_by_the_rank_of_bm25() -> None:
    lexical = LexicalResult([LexicalHit(rank, 1.0, 0.01) for rank in range(60)], {})
    cosines = {parent_id: 0.6 for parent_id in range(100, 160)}
    assert select_candidates(cosines, lexical, 50) == [*range(25), *range(100, 125)]


def test_raw_scores_and_what_they_mean_are_kept_apart_and_agree(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        scope = Scope.of({ids["/lions"]: 0, ids["/whales"]: 1, ids["/cats"]: 2})
        for mode in ("chunk", "full_context"):
            chunks = (await searcher.retrieve("Which animal filters krill?", scope, mode=mode)).chunks
            for chunk in chunks:
                assert chunk.score == pytest.approx(chunk.raw_score * (1 - 0.05 * chunk.depth))
            by_raw = sorted(chunks, key=lambda chunk: -chunk.raw_score)
            assert [chunk.relevance for chunk in by_raw] == pytest.approx(relevance([c.raw_score for c in by_raw]))
            assert by_raw[0].source_url == f"{SITE}/whales"
            assert by_raw[0].relevance > 0.5 > max((chunk.relevance for chunk in by_raw[1:]), default=0.0)

    search(settings, work)


def test_bm25_also_scores_whom_it_is_asked_for(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        scope = Scope.of(dict.fromkeys(ids.values(), 0))
        async with corpus.database.snapshot() as connection:
            everyone = await search_parents(connection, terms("cat hunts"), scope, limit=10)
            also = [everyone.hits[-1].parent_id, everyone.hits[0].parent_id, 10**9]
            found = await search_parents(connection, terms("cat hunts"), scope, limit=1, also=also)
        assert found.hits == [everyone.hits[0], everyone.hits[-1]]

    search(settings, work)


def test_a_neighbour_is_not_scored(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        (hit,) = (await searcher.retrieve("krill", Scope.of({ids["/whales"]: 3}))).chunks
        (same,) = await searcher.siblings([hit], 1)
        assert (same.raw_score, same.relevance, same.score, same.depth) == (0.0, 0.0, 0.0, 3)

    search(settings, work)


def test_depth_weighs_by_distance_in_this_run(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        near = await searcher.retrieve("lion", Scope.of({ids["/lions"]: 0}))
        far = await searcher.retrieve("lion", Scope.of({ids["/lions"]: 2}))
        farther = await searcher.retrieve("lion", Scope.of({ids["/lions"]: 40}))
        assert far.chunks[0].score == pytest.approx(0.90 * near.chunks[0].score)
        assert farther.chunks[0].score == pytest.approx(0.80 * near.chunks[0].score)

    search(settings, work)


def test_sources_by_key(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        async with corpus.database.connection() as connection:
            for keys in (["site.example"], None):
                scope = await source_scope(connection, keys)
                assert set(await list_documents(connection, scope)) == set(ids.values())
            with pytest.raises(InvalidInputError, match="elsewhere"):
                await source_scope(connection, ["elsewhere.example"])

    search(settings, work)


@pytest.mark.parametrize("query", ["", "   \n"])
def test_an_empty_query_is_refused(settings: Settings, query: str) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        with pytest.raises(InvalidInputError, match="empty"):
            await searcher.retrieve(query, Scope.of({ids["/cats"]: 0}))

    search(settings, work)


@pytest.mark.parametrize("query", ["' OR 1=1 --", "кошка", "%s %(x)s {0}", "a" * 10_000, "\u202ecat\ufeff", "!?"])
def test_odd_queries_are_searched_like_any_other(settings: Settings, query: str) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        result = await searcher.retrieve(query, Scope.of(dict.fromkeys(ids.values(), 0)))
        assert all(0 <= chunk.score <= 1 for chunk in result.chunks)

    search(settings, work)


def test_budget_skips_what_does_not_fit_and_keeps_at_least_one(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        found = await searcher.retrieve("cat", Scope.of(dict.fromkeys(ids.values(), 0)), mode="full_context")
        big, middle, small = (
            found.chunks[i].model_copy(update={"token_count": n}) for i, n in enumerate((900, 50, 40))
        )

        def fit(*chunks: RetrievedChunk) -> list[RetrievedChunk]:
            return within_budget(chunks, 100, tokens=lambda chunk: chunk.token_count)

        assert fit(big, middle, small) == [big]
        assert fit(middle, big, small) == [middle, small]

    search(settings, work)


def test_citations_are_exact_or_an_error(settings: Settings) -> None:
    async def work(corpus: Corpus, searcher: Searcher, ids: dict[str, int]) -> None:
        result = await searcher.retrieve("krill", Scope.of({ids["/whales"]: 0}))
        chunk = result.chunks[0]
        citation = extract_citation(chunk, chunk.matches[0], number=1, relevance=0.5)
        assert citation.verbatim_text == chunk.match_text
        weak = citation.model_copy(update={"relevance": RELEVANCE_FLOOR / 2})
        assert relevant([citation, weak]) == [citation]
        assert relevant([weak, weak]) == [weak]  # the best one, whatever it is
        async with corpus.database.connection() as connection:
            await prove_citations(connection, [citation])
            for forged in (
                {"verbatim_text": citation.verbatim_text + "!"},
                {"char_start": citation.char_start + 1},
                {"quote_sha256": "0" * 64},
                {"version_sha256": "0" * 64},
                {"version_id": citation.version_id + 999},
            ):
                with pytest.raises(IntegrityError):
                    await prove_citations(connection, [citation.model_copy(update=forged)])
        outside = MatchSpan(start=chunk.char_start, end=chunk.char_end + 1, heading_path=[])
        with pytest.raises(IntegrityError):
            extract_citation(chunk, outside, number=1, relevance=0.5)

    search(settings, work)
