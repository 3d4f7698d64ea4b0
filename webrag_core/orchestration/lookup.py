"""Search without walking: what is stored already, reranked and cited."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from pydantic import BaseModel

from webrag_core.indexing.corpus import Corpus
from webrag_core.orchestration import merger
from webrag_core.orchestration.citing import cite
from webrag_core.orchestration.models import RankedChunk
from webrag_core.orchestration.rerankers import make_reranker, rank
from webrag_core.retrieval.citations import prove_citations
from webrag_core.retrieval.models import CitationSpan, CorpusStats, TimingInfo
from webrag_core.retrieval.scope import source_scope
from webrag_core.retrieval.search import Mode, Searcher

logger = logging.getLogger(__name__)


class CorpusSearch(BaseModel):
    """Evidence found in the stored corpus, best first; citation n belongs to chunk n."""

    query: str
    chunks: list[RankedChunk]
    citations: list[CitationSpan]
    corpus_stats: CorpusStats
    timing: TimingInfo
    warnings: list[str]


async def search_corpus(
    corpus: Corpus, query: str, *, sources: Sequence[str] | None = None, mode: Mode = "chunk"
) -> CorpusSearch:
    """Search whole sources (None = everything stored).

    Raises InvalidInputError for an empty query, an unknown source or a reranker that cannot be used.
    """
    settings = corpus.settings
    reranker = make_reranker(settings)
    model_id = await corpus.indexer.model_id()
    searcher = Searcher(corpus.database, corpus.indexer.embedder, model_id, settings)
    async with corpus.database.connection() as connection:
        scope = await source_scope(connection, sources)
    found = await searcher.retrieve(query, scope, mode=mode)
    ranking = await rank(reranker, [(query, found)], top_n=settings.reranker_top_n, instruction=None)
    for warning in ranking.warnings:
        logger.warning(warning)
    kept = merger.without_redundancy(ranking.chunks[0], settings.redundancy_ceiling)
    citations = cite(kept)
    async with corpus.database.connection() as connection:
        await prove_citations(connection, citations)
    return CorpusSearch(
        query=query,
        chunks=kept,
        citations=citations,
        corpus_stats=found.corpus_stats,
        timing=found.timing,
        warnings=ranking.warnings,
    )
