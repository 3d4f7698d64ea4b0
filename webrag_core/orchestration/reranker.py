"""Reranking: a second, finer look at what retrieval found, on one scale for all rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from webrag_core.config import Settings
from webrag_core.indexing.embedder import Embedder
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.terms import terms
from webrag_core.orchestration.models import RankedChunk, RerankResult
from webrag_core.retrieval.models import RetrievedChunk

# fixed until they are fitted and calibrated on dev data
_COVERAGE_SHARE = 0.6
_INSTRUCTION_SHARE = 0.15


class Reranker(Protocol):
    """Scores passages against a query in [0, 1]."""

    name: str

    async def rerank(
        self,
        query: str,
        passages: Sequence[str],
        *,
        term_idf: Mapping[str, float],
        instruction: str | None = None,
    ) -> list[RerankResult]:
        """One result per passage, best first; equal scores keep the input order."""
        ...


class LocalReranker:
    """No download, no key: IDF-weighted coverage of the query's terms, and cosine of static embeddings.

    score = 0.6 * coverage + 0.4 * max(0, cosine). In [0, 1], comparable between rounds and queries only roughly: it
    is not calibrated to a probability of relevance.
    """

    name = "local"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def rerank(
        self,
        query: str,
        passages: Sequence[str],
        *,
        term_idf: Mapping[str, float],
        instruction: str | None = None,
    ) -> list[RerankResult]:
        """As `Reranker.rerank`. `term_idf` weighs the query's terms; an instruction counts for 15 %."""
        if not passages:
            return []
        texts = [query, instruction or "", *passages]
        vectors = await self._embedder.embed(texts)
        found = [set(terms(passage)) for passage in passages]
        scores = _scores(term_idf, found, vectors[2:] @ vectors[0])
        if instruction:
            wanted = dict.fromkeys(terms(instruction), 1.0)
            extra = _scores(wanted, found, vectors[2:] @ vectors[1])
            scores = [
                (1 - _INSTRUCTION_SHARE) * score + _INSTRUCTION_SHARE * more
                for score, more in zip(scores, extra, strict=True)
            ]
        results = [RerankResult(index=index, relevance_score=score) for index, score in enumerate(scores)]
        return sorted(results, key=lambda result: -result.relevance_score)


def _scores(idf: Mapping[str, float], found: Sequence[set[str]], cosines: Sequence[float]) -> list[float]:
    total = sum(idf.values())
    scores = []
    for have, cosine in zip(found, cosines, strict=True):
        coverage = sum(weight for term, weight in idf.items() if term in have) / total if total else 0.0
        score = _COVERAGE_SHARE * coverage + (1 - _COVERAGE_SHARE) * max(0.0, float(cosine))
        scores.append(min(1.0, score))
    return scores


def make_reranker(settings: Settings, embedder: Embedder) -> Reranker | None:
    """The configured reranker; None for `RERANKER_PROVIDER=none`, when retrieval scores stand as they are."""
    return LocalReranker(embedder) if settings.reranker_provider == "local" else None


def passage_of(chunk: RetrievedChunk) -> str:
    """What a reranker reads: heading path and the best matching child, without Markdown marks."""
    return f"{' > '.join(chunk.heading_path)}\n{plain_text(chunk.match_text)}"


async def rank(
    reranker: Reranker | None,
    query: str,
    chunks: Sequence[RetrievedChunk],
    *,
    top_n: int,
    term_idf: Mapping[str, float],
    instruction: str | None,
) -> list[RankedChunk]:
    """Rerank the `top_n` best of `chunks` (given best first); the depth weight stays on the score."""
    best = list(chunks[:top_n])
    if reranker is None:
        return [
            RankedChunk(chunk=chunk, reranked_score=min(1.0, max(0.0, chunk.score)), source_sub_query=query)
            for chunk in best
        ]
    results = await reranker.rerank(
        query, [passage_of(chunk) for chunk in best], term_idf=term_idf, instruction=instruction
    )
    return [
        RankedChunk(
            chunk=best[result.index],
            reranked_score=result.relevance_score,
            confidence=result.confidence,
            source_sub_query=query,
        )
        for result in results
    ]
