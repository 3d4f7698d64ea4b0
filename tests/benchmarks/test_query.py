"""The whole-query benchmark at a small size: the corpus is searchable to the citation, and every phase is timed."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from benchmarks.retrieval.query import measure
from benchmarks.retrieval.vector_data import cut_pages
from benchmarks.retrieval.vector_store import index_cuts
from tests.benchmarks.test_vectors import pages
from tests.local_site import LocalSite
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval import citations
from webrag_core.retrieval.search import search_corpus

pytestmark = pytest.mark.slow

PHASES = {"total", "scope", "size", "dense", "terms", "lexical", "candidates", "ranking", "redundancy", "proof", "rest"}


def test_every_phase_of_a_query_is_timed(settings: Settings) -> None:
    async def body() -> dict[str, Any]:
        async with Corpus.open(settings, LocalSite({})) as corpus:
            await index_cuts(corpus, cut_pages(pages(), 400))
            result = await search_corpus(corpus, "Which part is about thing 21?")
            assert result.citations  # proved against the stored text
            return cast("dict[str, Any]", await measure(corpus, {"own": ["thing 21", "part 7 of the howto"]}))

    function = citations.prove_citations
    figures = asyncio.run(body())
    assert citations.prove_citations is function
    assert figures["child_chunks"] == 400
    assert figures["own"]["n"] == 2
    for table in (figures["own"]["ms"], figures["own"]["cpu_ms"]):
        assert table.keys() >= PHASES
        assert table["total"]["p95"] >= table["lexical"]["p50"] > 0
