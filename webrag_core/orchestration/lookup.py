"""Search without walking: what is stored already, reranked and cited."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from webrag_core.indexing.corpus import Corpus
from webrag_core.orchestration import merger
from webrag_core.orchestration.models import RankedChunk
from webrag_core.orchestration.reranker import make_reranker, rank
from webrag_core.retrieval.citations import extract_citation, prove_citations
from webrag_core.retrieval.models import CitationSpan, CorpusStats, TimingInfo
from webrag_core.retrieval.scope import source_scope
from webrag_core.retrieval.search import Mode, Searcher


class CorpusSearch(BaseModel):
    """Evidence found in the stored corpus, best first; citation n belongs to chunk n."""

    query: str
    chunks: list[RankedChunk]
    citations: list[CitationSpan]
    corpus_stats: CorpusStats
    timing: TimingInfo


async def search_corpus(
    corpus: Corpus, query: str, *, sources: Sequence[str] | None = None, mode: Mode = "chunk"
) -> CorpusSearch:
    """Search whole sources (None = everything stored).

    Raises InvalidInputError for an empty query or an unknown source.
    """
    settings = corpus.settings
    model_id = await corpus.indexer.model_id()
    searcher = Searcher(corpus.database, corpus.indexer.embedder, model_id, settings)
    async with corpus.database.connection() as connection:
        scope = await source_scope(connection, sources)
    found = await searcher.retrieve(query, scope, mode=mode)
    ranked = await rank(
        make_reranker(settings, corpus.indexer.embedder),
        query,
        found.chunks,
        top_n=settings.reranker_top_n,
        term_idf=found.term_idf,
        instruction=None,
    )
    kept = merger.without_redundancy(ranked, settings.redundancy_ceiling)
    citations = [
        extract_citation(
            chunk.chunk,
            chunk.chunk.match_start,
            chunk.chunk.match_end,
            number=number,
            score=chunk.reranked_score,
        )
        for number, chunk in enumerate(kept, start=1)
    ]
    async with corpus.database.connection() as connection:
        await prove_citations(connection, citations)
    return CorpusSearch(
        query=query, chunks=kept, citations=citations, corpus_stats=found.corpus_stats, timing=found.timing
    )
