"""Reranking: a second, finer look at what retrieval found, on one scale for all rounds."""

from webrag_core.orchestration.rerankers.factory import make_reranker
from webrag_core.orchestration.rerankers.protocol import Reranked, Reranker
from webrag_core.orchestration.rerankers.ranking import Ranking, passage_of, rank

__all__ = ["Ranking", "Reranked", "Reranker", "make_reranker", "passage_of", "rank"]
