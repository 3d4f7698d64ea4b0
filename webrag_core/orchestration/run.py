"""One answer run: retrieve, judge, record, act; until the policy or a limit stops it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from webrag_core.acquisition.acquirer import FETCHED_DIRECTLY, LimitedAcquirer
from webrag_core.config import Settings
from webrag_core.corpus.refresh import describe_site
from webrag_core.errors import ChatError, EmbeddingError, FetchError, Reason
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.indexing.terms import terms
from webrag_core.judging.chat_judge import ChatJudge, failure_warning
from webrag_core.judging.verdict import Verdict
from webrag_core.language.detection import detected
from webrag_core.orchestration import answers
from webrag_core.orchestration.clock import Clock
from webrag_core.orchestration.conclusion import Conclude, Conclusion
from webrag_core.orchestration.cost import Cost
from webrag_core.orchestration.events import PageSeen, PhaseBegun, RoundDone, Tell
from webrag_core.orchestration.evidence import Evidence
from webrag_core.orchestration.frontier import (
    Expansion,
    Frontier,
    chosen_candidates,
    fetch_pages,
    previews_to_fetch,
    run_document,
)
from webrag_core.orchestration.judged import decide, wants_verdict
from webrag_core.orchestration.judged_links import in_order_of, shown_links
from webrag_core.orchestration.limits import COST, TIMEOUT, bounded
from webrag_core.orchestration.link_reranking import reranked_links
from webrag_core.orchestration.link_scorers import LinkCandidate, score_links
from webrag_core.orchestration.llm_analysis import Analysed
from webrag_core.orchestration.memory import mapped_pages, stored_pages
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
from webrag_core.orchestration.previews import METERED_PREVIEWS, RankedPreview, rank_previews
from webrag_core.orchestration.query_analyzer import MAX_SUB_QUERIES, alternative_sub_queries, joins_parts
from webrag_core.orchestration.request import AnswerRequest
from webrag_core.orchestration.signals import compute_signals
from webrag_core.orchestration.verdict import probability_note, status_of
from webrag_core.percentages import cut
from webrag_core.providers.rerankers.protocol import Reranker
from webrag_core.readable import counted
from webrag_core.result_warnings import Caution, log_warning
from webrag_core.retrieval import merging
from webrag_core.retrieval.citations import ask_pages, prove_citations, with_pages
from webrag_core.retrieval.reader import make_reader
from webrag_core.retrieval.searcher import Searcher
from webrag_core.trace import current_trace_id, span

logger = logging.getLogger(__name__)

_TRACED_CANDIDATES = 20
_PLACES = 5  # to look next


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
    judge: ChatJudge | None
    conclude: Conclude | None
    analysed: Analysed
    budget: int
    frontier: Frontier
    clock: Clock
    cost: Cost
    tell: Tell
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))
    sub_queries: list[str] = field(default_factory=list)
    tried: set[frozenset[str]] = field(default_factory=set)
    evidence: Evidence = field(init=False)  # from the first round on
    history: list[EvaluationSignals] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    steps: list[ExpansionStep] = field(default_factory=list)
    pending: _Pending | None = None
    candidates: list[ScoredCandidate] = field(default_factory=list)
    ranked_links: list[ScoredCandidate] = field(default_factory=list)
    links: dict[str, LinkCandidate] = field(default_factory=dict)
    found_on: dict[str, str] = field(default_factory=dict)  # by the URL of a preview, the page that links to it
    failed_previews: dict[str, FetchError] = field(default_factory=dict)
    looked: Expansion = field(default_factory=Expansion)
    previews: list[RankedPreview] = field(default_factory=list)
    map_files: list[str] = field(default_factory=list)
    direct: dict[str, list[str]] = field(default_factory=dict)  # pages that came another way, by warning
    map_seeds: list[int] = field(default_factory=list)
    described: bool = False
    warnings: list[Caution] = field(default_factory=list)
    provider_failed: bool = False
    judged: tuple[list[int], Verdict] | None = None  # the last verdict, and the chunks that it is on
    shown_links: list[str] = field(default_factory=list)  # URLs of the links that the judge chose from
    too_dear: str | None = None  # which limit of cost is reached

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
            self.warn(Caution(warning))
        self.tell(PhaseBegun.of("seed"))
        await self._fetch_seeds()
        if not self._pays:
            await self._describe()
        await self._remember()
        indexer, settings = self.corpus.indexer, self.settings
        self.evidence = Evidence(
            request=self.request,
            question=self.analysed.analysis.original_query,
            parts=self.analysed.analysis.parts,
            settings=settings,
            searcher=Searcher(self.corpus.database, indexer.embedder, await indexer.model_id(), settings),
            reranker=self.reranker,
            reader=make_reader(settings),
            clock=self.clock,
            warn=lambda text: self.warn(Caution(text)),
        )
        decision = await self._round()
        while decision.action != "stop":
            self.tell(PhaseBegun.of(decision.action))
            with self.clock.phase("expansion_ms"):
                await self._act(decision)
            decision = await self._round()
        self.tell(PhaseBegun.of("citations"))
        return await self._finish(decision)

    def warn(self, warning: Caution) -> None:
        """Log a degradation once and add it to the result. Pages that came another way are counted, see `_finish`."""
        if warning.about is not None and warning.message.endswith(FETCHED_DIRECTLY):
            pages = self.direct.setdefault(warning.message, [])
            if not pages:
                log_warning(logger, warning)
            pages.append(warning.about)
        elif warning not in self.warnings:
            log_warning(logger, warning)
            self.warnings.append(warning)

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

    @property
    def _pays(self) -> bool:
        """Whether every page costs money: then none is bought before the decision to go on."""
        return self.corpus.acquirer.metered

    async def _describe(self) -> None:
        """Read what the site of the first start page says about its pages, unless that is stored; a run of scope
        `run`, which uses nothing stored, reads it anew. Only for a run that looks ahead."""
        self.described = True
        seconds = self.clock.seconds_left
        wanted = self.settings.webrag_site_index and self._looks_ahead and self.budget > 0
        if not wanted or seconds <= 0:
            return
        acquirer = self.corpus.acquirer
        if not acquirer.frozen:
            seconds = min(seconds, self.settings.webrag_preview_timeout)
        url = next(self.frontier.urls[document_id] for document_id in self.frontier.depths)
        anew = self.request.stored_scope() == "run"
        with self.clock.phase("expansion_ms"):
            try:
                described = await describe_site(self.corpus.database, acquirer, url, seconds=seconds, anew=anew)
            except FetchError as error:
                self.warn(Caution.on(url, error.message))
                return
        if described is not None:
            self.map_files = [file.url for file in described.files if file.bytes_raw or file.outcome != "read"]
            for warning in described.warnings:
                if warning.about is not None:  # of one file; the others count entries left out
                    self.warn(warning)

    async def _remember(self) -> None:
        """Add the stored, fresh pages of the request's scope to what is searched, and what site maps name to what can
        be followed."""
        request, settings = self.request, self.settings
        seeds = self.map_seeds = list(self.frontier.depths)
        async with self.corpus.database.connection() as connection:
            stored = await stored_pages(
                connection,
                request.stored_scope(),
                seeds=seeds,
                acquirer=self.corpus.acquirer.name,
                max_age=settings.webrag_max_age if request.max_age is None else request.max_age,
                excluded=request.excluded_pages(),
            )
        self.frontier.remember(stored)
        await self._load_map()

    async def _load_map(self) -> None:
        """Take what the stored map of the site names to what can be followed."""
        request = self.request
        since = self.begun if request.stored_scope() == "run" else None
        async with self.corpus.database.connection() as connection:
            self.frontier.mapped = await mapped_pages(
                connection, seeds=self.map_seeds, query=request.question, since=since
            )

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
            arrived=lambda url, result: self._tell_page(pages[url], preview, url, result),
        )
        if preview:
            self.failed_previews.update(fetched.failed)
        else:
            for url, error in fetched.failed.items():
                self.warn(Caution.on(url, error.with_status))
        for warning in fetched.warnings:
            self.warn(warning)
        if fetched.embedding_error is not None:
            self._fail_provider(fetched.embedding_error)
        return fetched

    def _tell_page(self, depth: int, preview: bool, url: str, result: AddedDocument | FetchError) -> None:
        document = run_document(url, result, round_number=len(self.rounds), depth=depth, preview=preview)
        self.tell(PageSeen(page=document))

    def _fail_provider(self, error: EmbeddingError) -> None:
        self.provider_failed = True
        self.warn(Caution(f"stopped early: {error.message}"))

    async def _round(self) -> ExpansionDecision:
        """One pass over the evidence. Its decision is recorded before it is acted upon."""
        begun = time.monotonic()
        with span("round", number=len(self.rounds)):
            await self._retrieve()
            self.too_dear = await self.cost.reached()
            signals, decision = await self._decide()
            await self._record(signals, decision, (time.monotonic() - begun) * 1000)
        return decision

    async def _decide(self) -> tuple[EvaluationSignals, ExpansionDecision]:
        """Look ahead and judge. Where pages cost money the evidence is judged first, beside what was bought before, and
        the map is read and pages are bought when it is decided to go on."""
        if not self._pays:
            await self._rank_links()
            await self._look_ahead(self.settings.webrag_previews)
            return await self._judged()
        await self._rank_links()
        await self._rank_previews()
        self.ranked_links, self.looked = self.candidates[:_TRACED_CANDIDATES], Expansion()
        if not self.described and not self._is_spent and (await self._wanted())[1].action == "expand_breadth":
            await self._describe()
            await self._load_map()
            await self._rank_links()
        signals, decision = await self._judged()
        if decision.action == "expand_breadth":
            await self._rerank_links()
            self.candidates = in_order_of(
                signals.verdict, self.shown_links, self.candidates, floor=self.settings.link_floor
            )
            most = self.settings.max_candidates_per_iteration
            acquirer = self.corpus.acquirer
            limited = isinstance(acquirer, LimitedAcquirer) and acquirer.limited
            to_choose_from = min(1 if limited else METERED_PREVIEWS, self.settings.webrag_previews)
            await self._look_ahead(max(to_choose_from, min(most, decision.pages or most)) - len(self.previews))
        return signals, decision

    @property
    def _is_spent(self) -> bool:
        """Whether nothing more may be fetched, whatever the policy decides."""
        pages = self.frontier.tried >= self.settings.webrag_max_pages
        stopped = self.provider_failed or self.too_dear is not None or self.clock.seconds_left <= 0
        return pages or stopped or len(self.rounds) >= self.budget

    async def _retrieve(self) -> None:
        """Gather evidence for every sub-query. Stored pages that it came from count as read."""
        if await self.evidence.gather(self.sub_queries, self.frontier.scope):
            self.tried.add(frozenset(self.sub_queries))
            document_ids = dict.fromkeys(ranked.chunk.document_id for ranked in self.evidence.leading)
            for document in self.frontier.use(document_ids, round_number=len(self.rounds)):
                self.tell(PageSeen(page=document))
        if self.evidence.degraded:  # no page could be indexed, and words alone judge none
            self.provider_failed = True
            self.warn(Caution("stopped early: the embedding model failed"))

    @property
    def _looks_ahead(self) -> bool:
        """Whether pages are read out of previews, not followed by their links alone."""
        return self.policy.looks_ahead and self.settings.webrag_previews > 0

    async def _look_ahead(self, most: int) -> None:
        """Fetch the best of the ranked links as previews, at most `most`, when the policy looks ahead; and rank all
        previews by their best passage."""
        self.ranked_links, self.looked = self.candidates[:_TRACED_CANDIDATES], Expansion()
        settings, acquirer = self.settings, self.corpus.acquirer
        looks = self._looks_ahead and not self._is_spent
        most = max(0, min(most, settings.webrag_max_pages - self.frontier.tried)) if looks else 0
        chosen = previews_to_fetch(self.candidates, self.frontier, limit=most, floor=settings.link_floor)
        if chosen and self.clock.seconds_left > 0:
            self.tell(PhaseBegun.of("previews"))
            seconds = max(0.0, self.clock.seconds_left)
            # how busy the machine is must not change what a run of a snapshot sees; a page cut off is paid for, too
            if not acquirer.frozen and not self._pays:
                seconds = min(seconds, settings.webrag_preview_timeout)
            with self.clock.phase("expansion_ms"):
                pages = {candidate.url: candidate.link_depth for candidate in chosen}
                self.found_on.update((candidate.url, candidate.from_url) for candidate in chosen)
                self.looked = await self._fetch(pages, dict.fromkeys(pages, seconds), preview=True)
            await self._rank_links()
        await self._rank_previews()

    async def _rank_previews(self) -> None:
        with self.clock.phase("retrieval_ms"):
            self.previews = await rank_previews(
                self.evidence.searcher, self.evidence.weakest.queries, self.frontier, self.evidence.reader
            )

    async def _rank_links(self) -> None:
        links = await self.frontier.load_candidates(self.corpus)
        self.links = {link.url: link for link in links}
        self.candidates = score_links(
            links, self.evidence.weakest.queries, self.analysed.analysis, self.settings.webrag_link_scorer
        )

    async def _rerank_links(self) -> None:
        """Let the configured reranker order the links, where a provider is configured and works."""
        if self.reranker is None or self.evidence.judged_locally:
            return
        with self.clock.phase("reranking_ms"):
            self.candidates, failure = await reranked_links(
                self.candidates,
                self.links,
                self.reranker,
                self.evidence.weakest.queries[-1],
                instruction=self.evidence.instruction,
                floor=self.settings.link_floor,
            )
        if failure is not None:
            self.warn(Caution(failure))

    async def _judged(self) -> tuple[EvaluationSignals, ExpansionDecision]:
        """The signals of the round, kept in the history, and what is decided within the hard limits."""
        signals, wanted = await self._wanted()
        with self.clock.phase("merge_ms"):
            decision = bounded(
                wanted,
                signals,
                self.settings,
                budget=self.budget,
                pages=self.frontier.tried,
                out_of_time=self.clock.out_of_time,
                provider_failed=self.provider_failed,
                too_dear=self.too_dear,
            )
        self.history.append(signals)
        if decision.rule in (TIMEOUT, COST):
            self.warn(Caution(f"stopped early: {decision.reason}"))
        return signals, decision

    async def _wanted(self) -> tuple[EvaluationSignals, ExpansionDecision]:
        """The signals of the round, with the verdict of the judge where it was asked, and what they want, whatever the
        limits."""
        with self.clock.phase("merge_ms"):
            signals = self._signals()
            decision = self.policy.decide([*self.history, signals])
        ends = signals.expansion_rounds_left <= 0 or self._is_spent
        asks = self.judge is not None and self.policy.claims and not self.provider_failed
        if asks and wants_verdict(decision, signals, self.settings, ends=ends):
            signals = signals.model_copy(update={"verdict": await self._verdict()})
        return signals, decide(self.policy, [*self.history, signals])

    def _signals(self) -> EvaluationSignals:
        analysis, settings, number = self.analysed.analysis, self.settings, len(self.rounds)
        weakest = self.evidence.weakest
        judged = weakest.queries[-1]
        return compute_signals(
            self.evidence.ranked,
            settings=settings,
            context_budget=settings.retrieval_context_budget,
            round=number,
            expansion_rounds_left=max(0, self.budget - number),
            can_rewrite=alternative_sub_queries(analysis, self.tried, self.analysed.rewrites) is not None,
            candidates_left=len(self.candidates),
            best_candidate_score=max((candidate.score for candidate in self.candidates), default=None),
            part=judged if len(weakest.queries) > 1 else None,
            passage=weakest.passage,
            joins_parts=joins_parts(judged),
            query_terms=len(set(terms(judged, detected(judged)))),
            previews_left=len(self.previews),
            best_preview_score=max((preview.score for preview in self.previews), default=None),
            reading=weakest.reading,
            preview_reading=max(
                (preview.reading for preview in self.previews if preview.reading is not None), default=None
            ),
            provider_score=weakest.provider_score,
        )

    async def _verdict(self) -> Verdict | None:
        """What the chat model says of the best passages; None without one, and when it fails, with a warning."""
        if self.judge is None:
            return None
        analysis = self.analysed.analysis
        chunks = [ranked.chunk for ranked in self.evidence.leading]
        chunk_ids = [chunk.chunk_id for chunk in chunks]
        if self.judged is not None and self.judged[0] == chunk_ids:  # the map may have brought links, no evidence
            return self.judged[1]
        chooses = self._pays and self.budget > len(self.rounds) and not self._is_spent
        links = shown_links(self.candidates, self.links) if chooses else {}
        try:
            with self.clock.phase("judging_ms"):
                verdict = await self.judge.judge(
                    analysis.original_query,
                    analysis.parts,
                    chunks,
                    links=list(links.values()),
                    seconds=max(1.0, self.clock.seconds_left),
                )
        except ChatError as error:
            self.warn(Caution(failure_warning(error)))
            self.judge = None  # it is not waited for in every round
            return None
        self.shown_links, self.judged = list(links), (chunk_ids, verdict)
        return verdict

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
                for ranked in self.evidence.leading
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
        self.tell(RoundDone.of(completed))

    def _step(self, pending: _Pending, signals: EvaluationSignals) -> ExpansionStep:
        return ExpansionStep(
            iteration=len(self.rounds),
            depth=max(self.frontier.depths.values()),
            source_url=pending.source_url,
            candidates_scored=pending.candidates_scored,
            candidates_expanded=pending.expansion.expanded,
            candidates_failed={url: error.reason.value for url, error in pending.expansion.failed.items()},
            chunks_added=self.evidence.stats.total_parent_chunks - pending.chunks,
            top_score_before=pending.top_score,
            top_score_after=signals.top_score,
            decision=pending.decision.action,
            rule=pending.decision.rule,
            reason=pending.decision.reason,
        )

    async def _act(self, decision: ExpansionDecision) -> None:
        """Follow the best links, or search in other words from the next round on; and for what the judge misses."""
        expansion, source_url = Expansion(), self.frontier.seeds[0]
        most = self.settings.max_candidates_per_iteration
        if decision.action == "expand_breadth" and self._looks_ahead:
            best = self.previews[: min(most, decision.pages or most)]
            number = len(self.rounds)
            documents = [self.frontier.read(item.document_id, round_number=number) for item in best]
            for document in documents:
                self.tell(PageSeen(page=document))
            expansion = Expansion(expanded=[document.url for document in documents], failed=self.looked.failed)
            source_url = next((self.found_on[item.url] for item in best if item.url in self.found_on), source_url)
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
                self.warn(Caution("stopped early: pages were still being fetched when the time was over"))
        else:
            other = alternative_sub_queries(self.analysed.analysis, self.tried, self.analysed.rewrites)
            self.sub_queries = other or self.sub_queries
        verdict = self.history[-1].verdict
        if verdict is not None:
            self.sub_queries = list(dict.fromkeys([*self.sub_queries, *verdict.missing]))[:MAX_SUB_QUERIES]
        self.pending = _Pending(
            decision=decision,
            expansion=expansion,
            source_url=source_url,
            candidates_scored=len(self.candidates),
            top_score=self.history[-1].top_score,
            chunks=self.evidence.stats.total_parent_chunks,
        )

    async def _finish(self, decision: ExpansionDecision) -> OrchestrationResult:
        """Cite what is relevant and fits the budget, add neighbours. Citations are proved before they are stored."""
        evidence = self.evidence
        self._warn_of_previews()
        self.warnings += [_counted(message, pages) for message, pages in self.direct.items()]
        if (unpriced := self.cost.unpriced()) is not None:
            self.warn(Caution(unpriced))
        with self.clock.phase("merge_ms"):
            best, citations = evidence.fitting()
        with self.clock.phase("locality_ms"):
            nearby = await evidence.nearby(best)
        chunks = merging.fit_budget([*best, *nearby], self.settings.retrieval_context_budget)
        result = OrchestrationResult(
            status="not_found",  # until it is concluded
            answer_id=self.answer_id,
            trace_id=current_trace_id(),
            query=self.request.question,
            url=self.frontier.seeds[0],
            chunks=merging.reading_order(chunks),
            citations=citations,
            query_analysis=self.analysed.analysis,
            expansion_steps=self.steps,
            rounds=self.rounds,
            corpus_stats=evidence.stats,
            timing=self.clock.stop(),
            spent=self.cost.spent(),
            mode=evidence.mode,
            policy=self.policy.name,
            final_decision=decision,
            total_iterations=len(self.steps),
            total_urls_ingested=sum(document.outcome == "fetched" for document in self.frontier.documents),
            documents=self.frontier.documents,
            map_files=self.map_files,
            look_next=[*_urls(self.previews), *_urls(self.candidates)][:_PLACES],
            probability_complete=decision.probability_complete,
            probability_note=probability_note(
                self.policy.name,
                self.corpus.embedder.identity,
                evidence.judged_by,
                self.history[-1],
            ),
            warnings=self.warnings,
        )
        result = await self._concluded(result)
        async with self.corpus.database.transaction() as connection:
            await prove_citations(connection, citations)
            result = result.model_copy(
                update={"citations": await with_pages(await ask_pages(connection, citations), citations)}
            )
            await answers.finish_run(
                connection,
                self.answer_id,
                decision,
                status=result.status,
                confidence=result.confidence,
                citations=result.citations,
                warnings=self.warnings,
            )
        return result

    async def _concluded(self, result: OrchestrationResult) -> OrchestrationResult:
        """The result with its status, its confidence and its best citation."""
        probability, citations = result.probability_complete, result.citations
        status = status_of(probability, self.evidence.best_score, len(citations))
        conclusion = Conclusion(status, probability) if self.conclude is None else await self.conclude(result)
        best = next((citation.number for citation in citations if citation.chunk_id == conclusion.passage), None)
        return result.model_copy(
            update={
                "status": conclusion.status if citations else "not_found",
                "confidence": cut(conclusion.confidence),
                "best_citation": best,
            }
        )

    def _warn_of_previews(self) -> None:
        """One warning for all linked pages that could not be fetched: nobody asked for them by name. That a frozen site
        ends somewhere is none."""
        frozen = self.corpus.acquirer.frozen
        failed = [
            (url, error)
            for url, error in self.failed_previews.items()
            if not (frozen and error.reason in (Reason.NOT_FOUND, Reason.NOT_ARCHIVED))
        ]
        if failed:
            (url, error), others = failed[0], len(failed) - 1
            more = f", and {others} more linked pages (see the list of pages)" if others else ""
            self.warn(Caution.on(url, f"{error.with_status}{more}"))


def _urls(places: Iterable[RankedPreview | ScoredCandidate]) -> list[str]:
    return [place.url for place in places]


def _counted(message: str, pages: Sequence[str]) -> Caution:
    """One warning for all pages with the same message."""
    others = len(set(pages)) - 1
    more = f", and {counted(others, 'more page')}" if others else ""
    return Caution.on(pages[0], f"{message}{more}")
