"""Rerank the results of a round, falling back to the local reranker when a provider fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from webrag_core.config import Settings
from webrag_core.config.retrieval import RetrievalSettings
from webrag_core.errors import RerankError
from webrag_core.indexing.markdown import plain_text
from webrag_core.providers.embedder import WordLlamaEmbedder
from webrag_core.providers.rerankers.memory import RankingMemory, RememberingReranker
from webrag_core.providers.rerankers.plugins import plugin_reranker
from webrag_core.providers.rerankers.protocol import Reranked, Reranker
from webrag_core.retrieval.local_reranker import LocalReranker
from webrag_core.retrieval.models import RankedChunk, RetrievalResult, RetrievedChunk
from webrag_core.store.breakers import Breakers
from webrag_core.trace import span

_NOT_APPLIED = "constraints change no order without a reranker (RERANKER_PROVIDER=none)"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranked chunks of each query, best first, warnings for the user, and whether the local reranker stood in."""

    chunks: list[list[RankedChunk]]
    warnings: list[str]
    fell_back: bool = False


def passage_of(chunk: RetrievedChunk) -> str:
    """The text a reranker reads: heading path and best matching child, without Markdown marks."""
    return f"{' > '.join(chunk.heading_path)}\n{plain_text(chunk.match_text)}"


async def rank(
    reranker: Reranker | None,
    results: Sequence[tuple[str, RetrievalResult]],
    *,
    top_n: int,
    instruction: str | None,
) -> Ranking:
    """Rerank the `top_n` best chunks of each query. In full-context mode, where nothing is cut, the others come behind
    them: with the retrieval score, but with no more than the last of them.

    A provider is asked for all queries at the same time. One reranker scores all queries of a call: the scores of two
    are not comparable. When a provider fails, all of them are ranked locally, with a warning. Raises EmbeddingError
    when a local model fails.
    """
    if reranker is None:
        kept = [_as_retrieved(query, _candidates(result, top_n)) for query, result in results]
        return Ranking(kept, [] if instruction is None else [_NOT_APPLIED])
    try:
        with span("rerank", reranker=reranker.name):
            return await _rank(reranker, results, top_n=top_n, instruction=instruction)
    except RerankError as error:
        failure = error
    ranking = await _rank(local_reranker(), results, top_n=top_n, instruction=instruction)
    warning = f"reranking by {failure.provider} failed ({failure.reason}); ranked locally instead"
    return replace(ranking, warnings=[*ranking.warnings, warning], fell_back=True)


def _candidates(result: RetrievalResult, top_n: int) -> list[RetrievedChunk]:
    return result.chunks if result.mode == "full_context" else result.chunks[:top_n]


def _as_retrieved(query: str, chunks: Sequence[RetrievedChunk]) -> list[RankedChunk]:
    return [
        RankedChunk(chunk=chunk, reranked_score=min(1.0, max(0.0, chunk.score)), source_sub_query=query)
        for chunk in chunks
    ]


async def _rank(
    reranker: Reranker, results: Sequence[tuple[str, RetrievalResult]], *, top_n: int, instruction: str | None
) -> Ranking:
    if isinstance(reranker, LocalReranker):  # retrieval has scored these texts already
        local = [reranker.judge(_candidates(result, top_n), instruction) for _, result in results]
        return _ranking(results, local)
    slots = asyncio.Semaphore(reranker.at_once if isinstance(reranker, RememberingReranker) else 1)
    failures: list[RerankError] = []

    async def ask(query: str, result: RetrievalResult) -> Reranked:
        async with slots:
            if failures:  # the provider is left alone
                raise failures[0]
            passages = [passage_of(chunk) for chunk in result.chunks[:top_n]]
            try:
                return await reranker.rerank(query, passages, term_idf=result.term_idf, instruction=instruction)
            except RerankError as error:
                failures.append(error)
                raise

    answers = await asyncio.gather(
        *(ask(*result) for result in results), return_exceptions=True
    )  # none is left under way
    reranked = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise failures[0] if failures else answer
        reranked.append(answer)
    return _ranking(results, reranked)


def _ranking(results: Sequence[tuple[str, RetrievalResult]], answers: Sequence[Reranked]) -> Ranking:
    """The chunks of each query in the order of its answer; behind them those of the full context that were not sent."""
    ranking = Ranking([], [])
    for (query, result), reranked in zip(results, answers, strict=True):
        ranking.warnings.extend(reranked.warnings)
        chunks = [
            RankedChunk(
                chunk=result.chunks[row.index],
                reranked_score=row.relevance_score,
                confidence=row.confidence,
                source_sub_query=query,
            )
            for row in reranked.results
        ]
        rest = result.chunks[len(chunks) :] if result.mode == "full_context" else []
        last = chunks[-1].reranked_score if chunks else 1.0
        others = [
            item.model_copy(update={"reranked_score": min(item.reranked_score, last)})
            for item in _as_retrieved(query, rest)
        ]
        ranking.chunks.append([*chunks, *others])
    return ranking


def make_reranker(
    settings: Settings, breakers: Breakers | None = None, memory: RankingMemory | None = None
) -> Reranker | None:
    """The configured reranker; None for `RERANKER_PROVIDER=none`, which keeps the retrieval scores. With a `memory` a
    provider is asked only for what it does not hold.

    Raises InvalidInputError when the provider has neither key nor URL, or its package is not installed, PluginError.
    """
    provider = settings.reranker_provider
    if provider == "none":
        return None
    if provider == "local":
        return local_reranker(settings)
    reranker = plugin_reranker(provider, settings, breakers)
    return reranker if memory is None else RememberingReranker(reranker, memory)


def local_reranker(settings: RetrievalSettings | None = None) -> LocalReranker:
    """The local reranker, always on the static model: it scores passages in every round, which a paid embedding
    endpoint would charge for, and the fallback of a failed provider must not need a network."""
    return LocalReranker(WordLlamaEmbedder(), settings)
