"""The reranker that needs nothing: no download, no key, no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webrag_core.indexing.embedder import Embedder
from webrag_core.indexing.terms import terms
from webrag_core.orchestration.models import RerankResult
from webrag_core.orchestration.rerankers.protocol import Reranked

# fixed until they are fitted and calibrated on dev data
_COVERAGE_SHARE = 0.6
_INSTRUCTION_SHARE = 0.15


class LocalReranker:
    """IDF-weighted coverage of the query's terms, and cosine of static embeddings.

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
    ) -> Reranked:
        """As `Reranker.rerank`. `term_idf` weighs the query's terms; an instruction counts for 15 %."""
        if not passages:
            return Reranked([])
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
        return Reranked(sorted(results, key=lambda result: -result.relevance_score))


def _scores(idf: Mapping[str, float], found: Sequence[set[str]], cosines: Sequence[float]) -> list[float]:
    total = sum(idf.values())
    scores = []
    for have, cosine in zip(found, cosines, strict=True):
        coverage = sum(weight for term, weight in idf.items() if term in have) / total if total else 0.0
        score = _COVERAGE_SHARE * coverage + (1 - _COVERAGE_SHARE) * max(0.0, float(cosine))
        scores.append(min(1.0, score))
    return scores
