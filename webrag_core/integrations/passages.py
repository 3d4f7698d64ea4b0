"""What every retriever does: search an open corpus, and describe each passage so that it can be proved later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from webrag_core.application.operations import search_as_of
from webrag_core.corpus.quotes import Quote
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.retrieval.models import RankedChunk
from webrag_core.retrieval.request import EVERYTHING, ScopeFilter, SearchRequest
from webrag_core.sync import WebRAG


def request_of(query: str, k: int, sources: Sequence[str] | None, filters: ScopeFilter | None) -> SearchRequest:
    """The search for the best `k` passages. Raises InvalidInputError."""
    chosen = filters or EVERYTHING
    if sources is not None:
        chosen = replace(chosen, sources=tuple(sources))
    return SearchRequest(query=query, filters=chosen, top_k=k)


def passages(corpus: WebRAG | Corpus, request: SearchRequest, at: str | None) -> list[RankedChunk]:
    """The passages, best first. Raises InvalidInputError for a `Corpus`, which only its own event loop can search."""
    if isinstance(corpus, Corpus):
        raise InvalidInputError("a Corpus is searched with await (ainvoke, aretrieve); a WebRAG also without")
    return corpus.search(request, at=at).chunks


async def apassages(corpus: WebRAG | Corpus, request: SearchRequest, at: str | None) -> list[RankedChunk]:
    """As `passages`, for both."""
    if isinstance(corpus, WebRAG):
        return (await corpus.asearch(request, at=at)).chunks
    return (await search_as_of(corpus, request, at)).chunks


def metadata_of(passage: RankedChunk) -> dict[str, Any]:
    """Where a passage stands: its text is the slice [char_start, char_end) of the page version with `version_sha256`,
    and `sha256` is that of the text's UTF-8 bytes."""
    chunk = passage.chunk
    quote = Quote.of(chunk.text, chunk.version_id, chunk.char_start, chunk.char_end, offset=chunk.char_start)
    return {
        "url": chunk.source_url,
        "title": chunk.title,
        "heading": chunk.section_heading,
        "version_id": quote.version_id,
        "version_sha256": chunk.version_sha256,
        "char_start": quote.start,
        "char_end": quote.end,
        "sha256": quote.sha256,
        "score": passage.reranked_score,
        "fetched_at": chunk.fetched_at.isoformat(),
        "language": chunk.language,
        "also_on": [other.source_url for other in chunk.also_on],
    }
