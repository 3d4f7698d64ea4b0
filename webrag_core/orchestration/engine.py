"""Layer 4's face: the loop. Retrieve, rerank, evaluate; stop or expand; return evidence with citations."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError, Reason, StoreError, WebragError
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.orchestration import answers
from webrag_core.orchestration.evaluator import compute_signals
from webrag_core.orchestration.expander import ExpansionOutcome, Walk, expand, frontier, score_frontier
from webrag_core.orchestration.hints import LEFT_OUT, known_passages, reranker_instruction, without_known
from webrag_core.orchestration.limits import TIMEOUT, bounded, chosen_candidates
from webrag_core.orchestration.llm_analysis import Analyst
from webrag_core.orchestration.locality import neighbours
from webrag_core.orchestration.models import (
    Action,
    ExpansionDecision,
    ExpansionStep,
    OrchestrationResult,
    Round,
    ScoredCandidate,
    ScoredRef,
)
from webrag_core.orchestration.policies import StopPolicy, get_policy
from webrag_core.orchestration.query_analyzer import alternative_sub_queries
from webrag_core.orchestration.query_grammar import joins_parts
from webrag_core.orchestration.run_state import AnswerRequest, Progress, RunState
from webrag_core.orchestration.support import support
from webrag_core.retrieval import merging as merger
from webrag_core.retrieval.citations import prove_citations
from webrag_core.retrieval.citing import cite
from webrag_core.retrieval.models import RankedChunk, RetrievalResult
from webrag_core.retrieval.reranking import make_reranker, rank
from webrag_core.retrieval.scope import Scope
from webrag_core.retrieval.searcher import Searcher

__all__ = ["AnswerRequest", "OrchestratorEngine", "Progress"]

_TRACED_CANDIDATES = 20


class OrchestratorEngine:
    """Runs the loop over an open corpus. One engine serves any number of concurrent runs."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._settings: Settings = corpus.settings
        self._reranker = make_reranker(self._settings)
        self._analyst = Analyst(self._settings)

    async def run(self, request: AnswerRequest, progress: Progress | None = None) -> OrchestrationResult:
        """Evidence for `request.query`, starting at `request.urls` (the first is the seed).

        `progress(phase, round)` is called as phases begin and rounds end. Every stop has one rule id; a deadline
        returns what there is, with a warning.

        Raises InvalidInputError for an unusable request before anything is written, FetchError when no given URL
        can be had, StoreError when the database goes away.
        """
        report = progress or (lambda phase, done: None)
        started = time.monotonic()
        seeds = request.seeds()
        if len(seeds) > self._settings.webrag_max_pages:
            raise InvalidInputError(
                f"{len(seeds)} URLs are given; one answer takes in {self._settings.webrag_max_pages} pages at most"
                " (WEBRAG_MAX_PAGES)"
            )
        policy = get_policy(request.policy, self._settings)
        analysed = await self._analyst.analyse(
            request.query,
            intent=request.intent,
            known_context=request.known_context,
            constraints=request.constraints,
        )
        budget = self._settings.max_expansion_depth
        if request.expansion_budget is not None:
            budget = request.expansion_budget
        answer_id = await self._registered(request, seeds, policy, budget)
        state = RunState(
            answer_id=answer_id,
            analysis=analysed.analysis,
            walk=Walk(seeds),
            budget=budget,
            deadline=started + self._settings.webrag_answer_timeout,
            sub_queries=list(analysed.analysis.sub_queries),
            rewrites=analysed.rewrites,
        )
        for warning in analysed.warnings:
            state.warn(warning)
        state.timing.query_analysis_ms = (time.monotonic() - started) * 1000
        failure: str | None = "internal_error"
        try:
            result = await self._run(request, policy, state, report, started)
            failure = None
        except asyncio.CancelledError:
            failure = "cancelled"
            raise
        except WebragError as error:
            failure = error.code
            raise
        finally:
            if failure is not None and failure != StoreError.code:
                await asyncio.shield(self._failed(answer_id, failure))
        return result

    async def _registered(self, request: AnswerRequest, seeds: tuple[str, ...], policy: StopPolicy, budget: int) -> int:
        """The id of the run's row. A run that is cancelled meanwhile leaves its row as failed, not as running."""
        registering = asyncio.ensure_future(self._register(request, seeds, policy, budget))
        try:
            return await asyncio.shield(registering)
        except asyncio.CancelledError:
            await asyncio.shield(self._failed(await registering, "cancelled"))
            raise

    async def _register(self, request: AnswerRequest, seeds: tuple[str, ...], policy: StopPolicy, budget: int) -> int:
        async with self._corpus.database.connection() as connection:
            return await answers.start_run(
                connection,
                seed_url=seeds[0],
                query=request.query,
                policy=policy.name,
                options={
                    "urls": list(seeds),
                    "budget": budget,
                    "mode": request.mode,
                    "intent": request.intent,
                    "known_context": request.known_context,
                    "constraints": list(request.constraints),
                },
            )

    async def _failed(self, answer_id: int, reason: str) -> None:
        async with self._corpus.database.connection() as connection:
            await answers.fail_run(connection, answer_id, reason)

    async def _run(
        self,
        request: AnswerRequest,
        policy: StopPolicy,
        state: RunState,
        report: Progress,
        started: float,
    ) -> OrchestrationResult:
        report("seed", None)
        await self._take_seeds(state)
        searcher = Searcher(
            self._corpus.database,
            self._corpus.indexer.embedder,
            await self._corpus.indexer.model_id(),
            self._settings,
        )
        action: Action | None = None
        while True:
            decision = await self._round(request, policy, searcher, state, action, report)
            if decision.action == "stop":
                break
            report(decision.action, None)
            action = decision.action
            await self._expand(state, decision)
        report("citations", None)
        return await self._finish(request, policy, searcher, state, decision, started)

    async def _take_seeds(self, state: RunState) -> None:
        """Every given URL enters the scope; those that fail are warnings as long as one succeeds, and so are those
        that are still to be fetched when the time is over."""
        begun = time.monotonic()
        failures: list[FetchError] = []
        for url in state.walk.seeds:
            try:
                added = await self._take_seed(url, state)
            except FetchError as error:
                failures.append(error)
                state.walk.fail(url, error, round_number=0, depth=0)
                state.warn(f"{url}: {error.message}")
            else:
                state.walk.add(url, added, round_number=0, depth=0)
                for warning in added.warnings:
                    state.warn(warning)
        state.timing.expansion_ms += (time.monotonic() - begun) * 1000
        if not state.walk.depths:
            raise failures[0]

    async def _take_seed(self, url: str, state: RunState) -> AddedDocument:
        """The first page is worth its own time limit; those after it end with the run's."""
        try:
            async with asyncio.timeout(max(0.0, state.seconds_left) if state.walk.documents else None):
                return await self._corpus.add(url, run_id=f"answer-{state.answer_id}")
        except TimeoutError:
            raise FetchError(Reason.TIMEOUT, "not fetched: the time of this answer is over") from None

    async def _round(
        self,
        request: AnswerRequest,
        policy: StopPolicy,
        searcher: Searcher,
        state: RunState,
        action: Action | None,
        report: Progress,
    ) -> ExpansionDecision:
        """One retrieve, rerank, evaluate pass; its decision is recorded before it is acted upon."""
        begun = time.monotonic()
        number = len(state.rounds)
        chunks_before = state.stats.total_parent_chunks if state.stats else 0
        latest = await self._retrieve(request, searcher, state)
        state.evidence = merger.accumulate(state.evidence, latest)
        scored = time.monotonic()
        candidates = await frontier(self._corpus, state.walk)
        state.candidates = score_frontier(candidates, request.query, state.analysis, self._settings.webrag_link_scorer)
        signals = compute_signals(
            state.evidence,
            settings=self._settings,
            context_budget=self._settings.retrieval_context_budget,
            round=number,
            expansion_rounds_left=max(0, state.budget - number),
            can_rewrite=alternative_sub_queries(state.analysis, state.tried, state.rewrites) is not None,
            candidates_left=len(state.candidates),
            best_candidate_score=state.candidates[0].score if state.candidates else None,
            support=state.support,
            joins_parts=joins_parts(request.query),
        )
        state.history.append(signals)
        decision = bounded(
            policy.decide(state.history),
            signals,
            self._settings,
            budget=state.budget,
            pages=len(state.walk.documents),
            out_of_time=state.seconds_left <= 0,
        )
        if decision.rule == TIMEOUT:
            state.warn(f"stopped early: {decision.reason}")
        state.timing.merge_ms += (time.monotonic() - scored) * 1000
        done = Round(
            round=number,
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
                for ranked in state.evidence[: self._settings.reranker_top_n]
            ],
            candidates=state.candidates[:_TRACED_CANDIDATES],
            documents_total=len(state.walk.depths),
            elapsed_ms=(time.monotonic() - begun) * 1000,
        )
        state.rounds.append(done)
        async with self._corpus.database.connection() as connection:
            await answers.record_round(connection, state.answer_id, done)
        if state.steps and state.stats is not None:
            state.steps[-1].top_score_after = signals.top_score
            state.steps[-1].chunks_added = state.stats.total_parent_chunks - chunks_before
        report("round", done)
        return decision

    async def _retrieve(self, request: AnswerRequest, searcher: Searcher, state: RunState) -> list[RankedChunk]:
        scope = Scope.of(state.walk.depths)
        top_n = self._settings.reranker_top_n * 2**state.relaxed
        begun = time.monotonic()
        found: list[RetrievalResult] = await asyncio.gather(
            *(searcher.retrieve(query, scope, mode=request.mode, relaxed=state.relaxed) for query in state.sub_queries)
        )
        retrieved = time.monotonic()
        new = without_known(found, request.known_context, self._settings.redundancy_ceiling)
        if any(one is not other for one, other in zip(new, found, strict=True)):
            state.warn(LEFT_OUT)
        found = new
        instruction = reranker_instruction(request.intent, request.constraints, self._settings)
        ranking = await rank(
            self._reranker,
            list(zip(state.sub_queries, found, strict=True)),
            top_n=top_n,
            instruction=instruction,
        )
        for warning in ranking.warnings:
            state.warn(warning)
        state.timing.retrieval_ms += (retrieved - begun) * 1000
        state.timing.reranking_ms += (time.monotonic() - retrieved) * 1000
        state.tried.add(frozenset(state.sub_queries))
        state.mode = found[0].mode
        if request.mode == "full_context" != state.mode:
            state.warn("the pages exceed RETRIEVAL_CONTEXT_BUDGET: the best chunks instead of the full context")
        state.stats = found[0].corpus_stats
        state.support = support(found[state.sub_queries.index(state.analysis.original_query)])
        return merger.merge_sub_queries(ranking.chunks, limit=top_n)  # redundancy is a signal first, and cut at the end

    async def _expand(self, state: RunState, decision: ExpansionDecision) -> None:
        begun = time.monotonic()
        number = len(state.rounds)
        outcome = ExpansionOutcome([], {}, False)
        chosen: list[ScoredCandidate] = []
        if decision.action == "expand_breadth":
            chosen = chosen_candidates(decision, state, self._settings)
            outcome = await expand(
                self._corpus,
                state.walk,
                chosen,
                round_number=number,
                run_id=f"answer-{state.answer_id}",
                seconds=state.seconds_left,
            )
            if outcome.timed_out:
                state.warn("stopped early: pages were still being fetched when the time was over")
            for url, reason in outcome.failed.items():
                state.warn(f"{url}: {reason}")
            for warning in outcome.warnings:
                state.warn(warning)
        elif decision.action == "expand_recall":
            state.relaxed += 1
        else:
            other = alternative_sub_queries(state.analysis, state.tried, state.rewrites)
            state.sub_queries = other or state.sub_queries
        state.steps.append(
            ExpansionStep(
                iteration=number,
                depth=max(state.walk.depths.values()),
                source_url=chosen[0].from_url if chosen else state.walk.seeds[0],
                candidates_scored=len(state.candidates),
                candidates_expanded=outcome.expanded,
                candidates_failed=outcome.failed,
                chunks_added=0,  # known after the next round
                top_score_before=state.history[-1].top_score,
                top_score_after=state.history[-1].top_score,
                decision=decision.action,
                rule=decision.rule,
                reason=decision.reason,
            )
        )
        state.timing.expansion_ms += (time.monotonic() - begun) * 1000

    async def _finish(
        self,
        request: AnswerRequest,
        policy: StopPolicy,
        searcher: Searcher,
        state: RunState,
        decision: ExpansionDecision,
        started: float,
    ) -> OrchestrationResult:
        """Final dedup and budget, citations, locality, result. The citations are proved before they are stored."""
        begun = time.monotonic()
        kept = merger.without_redundancy(state.evidence, self._settings.redundancy_ceiling)
        kept = merger.fit_budget(kept, self._settings.retrieval_context_budget)
        citations = cite(kept)
        state.timing.merge_ms += (time.monotonic() - begun) * 1000
        begun = time.monotonic()
        nearby: Sequence[RankedChunk] = []
        if self._settings.locality_expansion_enabled:
            nearby = await neighbours(
                searcher,
                kept,
                radius=self._settings.locality_expansion_radius,
                min_score=self._settings.min_score_for_expansion,
            )
            judged = {ranked.chunk.chunk_id for ranked in state.evidence}  # what was dropped does not come back so
            judged |= known_passages(
                (ranked.chunk for ranked in nearby), request.known_context, self._settings.redundancy_ceiling
            )
            nearby = [neighbour for neighbour in nearby if neighbour.chunk.chunk_id not in judged]
        state.timing.locality_ms = (time.monotonic() - begun) * 1000
        chunks = merger.fit_budget([*kept, *nearby], self._settings.retrieval_context_budget)
        async with self._corpus.database.transaction() as connection:
            await prove_citations(connection, citations)
            await answers.finish_run(connection, state.answer_id, decision, citations, state.warnings)
        state.timing.total_ms = (time.monotonic() - started) * 1000
        assert state.stats is not None
        return OrchestrationResult(
            answer_id=state.answer_id,
            query=request.query,
            url=state.walk.seeds[0],
            chunks=merger.reading_order(chunks),
            citations=citations,
            query_analysis=state.analysis,
            expansion_steps=state.steps,
            rounds=state.rounds,
            corpus_stats=state.stats,
            timing=state.timing,
            mode=state.mode,
            policy=policy.name,
            final_decision=decision,
            total_iterations=len(state.steps),
            total_urls_ingested=sum(document.outcome == "fetched" for document in state.walk.documents),
            documents=state.walk.documents,
            probability_complete=decision.probability_complete,
            warnings=state.warnings,
        )
