"""The evidence of a run: search, rerank, read, merge with earlier rounds; at the end, citations and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from webrag_core.config import Settings
from webrag_core.orchestration.clock import Clock
from webrag_core.orchestration.locality import neighbours
from webrag_core.orchestration.request import (
    KNOWN_SKIPPED,
    AnswerRequest,
    known_passages,
    reranker_instruction,
    without_known,
)
from webrag_core.orchestration.signals import (
    PassageFeatures,
    ScoredPassage,
    best_features,
    leading_passages,
    mediocre_floor,
)
from webrag_core.orchestration.verdict import LOCAL_RERANKERS
from webrag_core.providers.rerankers.protocol import Reranker
from webrag_core.retrieval import merging
from webrag_core.retrieval.citations import cite, relevant
from webrag_core.retrieval.models import CitationSpan, CorpusStats, RankedChunk, RetrievalResult, RetrievedChunk
from webrag_core.retrieval.reader import Reader
from webrag_core.retrieval.reranking import Ranking, rank
from webrag_core.retrieval.scope import Scope
from webrag_core.retrieval.searcher import Searcher
from webrag_core.trace import span

_READ = 5  # passages of each sub-query, best first, that a round is judged by

_NOT_RANKED = "RERANKER_PROVIDER=none: constraints and intent do not order the passages"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well the best passage answers the question, or one part of it.

    A part often leans on the others ("..., and how long does it take?"). So the reader reads the whole question, too:
    `queries` holds both, and what it says is the mean.
    """

    queries: tuple[str, ...]  # the question, then the part, if it is about one
    passage: PassageFeatures = field(default_factory=PassageFeatures)
    reading: float | None = None  # what the reader says; None without one
    provider_score: float | None = None  # what a provider's reranker says of the best passage; None without one


