"""Weights of a release: what they may be, and that every way to search uses them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.retrieval.graph.test_cross_modal import PAGES, QUERY, by_path, searching
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.retrieval.chunk_store import load_children, load_parents
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.patterns import lexical_hits
from webrag_core.retrieval.ranking import signals_of_parents
from webrag_core.retrieval.request import Pattern, SearchRequest
from webrag_core.retrieval.reranking import local_reranker
from webrag_core.retrieval.scope import scope_size, source_scope
from webrag_core.retrieval.search import search
from webrag_core.retrieval.searcher import Searcher
from webrag_core.retrieval.weights import SHIPPED, ScoreWeights, weights_file, weights_in_force

OTHER = ScoreWeights(lexical=0.06, coverage=0.04, proximity=0.02, token_match=0.14, sibling=0.14, cosine=0.60)


def released(settings: Settings, home: Path) -> Settings:
    """The same settings with other weights in force."""
    own = settings.model_copy(update={"webrag_home": home})
    weights_file(own).parent.mkdir(parents=True, exist_ok=True)
    weights_file(own).write_text(json.dumps({"weights": OTHER.by_name(), "weights_digest": OTHER.digest}))
    return own


async def scores(corpus: Corpus, chunks: Iterable[RetrievedChunk]) -> list[float]:
    """What the other weights make of the signals of these passages, among everything stored."""
    ids = [chunk.chunk_id for chunk in chunks]
    searcher = Searcher(corpus.database, corpus.embedder, await corpus.model_id(), corpus.settings)
    vector = (await corpus.embedder.embed([QUERY], "query"))[0]
    async with corpus.database.snapshot() as connection:
        scope = await source_scope(connection, None)
        context = searcher.context(QUERY, vector, scope, await scope_size(connection, scope))
        lexical = await lexical_hits(connection, context, also=ids)
        children = await load_children(connection, context.model_id, vector, sorted(ids))
        rows = {row.id: row for row in await load_parents(connection, ids)}
    return list(signals_of_parents(QUERY, [rows[chunk] for chunk in ids], children, lexical) @ OTHER.vector())


@pytest.mark.parametrize("pattern", [Pattern.RERANKED, Pattern.GRAPH])
def test_every_passage_is_scored_by_the_weights_in_force(settings: Settings, tmp_path: Path, pattern: Pattern) -> None:
    async def work(corpus: Corpus) -> None:
        found = await search(corpus, SearchRequest(query=QUERY, pattern=pattern))
        chunks = by_path(found)
        assert pattern is not Pattern.GRAPH or "/vault" in chunks  # which the graph alone brings
        assert [one.raw_score for one in chunks.values()] == pytest.approx(
            await scores(corpus, chunks.values()), abs=1e-6
        )
        assert found.weights == OTHER.digest
        assert any("released weights" in warning for warning in found.warnings)

    searching(released(settings, tmp_path), work, PAGES)


def test_patterns_without_the_scorer_name_no_release(settings: Settings, tmp_path: Path) -> None:
    async def work(corpus: Corpus) -> None:
        for pattern in (Pattern.SEMANTIC, Pattern.HYBRID):
            found = await search(corpus, SearchRequest(query=QUERY, pattern=pattern))
            assert found.weights is None
            assert found.warnings == []

    searching(released(settings, tmp_path), work, PAGES)


def test_previews_are_scored_by_the_weights_in_force(settings: Settings, tmp_path: Path) -> None:
    def scores(chosen: Settings) -> list[float]:
        texts = ["Keys are rotated.", "A box of steel turns secrets over."]
        found = local_reranker(chosen).rerank(QUERY, texts, term_idf=dict.fromkeys(terms(QUERY), 1.0))
        return [one.relevance_score for one in asyncio.run(found).results]

    plain = settings.model_copy(update={"webrag_home": tmp_path / "plain"})
    assert scores(plain) != scores(released(settings, tmp_path / "other"))


def test_a_running_process_sees_a_release_come_and_go(settings: Settings, tmp_path: Path) -> None:
    own = released(settings, tmp_path)
    assert weights_in_force(own) == OTHER
    weights_file(own).unlink()
    assert weights_in_force(own) == SHIPPED


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "not none"),
        ({**SHIPPED.by_name(), "recency": 0.0}, "recency"),
        ({**SHIPPED.by_name(), "lexical": 0.0, "coverage": 0.5}, "outside"),
        ({**SHIPPED.by_name(), "lexical": float("nan")}, "outside"),
        ({**SHIPPED.by_name(), "lexical": 0.31}, "add up to 1.010000"),
    ],
)
def test_what_cannot_be_weights(values: dict[str, float], problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        ScoreWeights.of(values)
