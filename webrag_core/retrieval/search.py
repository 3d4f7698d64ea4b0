"""Search without walking: what is stored already, reranked and cited."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval import merging as merger
from webrag_core.retrieval.citations import prove_citations
from webrag_core.retrieval.citing import cite
from webrag_core.retrieval.models import CitationSpan, CorpusStats, RankedChunk, TimingInfo
from webrag_core.retrieval.recency import Recency
from webrag_core.retrieval.request import Pattern
from webrag_core.retrieval.reranking import make_reranker, rank
from webrag_core.retrieval.scope import ScopeFilter
from webrag_core.retrieval.searcher import Mode, Searcher, SearchRequest

logger = logging.getLogger(__name__)


class CorpusSearch(BaseModel):
    """Evidence found in the stored corpus, best first; citation n belongs to chunk n.

    A chunk's `reranked_score` is the final score; those of `chunk` are the ones before (see `RetrievedChunk`).
    `queries` is what was searched for. `recency` says how recent pages were preferred (None = they were not), and
    `model_id` which embedding model all of it was compared with.
    """

    query: str
    queries: list[str]
    pattern: Pattern
    mode: Literal["full_context", "chunk"]
    model_id: int
    candidates: int
    chunks: list[RankedChunk]
    citations: list[CitationSpan]
    corpus_stats: CorpusStats
    recency: Recency | None
    timing: TimingInfo
    warnings: list[str]


async def search_corpus(
    corpus: Corpus, query: str, *, sources: Sequence[str] | None = None, mode: Mode = "chunk"
) -> CorpusSearch:
    """Search whole sources (None = everything stored) the default way; see `search`."""
    return await search(corpus, SearchRequest(query=query, filters=ScopeFilter(sources=sources), mode=mode))


async def search(corpus: Corpus, request: SearchRequest, *, instruction: str | None = None) -> CorpusSearch:
    """Search what is stored, by any pattern. `instruction` goes to rerankers that take one.

    Raises InvalidInputError for a filter that names what does not exist or a reranker that cannot be used.
    """
    settings = corpus.settings
    reranker = make_reranker(settings) if request.pattern.reranks else None
    model_id = await corpus.indexer.model_id()
    found = await Searcher(corpus.database, corpus.indexer.embedder, model_id, settings).search(request)
    top_n = max(settings.reranker_top_n, request.top_k or 0)
    ranking = await rank(reranker, [(request.query, found)], top_n=top_n, instruction=instruction)
    for warning in ranking.warnings:
        logger.warning(warning)
    ranked = ranking.chunks[0] if found.recency is None else _weighed(ranking.chunks[0], found.recency)
    kept = merger.without_redundancy(ranked, settings.redundancy_ceiling)[: request.top_k or top_n]
    citations = cite(kept)
    async with corpus.database.connection() as connection:
        await prove_citations(connection, citations)
    return CorpusSearch(
        query=request.query,
        queries=request.queries,
        pattern=found.pattern,
        mode=found.mode,
        model_id=found.model_id,
        candidates=found.candidates,
        chunks=kept,
        citations=citations,
        corpus_stats=found.corpus_stats,
        recency=found.recency,
        timing=found.timing,
        warnings=[*found.warnings, *ranking.warnings],
    )


def _weighed(ranked: Sequence[RankedChunk], recency: Recency) -> list[RankedChunk]:
    """The one place where recency counts."""
    return [
        one.model_copy(
            update={"reranked_score": one.reranked_score * recency.weight(one.chunk.dated, one.chunk.fetched_at)}
        )
        for one in ranked
    ]
