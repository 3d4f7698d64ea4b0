"""The default reranker: no download, no key, no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from webrag_core.config.retrieval import RetrievalSettings
from webrag_core.indexing.markdown import plain_text
from webrag_core.indexing.passages import extract_passages
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected
from webrag_core.providers.embedder import Embedder
from webrag_core.providers.rerankers.protocol import Reranked, RerankResult
from webrag_core.retrieval.calibration import relevance
from webrag_core.retrieval.languages import weights_for
from webrag_core.retrieval.models import RetrievedChunk
from webrag_core.retrieval.scoring import lexical_share, profile, score_passages
from webrag_core.retrieval.weights import SHIPPED, weights_in_force

_INSTRUCTION_SHARE = 0.15


class LocalReranker:
    """Probabilities of relevance in [0, 1], fitted on questions with known evidence (`retrieval.calibration`). With
    `settings`, passages are scored by the weights in force, else by those that ship."""

    name = "local"

    def __init__(self, embedder: Embedder, settings: RetrievalSettings | None = None) -> None:
        self._embedder = embedder
        self._settings = settings

    def judge(self, chunks: Sequence[RetrievedChunk], instruction: str | None = None) -> Reranked:
        """Rank retrieved chunks by the relevance that retrieval has computed already. An instruction counts for 15 %.

        Raises ValueError for a chunk without relevance.
        """
        scores = [chunk.relevance for chunk in chunks if chunk.relevance is not None]
        if len(scores) < len(chunks):
            raise ValueError("a chunk has no relevance")
        if instruction and chunks:
            texts = [f"{' > '.join(chunk.match_heading_path)}\n{plain_text(chunk.match_text)}" for chunk in chunks]
            scores = _instructed(scores, instruction, texts)
        return _ranked(scores)

    async def rerank(
        self,
        query: str,
        passages: Sequence[str],
        *,
        term_idf: Mapping[str, float],
        instruction: str | None = None,
    ) -> Reranked:
        """As `Reranker.rerank`, for passages without a parent: each is its own.

        `term_idf` weighs the query's terms (equally when it is empty); an instruction counts for 15 %.
        """
        if not passages:
            return Reranked([])
        vectors = await self._embedder.embed([query, *passages])
        language = detected(query)
        target = profile(query, term_idf or dict.fromkeys(terms(query, language), 1.0))
        cut = extract_passages(passages, language)
        # its embedder is the static model, whatever the settings name for the index
        weights = weights_for(query, SHIPPED if self._settings is None else weights_in_force(self._settings))
        totals = score_passages(target, cut).total(vectors[1:] @ vectors[0], weights)
        raw = np.clip(totals + weights.lexical * lexical_share(target, cut), 0, 1)
        scores = relevance([float(score) for score in raw])
        return _ranked(_instructed(scores, instruction, passages) if instruction else scores)


def _instructed(scores: Sequence[float], instruction: str, passages: Sequence[str]) -> list[float]:
    language = detected(instruction)
    target = profile(instruction, dict.fromkeys(terms(instruction, language), 1.0))
    parts = score_passages(target, extract_passages(passages, language))
    share = (parts.coverage + parts.token_match) / 2
    return [
        (1 - _INSTRUCTION_SHARE) * score + _INSTRUCTION_SHARE * float(match)
        for score, match in zip(scores, share, strict=True)
    ]


def _ranked(scores: Sequence[float]) -> Reranked:
    results = [RerankResult(index=index, relevance_score=score) for index, score in enumerate(scores)]
    return Reranked(sorted(results, key=lambda result: -result.relevance_score))
