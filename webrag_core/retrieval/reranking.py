"""One round's ranking, with the one place that falls back when a provider fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError, RerankError
from webrag_core.indexing.markdown import plain_text
from webrag_core.providers.embedder import WordLlamaEmbedder
from webrag_core.providers.rerankers.protocol import Reranker
from webrag_core.providers.rerankers.remote import RemoteReranker
from webrag_core.retrieval.local_reranker import LocalReranker
from webrag_core.retrieval.models import RankedChunk, RetrievalResult, RetrievedChunk


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranked chunks of each query, best first, and what the user must know about them."""

    chunks: list[list[RankedChunk]]
    warnings: list[str]


def passage_of(chunk: RetrievedChunk) -> str:
    """What a reranker reads: heading path and the best matching child, without Markdown marks."""
    return f"{' > '.join(chunk.heading_path)}\n{plain_text(chunk.match_text)}"


async def rank(
    reranker: Reranker | None,
    found: Sequence[tuple[str, RetrievalResult]],
    *,
    top_n: int,
    instruction: str | None,
) -> Ranking:
    """Rerank the `top_n` best of what was found for each query (given best first).

    All queries of a call are scored by one reranker: scores of two are not comparable. When a provider fails, every
    one of them is ranked locally, with a warning. Raises EmbeddingError when a local model fails.
    """
    if reranker is None:
        return Ranking([_as_retrieved(query, result.chunks[:top_n]) for query, result in found], [])
    try:
        return await _rank(reranker, found, top_n=top_n, instruction=instruction)
    except RerankError as error:
        failure = error
    ranking = await _rank(local_reranker(), found, top_n=top_n, instruction=instruction)
    ranking.warnings.append(f"reranking by {failure.provider} failed ({failure.reason}); ranked locally instead")
    return ranking


def _as_retrieved(query: str, best: Sequence[RetrievedChunk]) -> list[RankedChunk]:
    return [
        RankedChunk(chunk=chunk, reranked_score=min(1.0, max(0.0, chunk.score)), source_sub_query=query)
        for chunk in best
    ]


async def _rank(
    reranker: Reranker, found: Sequence[tuple[str, RetrievalResult]], *, top_n: int, instruction: str | None
) -> Ranking:
    ranking = Ranking([], [])
    for query, result in found:
        best = result.chunks[:top_n]
        if isinstance(reranker, LocalReranker):
            reranked = reranker.judge(best, instruction)  # retrieval has read these texts already
        else:
            reranked = await reranker.rerank(
                query, [passage_of(chunk) for chunk in best], term_idf=result.term_idf, instruction=instruction
            )
        ranking.warnings.extend(reranked.warnings)
        ranking.chunks.append(
            [
                RankedChunk(
                    chunk=best[one.index],
                    reranked_score=one.relevance_score,
                    confidence=one.confidence,
                    source_sub_query=query,
                )
                for one in reranked.results
            ]
        )
    return ranking


def make_reranker(settings: Settings) -> Reranker | None:
    """The configured reranker; None for `RERANKER_PROVIDER=none`, when retrieval scores stand as they are.

    Raises InvalidInputError when the provider has neither key nor URL, or its package is not installed.
    """
    provider = settings.reranker_provider
    if provider == "none":
        return None
    if provider == "local":
        return local_reranker()
    if settings.reranker_api_key is None and settings.reranker_base_url is None:
        raise InvalidInputError(
            f"RERANKER_PROVIDER={provider} needs RERANKER_API_KEY (or RERANKER_BASE_URL of a server that wants none)"
        )
    return _remote(provider)(settings)


def local_reranker() -> LocalReranker:
    """Always on the static model, whatever the corpus is embedded with: a passage is scored anew in every round, and
    an endpoint would be paid for each; and what a failing provider falls back to must not need a network."""
    return LocalReranker(WordLlamaEmbedder())


def _remote(provider: str) -> type[RemoteReranker]:
    from webrag_core.providers.rerankers.cohere import CohereReranker
    from webrag_core.providers.rerankers.jina import JinaReranker
    from webrag_core.providers.rerankers.zeroentropy import ZeroEntropyReranker

    adapters: tuple[type[RemoteReranker], ...] = (ZeroEntropyReranker, CohereReranker, JinaReranker)
    return {adapter.name: adapter for adapter in adapters}[provider]
