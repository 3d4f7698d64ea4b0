"""Codes of vectors find nearly all that the vectors find, inside a scope, and are of the state that is searched."""

from __future__ import annotations

import asyncio
import logging
from weakref import ref

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.local_site import SITE, LocalSite, page
from tests.retrieval.test_resident_index import as_data, pages
from webrag_core.config import Settings
from webrag_core.indexing import embedding_models
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval import coded_vectors, dense, resident_index
from webrag_core.retrieval.coded_vectors import CodedVectors, code_part, joined
from webrag_core.retrieval.held_rows import Held
from webrag_core.retrieval.request import Pattern, ScopeFilter, SearchRequest
from webrag_core.retrieval.resident_codes import ResidentCodes
from webrag_core.retrieval.resident_index import READ_AFTER, residence_in
from webrag_core.retrieval.scope import Scope
from webrag_core.retrieval.search import search

REQUESTS = [
    SearchRequest(query="Which lions hunt zebras near harbours?"),
    SearchRequest(query="copper lanterns", filters=ScopeFilter(url_prefixes=[f"{SITE}/copper"])),
    SearchRequest(query="whales in harbours", pattern=Pattern.SEMANTIC),
]


def around_topics(rows: int, dimensions: int) -> NDArray[np.float32]:
    """Vectors of any length around fifty topics and one direction that all share, as those of texts are."""
    dice = np.random.default_rng(3)
    topics = dice.normal(size=(50, dimensions)) + 2 * dice.normal(size=dimensions)
    vectors = topics[dice.integers(50, size=rows)] + dice.normal(size=(rows, dimensions))
    return np.asarray(vectors * dice.uniform(0.5, 2, size=(rows, 1)), dtype=np.float32)


def coded(vectors: NDArray[np.float32], parts: int) -> CodedVectors:
    """The codes of vectors in parts; row n is chunk 2n of document n modulo 10, of source 1 or 2, kind 0 or 1
    and months 0 to 2."""
    rows = np.arange(len(vectors))
    every = [
        code_part(Held(2 * part, part % 10, part % 10 // 5 + 1, part % 2, part % 10 % 3), vectors[part])
        for part in np.array_split(rows, parts)
    ]
    return joined([part for part in every if part is not None])


@pytest.mark.parametrize("dimensions", [100, 256, 384])
def test_nearly_all_of_the_nearest_are_among_what_codes_find(monkeypatch: pytest.MonkeyPatch, dimensions: int) -> None:
    monkeypatch.setattr(coded_vectors, "_LEAST", 600)  # of 6,000: a tenth goes past the signs
    vectors = around_topics(6_000, dimensions)
    codes = coded(vectors, parts=3)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.arange(len(vectors))
    third = rows[rows % 10 == 3]  # small enough for whole numbers alone
    scopes = [
        (Scope(None, {}), rows),
        (Scope(None, {}, source_ids=(2,)), rows[rows % 10 >= 5]),
        (Scope(None, {}, kind_ids=(1, 7)), rows[rows % 2 == 1]),
        (Scope(None, {}, source_ids=(2,), kind_ids=(0,)), rows[(rows % 10 >= 5) & (rows % 2 == 0)]),
        (Scope(None, {}, month_ids=(2,), end_ids=(4,)), rows[(rows % 10 % 3 == 2) | (rows % 10 == 4)]),
        (Scope((3,), {}), third),
    ]
    for scope, inside in scopes:
        hits = []
        for query in around_topics(6_020, dimensions)[6_000:]:
            nearest = inside[np.argsort(-(units[inside] @ query))[:10]]
            neighbours = codes.nearest(query, scope, 10, 1e-4)
            assert set(neighbours) <= set(2 * inside)
            assert 10 <= len(neighbours) < 300
            hits.append(len(set(neighbours) & set(2 * nearest)) / 10)
        assert np.mean(hits) > 0.97
    assert sorted(codes.nearest(vectors[0], Scope((3,), {}), 10_000, 0)) == list(2 * third)


def test_what_no_vector_can_be_made_of_has_no_codes() -> None:
    nothing = np.zeros((2, 8), dtype=np.float32)
    assert code_part(Held(*(np.arange(2) for _ in range(5))), nothing) is None


def test_searches_of_a_large_corpus_find_by_codes_what_the_server_finds(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for module in (embedding_models, dense, resident_index):
        monkeypatch.setattr(module, "HNSW_MIN_ROWS", 0)  # every corpus is a large one
    with_memory = settings.model_copy(update={"retrieval_resident_mb": 10})

    async def body() -> None:
        site = LocalSite(pages())
        async with Corpus.open(with_memory, site) as corpus:
            for path in site.pages:
                await corpus.add(SITE + path)
            model_id = await corpus.model_id()
            by_server = [as_data(await search(corpus, request)) for request in REQUESTS]
            codes = residence_in(corpus.database, model_id).codes
            assert codes is not None
            assert codes.reading is None
            for _ in range(READ_AFTER):
                await search(corpus, REQUESTS[0])
            assert codes.reading is not None
            await codes.reading
            assert codes.vectors is not None
            by_codes = [as_data(await search(corpus, request)) for request in REQUESTS]
            assert by_codes == by_server

            site.pages["/lions"] = page("Lions", "The walrus wears a monocle. It is made of brass.")
            await corpus.add(f"{SITE}/lions", refresh=True)
            walrus = SearchRequest(query="Which walrus wears a monocle?", pattern=Pattern.SEMANTIC)
            for _ in range(READ_AFTER + 2):  # by the graph, while the new state is read, and by its codes
                assert (await search(corpus, walrus)).chunks[0].chunk.source_url == f"{SITE}/lions"
                await codes.reading
            assert codes.vectors is not None

            none_left = ResidentCodes(ref(corpus.database), model_id, megabytes=0)
            assert none_left.of_state("any", is_wanted=True) is None
            assert none_left.reading is not None
            await none_left.reading
            assert none_left.vectors is None
            residence_in(corpus.database, model_id).codes = none_left
            assert none_left.warning in (await search(corpus, walrus)).warnings
        assert "RETRIEVAL_RESIDENT_MB is 0" in caplog.text

    caplog.set_level(logging.WARNING)
    asyncio.run(body())
