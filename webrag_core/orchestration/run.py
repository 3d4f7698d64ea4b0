"""One answer run: retrieve, judge, record, act; until the policy or a limit stops it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError, FetchError, Reason
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import terms
from webrag_core.orchestration import answers
from webrag_core.orchestration.clock import Clock
from webrag_core.orchestration.frontier import Expansion, Frontier, chosen_candidates, fetch_pages
from webrag_core.orchestration.limits import TIMEOUT, bounded
from webrag_core.orchestration.link_scorers import score_links
from webrag_core.orchestration.llm_analysis import Analysed
from webrag_core.orchestration.locality import neighbours
from webrag_core.orchestration.memory import stored_pages
from webrag_core.orchestration.models import (
    Action,
    EvaluationSignals,
    ExpansionDecision,
    ExpansionStep,
    OrchestrationResult,
    PreviewScore,
    Round,
    ScoredCandidate,
    ScoredRef,
)
from webrag_core.orchestration.policies import StopPolicy
from webrag_core.orchestration.previews import PAID, PAID_PREVIEWS, REPLAYED, RankedPreview, rank_previews
from webrag_core.orchestration.query_analyzer import alternative_sub_queries, joins_parts
from webrag_core.orchestration.request import (
    KNOWN_SKIPPED,
    AnswerRequest,
    known_passages,
    reranker_instruction,
    without_known,
)
from webrag_core.orchestration.signals import PassageFeatures, compute_signals, passage_features
from webrag_core.orchestration.verdict import LOCAL_RERANKERS, probability_note, status_of
from webrag_core.providers.rerankers.protocol import Reranker
from webrag_core.retrieval import merging
from webrag_core.retrieval.citations import cite, prove_citations, relevant
from webrag_core.retrieval.models import CorpusStats, RankedChunk, RetrievalResult, RetrievedChunk
from webrag_core.retrieval.reader import Reader
from webrag_core.retrieval.reranking import Ranking, rank
from webrag_core.retrieval.searcher import Searcher

logger = logging.getLogger(__name__)

Progress = Callable[[str, Round | None], None]

_TRACED_CANDIDATES = 20
_PLACES = 5  # to look next
_READ = 5  # passages, best first, that the reader judges in each round


@dataclass(frozen=True, slots=True)
class _Pending:
    """An expansion whose gain is known after the next round."""

    decision: ExpansionDecision
    expansion: Expansion
    source_url: str
    candidates_scored: int
    top_score: float
    chunks: int


@dataclass(slots=True, kw_only=True)
class Run:
    """State and steps of one run. `execute` is called once."""

    answer_id: int
    corpus: Corpus
    request: AnswerRequest
    policy: StopPolicy
    reranker: Reranker | None
    analysed: Analysed
    budget: int
    frontier: Frontier
    clock: Clock
    report: Progress
    searcher: Searcher | None = None
    sub_queries: list[str] = field(default_factory=list)
    tried: set[frozenset[str]] = field(default_factory=set)
    evidence: list[RankedChunk] = field(default_factory=list)
    history: list[EvaluationSignals] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    steps: list[ExpansionStep] = field(default_factory=list)
    pending: _Pending | None = None
    candidates: list[ScoredCandidate] = field(default_factory=list)
    ranked_links: list[ScoredCandidate] = field(default_factory=list)
    failed_previews: dict[str, FetchError] = field(default_factory=dict)
    looked: Expansion = field(default_factory=Expansion)
    previews: list[RankedPreview] = field(default_factory=list)
    reader: Reader | None = None
    reading: float | None = None
    passage: PassageFeatures = field(default_factory=PassageFeatures)
    mode: Literal["full_context", "chunk"] = "chunk"
    stats: CorpusStats = field(
        default_factory=lambda: CorpusStats(
            total_documents=0, total_parent_chunks=0, total_tokens=0, documents_matched=[]
        )
    )
    warnings: list[str] = field(default_factory=list)
    judged_by: str = "local"
    provider_failed: bool = False

    @property
    def settings(self) -> Settings:
        """Those of the corpus."""
        return self.corpus.settings

    async def execute(self) -> OrchestrationResult:
        """Fetch the seeds, run rounds until a stop, and return the result.

        Raises FetchError when no seed can be fetched, EmbeddingError when the model fails while indexing the first.
        """
        self.sub_queries = list(self.analysed.analysis.sub_queries)
        for warning in self.analysed.warnings:
            self.warn(warning)
        self.report("seed", None)
        await self._fetch_seeds()
        await self._remember()
        indexer = self.corpus.indexer
        self.reader = Reader() if self.settings.webrag_reader != "none" else None
        self.searcher = Searcher(self.corpus.database, indexer.embedder, await indexer.model_id(), self.settings)
        decision = await self._round()
        while decision.action != "stop":
            self.report(decision.action, None)
            with self.clock.phase("expansion_ms"):
                await self._act(decision)
            decision = await self._round()
        self.report("citations", None)
        return await self._finish(decision)

    def warn(self, message: str) -> None:
        """Log a degradation once and add it to the result."""
        if message not in self.warnings:
            logger.warning(message)
            self.warnings.append(message)

    async def _fetch_seeds(self) -> None:
        """Add every given URL to the scope. Failures are warnings as long as one URL succeeds.

        The first seed has at least WEBRAG_FETCH_TIMEOUT; the others share the remaining time of the run.
        """
        seeds = self.frontier.seeds
        seconds = dict.fromkeys(seeds, max(0.0, self.clock.seconds_left))
        seconds[seeds[0]] = max(self.clock.seconds_left, self.settings.webrag_fetch_timeout)
        with self.clock.phase("expansion_ms"):
            fetched = await self._fetch(dict.fromkeys(seeds, 0), seconds)
        if not self.frontier.depths:
            raise fetched.embedding_error or fetched.failed[seeds[0]]

    async def _remember(self) -> None:
        """Add the stored, fresh pages of the request's scope to what is searched."""
        request, settings = self.request, self.settings
        async with self.corpus.database.connection() as connection:
            stored = await stored_pages(
                connection,
                request.stored_scope(),
                seeds=list(self.frontier.depths),
                acquirer=self.corpus.ingestor.acquirer.name,
                max_age=settings.webrag_max_age if request.max_age is None else request.max_age,
                excluded=request.excluded_pages(),
            )
        self.frontier.remember(stored)

    async def _fetch(self, pages: dict[str, int], seconds: dict[str, float], *, preview: bool = False) -> Expansion:
        fetched = await fetch_pages(
            self.corpus,
            self.frontier,
            pages,
            round_number=len(self.rounds),
            run_id=f"answer-{self.answer_id}",
            seconds=seconds,
            max_age=self.request.max_age,
            preview=preview,
        )
        if preview:
            self.failed_previews.update(fetched.failed)
        else:
            for url, error in fetched.failed.items():
                self.warn(f"{url}: {_failure(error)}")
        for warning in fetched.warnings:
            self.warn(warning)
        if fetched.embedding_error is not None:
            self._fail_provider(fetched.embedding_error)
        return fetched

    def _fail_provider(self, error: EmbeddingError) -> None:
        self.provider_failed = True
        self.warn(f"stopped early: {error.message}")

    async def _round(self) -> ExpansionDecision:
        """One pass over the evidence. Its decision is recorded before it is acted upon."""
        begun = time.monotonic()
        await self._retrieve()
        await self._look_ahead()
        with self.clock.phase("merge_ms"):
            signals, decision = await self._judge()
        await self._record(signals, decision, (time.monotonic() - begun) * 1000)
        return decision

    async def _retrieve(self) -> None:
        """Search the scope for every sub-query, rerank, and merge with the evidence of earlier rounds.

        When the embedding model fails, the evidence of earlier rounds stays as it is; without any, words alone are
        searched.
        """
        assert self.searcher is not None
        scope = self.frontier.scope
        with self.clock.phase("retrieval_ms"):
            searches = (self.searcher.retrieve(query, scope, mode=self.request.mode) for query in self.sub_queries)
            results: list[RetrievalResult] = await asyncio.gather(*searches)
        if self.evidence and any(result.degraded for result in results):
            self.provider_failed = True
            self.warn("stopped early: the embedding model failed")
            return
        for result in results:
            for warning in result.warnings:
                self.warn(warning)
        self.tried.add(frozenset(self.sub_queries))
        self.mode, self.stats = results[0].mode, results[0].corpus_stats
        results, skipped = without_known(results, self.request.known_context, self.settings.redundancy_ceiling)
        if skipped:
            self.warn(KNOWN_SKIPPED)
        top_n = self.settings.reranker_top_n
        if self.mode == "full_context":  # everything is returned
            top_n = max(top_n, *(len(result.chunks) for result in results))
        with self.clock.phase("reranking_ms"):
            ranking = await self._rerank(results, top_n)
        # redundant passages stay: redundancy is a signal of the round, and is removed at the end
        limit = top_n if self.mode == "chunk" else max(top_n, self.stats.total_parent_chunks)
        self.evidence = merging.accumulate(self.evidence, merging.merge_sub_queries(ranking.chunks, limit=limit))
        document_ids = dict.fromkeys(ranked.chunk.document_id for ranked in self.evidence[:top_n])
        self.frontier.use(document_ids, round_number=len(self.rounds))

    async def _rerank(self, results: Sequence[RetrievalResult], top_n: int) -> Ranking:
        instruction = reranker_instruction(self.request.intent, self.request.constraints, self.settings)
        ranking = await rank(
            self.reranker, list(zip(self.sub_queries, results, strict=True)), top_n=top_n, instruction=instruction
        )
        for warning in ranking.warnings:
            self.warn(warning)
        index = self.sub_queries.index(self.analysed.analysis.original_query)
        self.judged_by = "local" if ranking.fell_back else self.settings.reranker_provider
        self.reading = await self._read(results[index].chunks[:_READ])
        self.passage = self._best_passage(results[index], ranking, index)
        return ranking

    @property
    def _judged_locally(self) -> bool:
        """Whether raw scores are retrieval's own. A provider's reranker takes the reader's place, too."""
        return self.judged_by in LOCAL_RERANKERS

    async def _read(self, chunks: Sequence[RetrievedChunk]) -> float | None:
        """What the reader says of the best of these passages; None without a reader."""
        if self.reader is None or not self._judged_locally:
            return None
        readings = await self.reader.read(self.request.query, chunks)
        if self.reader.failure is not None:
            self.warn(f"judged without the reading model: {self.reader.failure}")
        return max(readings, default=None)

    def _best_passage(self, result: RetrievalResult, ranking: Ranking, index: int) -> PassageFeatures:
        """Features of the passage that the configured reranker ranks first for the user's own query.

        The local reranker's probabilities depend on the rank; its features hold retrieval's raw score instead.
        """
        if not self._judged_locally and ranking.chunks[index]:
            best = merging.by_score(ranking.chunks[index])[0]
            return passage_features(best.chunk, best.reranked_score, result.term_idf)
        if not result.chunks:
            return PassageFeatures()
        return passage_features(result.chunks[0], result.chunks[0].raw_score, result.term_idf)

    @property
    def _looks_ahead(self) -> bool:
        """Whether pages are read out of previews, not followed by their links alone."""
        return self.policy.looks_ahead and self.settings.webrag_previews > 0

    async def _look_ahead(self) -> None:
        """Rank the links that could be followed. When the policy looks ahead, fetch the best of them as previews, and
        rank all previews by their best passage."""
        await self._rank_links()
        self.ranked_links, self.looked = self.candidates[:_TRACED_CANDIDATES], Expansion()
        settings, number = self.settings, len(self.rounds)
        left = settings.webrag_max_pages - self.frontier.tried
        looks = self._looks_ahead and number < self.budget and not self.provider_failed
        most = min(settings.webrag_previews, left) if looks else 0
        if self.corpus.ingestor.acquirer.name == PAID:
            most = min(most, PAID_PREVIEWS)
        chosen = chosen_candidates(self.candidates, self.frontier, limit=most, floor=settings.link_floor)
        if chosen and self.clock.seconds_left > 0:
            self.report("previews", None)
            seconds = max(0.0, self.clock.seconds_left)
            if self.corpus.ingestor.acquirer.name != REPLAYED:
                seconds = min(seconds, settings.webrag_preview_timeout)
            with self.clock.phase("expansion_ms"):
                pages = {candidate.url: candidate.link_depth for candidate in chosen}
                self.looked = await self._fetch(pages, dict.fromkeys(pages, seconds), preview=True)
            await self._rank_links()
        assert self.searcher is not None
        with self.clock.phase("retrieval_ms"):
            reader = self.reader if self._judged_locally else None
            self.previews = await rank_previews(self.searcher, self.request.query, self.frontier, reader)

    async def _rank_links(self) -> None:
        links = await self.frontier.load_candidates(self.corpus)
        self.candidates = score_links(
            links, self.request.query, self.analysed.analysis, self.settings.webrag_link_scorer
        )

    async def _judge(self) -> tuple[EvaluationSignals, ExpansionDecision]:
        """Compute the signals of the round and ask the policy, within the hard limits."""
        query, analysis, settings = self.request.query, self.analysed.analysis, self.settings
        number = len(self.rounds)
        signals = compute_signals(
            self.evidence,
            settings=settings,
            context_budget=settings.retrieval_context_budget,
            round=number,
            expansion_rounds_left=max(0, self.budget - number),
            can_rewrite=alternative_sub_queries(analysis, self.tried, self.analysed.rewrites) is not None,
            candidates_left=len(self.candidates),
            best_candidate_score=self.candidates[0].score if self.candidates else None,
            passage=self.passage,
            joins_parts=joins_parts(query),
            query_terms=len(set(terms(query))),
            previews_left=len(self.previews),
            best_preview_score=self._best_preview(),
            reading=self.reading,
            preview_reading=max((one.reading for one in self.previews if one.reading is not None), default=None),
        )
        self.history.append(signals)
        decision = bounded(
            self.policy.decide(self.history),
            signals,
            settings,
            budget=self.budget,
            pages=self.frontier.tried,
            out_of_time=self.clock.seconds_left <= 0,
            provider_failed=self.provider_failed,
        )
        if decision.rule == TIMEOUT:
            self.warn(f"stopped early: {decision.reason}")
        return signals, decision

    def _best_preview(self) -> float | None:
        """Raw score of the best preview; None when the evidence was scored by a provider, on another scale."""
        if not self._judged_locally:
            return None
        return max((preview.score for preview in self.previews), default=None)

    async def _record(self, signals: EvaluationSignals, decision: ExpansionDecision, elapsed_ms: float) -> None:
        """Store the round, and the step that led to it."""
        action: Action | None = None
        if self.pending is not None:
            action = self.pending.decision.action
            self.steps.append(self._step(self.pending, signals))
        completed = Round(
            round=len(self.rounds),
            action_taken=action,
            signals=signals,
            decision=decision,
            top_chunks=[
                ScoredRef(
                    chunk_id=ranked.chunk.chunk_id,
                    url=ranked.chunk.source_url,
                    heading=ranked.chunk.section_heading,
                    score=ranked.reranked_score,
                )
                for ranked in self.evidence[: self.settings.reranker_top_n]
            ],
            candidates=self.ranked_links,
            previews=[
                PreviewScore(url=preview.url, score=preview.score, reading=preview.reading) for preview in self.previews
            ],
            documents_total=len(self.frontier.depths),
            elapsed_ms=elapsed_ms,
        )
        self.rounds.append(completed)
        async with self.corpus.database.connection() as connection:
            await answers.record_round(connection, self.answer_id, completed)
        self.report("round", completed)

    def _step(self, pending: _Pending, signals: EvaluationSignals) -> ExpansionStep:
        return ExpansionStep(
            iteration=len(self.rounds),
            depth=max(self.frontier.depths.values()),
            source_url=pending.source_url,
            candidates_scored=pending.candidates_scored,
            candidates_expanded=pending.expansion.expanded,
            candidates_failed={url: error.reason.value for url, error in pending.expansion.failed.items()},
            chunks_added=self.stats.total_parent_chunks - pending.chunks,
            top_score_before=pending.top_score,
            top_score_after=signals.top_score,
            decision=pending.decision.action,
            rule=pending.decision.rule,
            reason=pending.decision.reason,
        )

    async def _act(self, decision: ExpansionDecision) -> None:
        """Follow the best links, or search in other words from the next round on."""
        expansion, source_url = Expansion(), self.frontier.seeds[0]
        most = self.settings.max_candidates_per_iteration
        if decision.action == "expand_breadth" and self._looks_ahead:
            best = self.previews[: min(most, decision.pages or most)]
            number = len(self.rounds)
            urls = [self.frontier.read(one.document_id, round_number=number) for one in best]
            expansion = Expansion(expanded=urls, failed=self.looked.failed)
        elif decision.action == "expand_breadth":
            chosen = chosen_candidates(
                self.candidates,
                self.frontier,
                limit=min(most, decision.pages or most, self.settings.webrag_max_pages - self.frontier.tried),
                floor=self.settings.link_floor,
            )
            source_url = chosen[0].from_url if chosen else source_url
            pages = {candidate.url: candidate.link_depth for candidate in chosen}
            expansion = await self._fetch(pages, dict.fromkeys(pages, max(0.0, self.clock.seconds_left)))
            if self.clock.seconds_left <= 0 and Reason.TIMEOUT in {error.reason for error in expansion.failed.values()}:
                self.warn("stopped early: pages were still being fetched when the time was over")
        else:
            other = alternative_sub_queries(self.analysed.analysis, self.tried, self.analysed.rewrites)
            self.sub_queries = other or self.sub_queries
        self.pending = _Pending(
            decision=decision,
            expansion=expansion,
            source_url=source_url,
            candidates_scored=len(self.candidates),
            top_score=self.history[-1].top_score,
            chunks=self.stats.total_parent_chunks,
        )

    async def _finish(self, decision: ExpansionDecision) -> OrchestrationResult:
        """Drop redundant passages, apply the budget, cite what is relevant, add neighbours. Full context keeps all.

        Citations are verified before they are stored.
        """
        settings = self.settings
        self._warn_of_previews()
        with self.clock.phase("merge_ms"):
            best = self.evidence
            if self.mode != "full_context":
                best = merging.without_redundancy(best, settings.redundancy_ceiling)
            best = merging.fit_budget(best, settings.retrieval_context_budget)
            citations = cite(best) if self.mode == "full_context" else relevant(cite(best))
        with self.clock.phase("locality_ms"):
            nearby = await self._neighbours(best) if settings.locality_expansion_enabled else []
        chunks = merging.fit_budget([*best, *nearby], settings.retrieval_context_budget)
        async with self.corpus.database.transaction() as connection:
            await prove_citations(connection, citations)
            await answers.finish_run(connection, self.answer_id, decision, citations, self.warnings)
        return OrchestrationResult(
            status=status_of(decision.probability_complete, self.passage.raw_score, len(citations)),
            answer_id=self.answer_id,
            query=self.request.query,
            url=self.frontier.seeds[0],
            chunks=merging.reading_order(chunks),
            citations=citations,
            query_analysis=self.analysed.analysis,
            expansion_steps=self.steps,
            rounds=self.rounds,
            corpus_stats=self.stats,
            timing=self.clock.stop(),
            mode=self.mode,
            policy=self.policy.name,
            final_decision=decision,
            total_iterations=len(self.steps),
            total_urls_ingested=sum(document.outcome == "fetched" for document in self.frontier.documents),
            documents=self.frontier.documents,
            look_next=[*(one.url for one in self.previews), *(one.url for one in self.candidates)][:_PLACES],
            probability_complete=decision.probability_complete,
            probability_note=probability_note(
                self.policy.name,
                self.corpus.indexer.embedder.identity,
                self.judged_by,
                self.history[-1],
            ),
            warnings=self.warnings,
        )

    def _warn_of_previews(self) -> None:
        """One warning for all linked pages that could not be fetched: nobody asked for them by name."""
        if self.failed_previews:
            url, error = next(iter(self.failed_previews.items()))
            others = len(self.failed_previews) - 1
            more = f", and {others} more linked pages (see the list of pages)" if others else ""
            self.warn(f"{url}: {_failure(error)}{more}")

    async def _neighbours(self, best: Sequence[RankedChunk]) -> list[RankedChunk]:
        """Neighbours of the strong hits that the run has not ranked; dropped passages do not return."""
        assert self.searcher is not None
        nearby = await neighbours(
            self.searcher,
            best,
            radius=self.settings.locality_expansion_radius,
            min_score=self.settings.min_score_for_expansion,
        )
        seen = {ranked.chunk.chunk_id for ranked in self.evidence}
        seen |= known_passages(
            (ranked.chunk for ranked in nearby), self.request.known_context, self.settings.redundancy_ceiling
        )
        return [neighbour for neighbour in nearby if neighbour.chunk.chunk_id not in seen]


def _failure(error: FetchError) -> str:
    """The message, with the HTTP status unless it is part of it."""
    status = "" if error.status is None or str(error.status) in error.message else f" (HTTP {error.status})"
    return f"{error.message}{status}"
