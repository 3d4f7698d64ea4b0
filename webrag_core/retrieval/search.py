"""Search the stored corpus: retrieve, rerank, cite. Nothing is fetched."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from webrag_core.indexing.pipeline import Corpus
from webrag_core.readable import Readable, counted, shortened
from webrag_core.result_warnings import log_warning
from webrag_core.retrieval.models import (
    RELEVANCE_FLOOR,
    Capability,
    CitationSpan,
    CorpusStats,
    RankedChunk,
    RetrievalResult,
    Spelling,
    TimingInfo,
    respelled,
    spelling_note,
)
from webrag_core.retrieval.request import Mode, Pattern, ScopeFilter, SearchRequest
from webrag_core.trace import span

logger = logging.getLogger(__name__)


class CorpusSearch(Readable, BaseModel):
    """Evidence from the stored corpus.

    `chunks` are best first, in full-context mode in reading order; `citations` quote them, most relevant first. Of a
    page at most three are among the first ten, and a text that several pages have is there once (`folding`). A
    chunk's `reranked_score` is the final score; those of `chunk` are the ones before (see `RetrievedChunk`). `queries`
    are the query and its formulations, `spellings` the words of them that were searched for in other letters.
    `model_id` names the embedding model, `weights` the released weights of the scorer (None: those that ship; see
    `retrieval.weights`). `degraded` lists what the search had to do without.
    """

    model_config = ConfigDict(defer_build=True)

    query: str
    queries: list[str]
    pattern: Pattern
    mode: Literal["full_context", "chunk"]
    model_id: int
    weights: str | None = None
    candidates: int
    chunks: list[RankedChunk]
    citations: list[CitationSpan]
    corpus_stats: CorpusStats
    timing: TimingInfo
    spellings: list[Spelling] = []
    degraded: list[Capability]
    warnings: list[str]

    @property
    def searched_for(self) -> str:
        """The query as it was searched for."""
        return respelled(self.query, self.spellings)

    @property
    def spelling_note(self) -> str:
        """What to say of words that were searched for in other letters; "" without any."""
        return spelling_note(self.query, self.spellings)

    @property
    def is_empty(self) -> bool:
        """True when nothing was found."""
        return not self.chunks

    @property
    def status(self) -> Literal["partial", "not_found"]:
        """`partial` with a relevant passage. A search does not judge whether passages answer a question."""
        return "partial" if self.top_score >= RELEVANCE_FLOOR else "not_found"

    def verdict_line(self) -> str:
        """Describe the status in one sentence, to be read before any quote."""
        searched = f"{counted(self.corpus_stats.total_documents, 'page')} searched"
        if self.status == "not_found":
            return f"Not found: {searched}, no passage answers the question"
        best = f"relevance of the best passage {self.top_score:.0%}"
        return f"Partial: {best}, {searched}; whether the passages answer the question is not judged"

    def summary(self) -> str:
        """Status and size."""
        pages = counted(len(self.corpus_stats.documents_matched), "page")
        return f"{self.status}: {counted(len(self.chunks), 'passage')} of {pages}, query {shortened(self.query)}"

    @property
    def source_urls(self) -> list[str]:
        """The pages of the passages, each once, in their order."""
        return list(dict.fromkeys(passage.chunk.source_url for passage in self.chunks))

    @property
    def top_score(self) -> float:
        """The relevance of the best citation; 0 without any."""
        return self.citations[0].relevance if self.citations else 0.0


async def search_corpus(
    corpus: Corpus, query: str, *, sources: Sequence[str] | None = None, mode: Mode = "chunk"
) -> CorpusSearch:
    """Search whole sources (None = everything stored) with the default pattern; see `search`."""
    return await search(corpus, SearchRequest(query=query, filters=ScopeFilter(sources=sources), mode=mode))


async def search(
    corpus: Corpus, request: SearchRequest, *, instruction: str | None = None, is_part: bool = False
) -> CorpusSearch:
    """Search the stored corpus by any pattern. `instruction` goes to rerankers that take one. A search that `is_part`
    of an answer leaves it to the answer to say, of all evidence, that question and pages differ in language.

    Raises InvalidInputError for a filter with unknown names or an unusable reranker, EmbeddingError for a semantic
    search whose embedding model fails.
    """
    from webrag_core.retrieval.searcher import Searcher

    model_id = await corpus.model_id()
    with span("retrieve", pattern=request.pattern.short):
        retrieved = await Searcher(corpus.database, corpus.embedder, model_id, corpus.settings).search(request)
    return await finish_search(corpus, request, retrieved, instruction=instruction, is_part=is_part)


async def finish_search(
    corpus: Corpus,
    request: SearchRequest,
    retrieved: RetrievalResult,
    *,
    instruction: str | None = None,
    is_part: bool = False,
) -> CorpusSearch:
    """Rerank and cite what was retrieved, see `search`. Raises InvalidInputError for an unusable reranker."""
    from webrag_core.retrieval.citations import ask_pages, cite, prove_citations, with_pages
    from webrag_core.retrieval.folding import folded, spread
    from webrag_core.retrieval.languages import language_warnings
    from webrag_core.retrieval.merging import reading_order
    from webrag_core.retrieval.reranking import make_reranker, rank

    settings = corpus.settings
    reranker = make_reranker(settings, corpus.breakers, corpus.rankings) if request.pattern.reranks else None
    top_n = max(settings.reranker_top_n, request.top_k or 0)
    query = respelled(request.query, retrieved.spellings)
    ranking = await rank(reranker, [(query, retrieved)], top_n=top_n, instruction=instruction)
    ranked = ranking.chunks[0]
    if retrieved.mode == "chunk":
        ranked = spread(
            folded(ranked, settings.redundancy_ceiling),
            lambda item: item.chunk.document_id,
            lambda item: item.reranked_score >= RELEVANCE_FLOOR,
        )[: request.top_k or top_n]
    citations = cite(ranked, spreads=retrieved.mode == "chunk")
    async with corpus.database.connection() as connection, connection.pipeline():
        pages = await ask_pages(connection, citations)
        await prove_citations(connection, citations)
        citations = await with_pages(pages, citations)
    warnings = [
        *ranking.warnings,
        *([] if is_part else language_warnings(query, [passage.chunk for passage in ranked], settings)),
    ]
    for warning in warnings:
        log_warning(logger, warning)
    return CorpusSearch(
        query=request.query,
        queries=request.queries,
        pattern=retrieved.pattern,
        mode=retrieved.mode,
        model_id=retrieved.model_id,
        weights=retrieved.weights,
        candidates=retrieved.candidates,
        chunks=reading_order(ranked) if retrieved.mode == "full_context" else ranked,
        citations=citations,
        corpus_stats=retrieved.corpus_stats,
        timing=retrieved.timing,
        spellings=retrieved.spellings,
        degraded=retrieved.degraded,
        warnings=[*retrieved.warnings, *warnings],
    )