@dataclass(slots=True, kw_only=True)
class Evidence:
    """Ranked passages of all rounds, best first, and how well they cover each part of the question."""

    request: AnswerRequest
    question: str  # the user's own among the sub-queries
    parts: Sequence[str] = ()  # the sub-queries that the question consists of, each judged by itself
    settings: Settings
    searcher: Searcher
    reranker: Reranker | None
    reader: Reader | None
    clock: Clock
    warn: Callable[[str], None]
    ranked: list[RankedChunk] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)  # of each part; of the question when it has none
    degraded: bool = False  # the last search had to do without the embedding model
    judged_by: str = "local"
    mode: Literal["full_context", "chunk"] = "chunk"
    stats: CorpusStats = field(
        default_factory=lambda: CorpusStats(
            total_documents=0, total_parent_chunks=0, total_tokens=0, documents_matched=[]
        )
    )

    @property
    def judged_locally(self) -> bool:
        """Whether no provider's reranker orders the passages."""
        return self.judged_by in LOCAL_RERANKERS

    @property
    def instruction(self) -> str | None:
        """What the request tells the reranker beside the question."""
        return reranker_instruction(self.request.intent, self.request.constraints, self.settings)

    @property
    def weakest(self) -> Coverage:
        """The part covered worst: the evidence is complete only when this one is. One that a provider finds mediocre
        comes before all others."""
        floor = mediocre_floor(self.settings)

        def order(coverage: Coverage) -> tuple[bool, float]:
            mediocre = coverage.provider_score is not None and coverage.provider_score < floor
            return not mediocre, coverage.passage.raw_score if coverage.reading is None else coverage.reading

        return min(self.coverage, key=order, default=Coverage((self.question,)))

    @property
    def best_score(self) -> float:
        """Score in [0, 1] of the best passage for any part, by retrieval or by a provider's reranker."""
        return max((max(item.passage.raw_score, item.provider_score or 0.0) for item in self.coverage), default=0.0)

    @property
    def leading(self) -> list[RankedChunk]:
        """The best passages, RERANKER_TOP_N of them."""
        return self.ranked[: self.settings.reranker_top_n]

    async def gather(self, sub_queries: Sequence[str], scope: Scope) -> bool:
        """Search `scope` for every sub-query, rerank, and merge with the evidence of earlier rounds.

        False when the embedding model fails: the evidence of earlier rounds stays as it is. Without any, words alone
        are searched.
        """
        with self.clock.phase("retrieval_ms"), span("retrieve", queries=len(sub_queries)):
            results = await self.searcher.retrieve_all(sub_queries, scope, mode=self.request.mode)
        self.degraded = any(result.degraded for result in results)
        if self.ranked and self.degraded:
            return False
        for result in results:
            for warning in result.warnings:
                self.warn(warning)
        self.mode, self.stats = results[0].mode, results[0].corpus_stats
        results, skipped = without_known(results, self.request.known_context, self.settings.redundancy_ceiling)
        if skipped:
            self.warn(KNOWN_SKIPPED)
        with self.clock.phase("reranking_ms"):
            ranking = await self._rerank(sub_queries, results)
        # redundant passages stay: redundancy is a signal of the round, and is removed at the end
        top_n = self.settings.reranker_top_n
        limit = top_n if self.mode == "chunk" else max(top_n, self.stats.total_parent_chunks)  # everything is returned
        self.ranked = merging.accumulate(self.ranked, merging.merge_sub_queries(ranking.chunks, limit=limit))
        return True

    async def _rerank(self, sub_queries: Sequence[str], results: Sequence[RetrievalResult]) -> Ranking:
        top_n = self.settings.reranker_top_n
        if self.settings.reranker_provider == "none" and (self.request.constraints or self.request.intent):
            self.warn(_NOT_RANKED)
        searched = list(zip(sub_queries, results, strict=True))
        ranking = await rank(self.reranker, searched, top_n=top_n, instruction=self.instruction)
        for warning in ranking.warnings:
            self.warn(warning)
        self.judged_by = "local" if ranking.fell_back else self.settings.reranker_provider
        parts = [query for query in self.parts if query in sub_queries] or [self.question]
        self.coverage = []
        for part in parts:
            queries = tuple(dict.fromkeys([self.question, part]))
            places = [sub_queries.index(query) for query in queries]
            leading = [self._leading_passages(results[place], ranking.chunks[place]) for place in places]
            passage = self._features(leading[-1], results[places[-1]].term_idf)
            chunks = {finding.chunk.chunk_id: finding.chunk for result in leading for finding in result[:_READ]}
            scored = bool(leading[-1]) and not self.judged_locally
            self.coverage.append(
                Coverage(
                    queries,
                    passage,
                    reading=await self._read(queries, list(chunks.values())),
                    provider_score=leading[-1][0].score if scored else None,
                )
            )
        return ranking

    async def _read(self, queries: Sequence[str], chunks: Sequence[RetrievedChunk]) -> float | None:
        """What the reader says of the best of these passages; None without a reader."""
        if self.reader is None:
            return None
        readings = await self.reader.read_for(queries, chunks)
        if self.reader.failure is not None:
            self.warn(f"judged without the reading model: {self.reader.failure}")
        return max(readings, default=None)

    def _features(self, leading: Sequence[ScoredPassage], query_terms: Collection[str]) -> PassageFeatures:
        """Of the best passage; where a provider chose them, of the one among them that retrieval scores best."""
        if not self.judged_locally:
            leading = leading_passages([replace(item, score=item.raw_score) for item in leading], query_terms, _READ)
        return best_features(leading, query_terms)

    def _leading_passages(self, result: RetrievalResult, ranked: Sequence[RankedChunk]) -> list[ScoredPassage]:
        """The best passages for one sub-query by the configured reranker, after the discount for lines of links. Their
        features hold retrieval's raw score, for which the tables of completeness were fitted.
        """
        if self.judged_locally:
            scored = [ScoredPassage(chunk, chunk.score, chunk.raw_score) for chunk in result.chunks]
        else:
            scored = [
                ScoredPassage(passage.chunk, passage.reranked_score, passage.chunk.raw_score)
                for passage in ranked[: self.settings.reranker_top_n]  # which it has read
            ]
        return leading_passages(scored, result.term_idf, _READ)

    def fitting(self) -> tuple[list[RankedChunk], list[CitationSpan]]:
        """The passages that fit the budget, redundant ones dropped, and the citations of the relevant ones. Full
        context keeps and cites all that fit."""
        best = self.ranked
        if self.mode != "full_context":
            best = merging.without_redundancy(best, self.settings.redundancy_ceiling)
        best = merging.fit_budget(best, self.settings.retrieval_context_budget)
        return best, cite(best) if self.mode == "full_context" else relevant(cite(best))

    async def nearby(self, best: Sequence[RankedChunk]) -> list[RankedChunk]:
        """Neighbours of the strong hits among `best` that were not ranked; dropped passages do not return."""
        if not self.settings.locality_expansion_radius:
            return []
        siblings = await neighbours(
            self.searcher,
            best,
            radius=self.settings.locality_expansion_radius,
            min_score=self.settings.min_score_for_expansion,
        )
        seen = {ranked.chunk.chunk_id for ranked in self.ranked}
        seen |= known_passages(
            (ranked.chunk for ranked in siblings), self.request.known_context, self.settings.redundancy_ceiling
        )
        return [sibling for sibling in siblings if sibling.chunk.chunk_id not in seen]
