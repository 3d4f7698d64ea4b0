"""The order of sentences by a configured reranker: it reads the likeliest ones, and the best of them come first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webrag_core.answering.compose.features import Array
from webrag_core.answering.compose.sentence_scores import read_text
from webrag_core.answering.units import Unit
from webrag_core.config import Settings
from webrag_core.errors import RerankError
from webrag_core.orchestration.verdict import LOCAL_RERANKERS
from webrag_core.providers.rerankers.memory import RankingMemory
from webrag_core.providers.rerankers.protocol import Reranker
from webrag_core.retrieval.reranking import make_reranker
from webrag_core.store.breakers import Breakers

SENT = 60
"""Units that the reranker reads for each part of a question."""


class SentenceReranker:
    """A configured reranker over sentences. After its first failure it orders nothing, and `failure` says why."""

    def __init__(self, reranker: Reranker) -> None:
        self.failure: str | None = None
        self._reranker = reranker

    async def relevance(self, query: str, units: Sequence[Unit], fitted: Array) -> Array | None:
        """Relevance in [0, 1] of the SENT units with the best `fitted` scores, NaN for the others; None after a
        failure."""
        if not units or self.failure is not None:
            return None
        best = [int(index) for index in np.argsort(-fitted, kind="stable")[:SENT]]
        try:
            ranking = await self._reranker.rerank(query, [read_text(units[index]) for index in best], term_idf={})
        except RerankError as error:
            self.failure = f"{error.provider}: {error.reason}"
            return None
        relevance = np.full(len(units), np.nan)
        for row in ranking.results:
            relevance[best[row.index]] = row.relevance_score
        return relevance


def make_sentence_reranker(
    settings: Settings, breakers: Breakers | None = None, memory: RankingMemory | None = None
) -> SentenceReranker | None:
    """The reranker of the settings, if one is configured. The local one has scored the evidence already. What `memory`
    holds is not paid for again."""
    reranker = None if settings.reranker_provider in LOCAL_RERANKERS else make_reranker(settings, breakers, memory)
    return None if reranker is None else SentenceReranker(reranker)
