"""Public entry point of the loop: answer a request with evidence and citations."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.judging.chat_judge import make_judge
from webrag_core.orchestration import answers
from webrag_core.orchestration.clock import Clock
from webrag_core.orchestration.conclusion import Conclude
from webrag_core.orchestration.cost import Cost
from webrag_core.orchestration.events import Finished, Progress, RunEvent, Tell, telling
from webrag_core.orchestration.llm_analysis import Analyst
from webrag_core.orchestration.models import OrchestrationResult
from webrag_core.orchestration.policies import get_policy
from webrag_core.orchestration.request import AnswerRequest
from webrag_core.orchestration.stream import streamed
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.reranking import make_reranker
from webrag_core.store.spending import metering
from webrag_core.trace import traced

if TYPE_CHECKING:
    from webrag_core.orchestration.run import Run

__all__ = ["AnswerRequest", "OrchestratorEngine", "Progress"]


_ANALYSIS_SHARE = 0.5  # of the time of a run, which is for its pages


class OrchestratorEngine:
    """Runs the loop over an open corpus. One engine serves any number of concurrent runs."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._settings: Settings = corpus.settings
        self._reranker = make_reranker(self._settings, corpus.breakers, corpus.rankings)
        self.judge = make_judge(corpus.chats)
        self._analyst = Analyst(corpus.chats)

    async def run(
        self,
        request: AnswerRequest,
        progress: Progress | None = None,
        *,
        tell: Tell | None = None,
        conclude: Conclude | None = None,
    ) -> OrchestrationResult:
        """Find evidence for `request.question`, starting at `request.urls` (the first is the seed).

        `progress(phase, round)` is called when a phase begins and when a round ends, `tell(event)` with every event of
        `stream` but the last. Every stop has one rule id. A deadline or a failing embedding model ends the run with the
        evidence so far, and a warning. `conclude` judges the evidence in the end (`answering.evidence`); without it the
        status is that of the loop's own numbers.

        Raises InvalidInputError for an unusable request before anything is written, FetchError when no given URL
        can be fetched, EmbeddingError when the model fails before there is evidence, StoreError when the database
        fails.
        """
        with traced():
            return await self._run(request, telling(progress, tell), conclude)

    def stream(self, request: AnswerRequest) -> AsyncGenerator[RunEvent]:
        """As `run`, told step by step: phases, pages and rounds as they come, then the result (`orchestration.events`).

        Close it (`contextlib.aclosing`) when it is not read to its end: the run then counts as failed, and what it
        stored is kept.
        """

        async def run(tell: Callable[[RunEvent], None]) -> None:
            tell(Finished(result=await self._run(request, tell, None)))

        return streamed(run)

    async def _run(self, request: AnswerRequest, tell: Tell, conclude: Conclude | None) -> OrchestrationResult:
        database = self._corpus.database
        with metering() as meter:
            result = await self._metered(request, tell, conclude, Cost(self._settings, database, meter))
        await database.spending.flush(database.transaction)
        return result

    async def _metered(
        self, request: AnswerRequest, tell: Tell, conclude: Conclude | None, cost: Cost
    ) -> OrchestrationResult:
        # whoever asks what is stored follows no link
        from webrag_core.orchestration.frontier import Frontier
        from webrag_core.orchestration.run import Run

        clock = _clock(request.seconds, self._settings.webrag_answer_timeout)
        seeds = request.seeds()
        if len(seeds) > self._settings.webrag_max_pages:
            raise InvalidInputError(
                f"{len(seeds)} URLs given; one answer fetches at most {self._settings.webrag_max_pages} pages"
                " (WEBRAG_MAX_PAGES)"
            )
        policy = get_policy(request.policy or self._settings.webrag_policy, self._settings)
        ceiling = self._settings.max_expansion_depth
        budget = ceiling if request.expansion_budget is None else min(request.expansion_budget, ceiling)
        with clock.phase("query_analysis_ms"):
            analysed = await self._analyst.analyse(
                request.question,
                intent=request.intent,
                known_context=request.known_context,
                constraints=request.constraints,
                rewrites=policy.rephrases,
                seconds=_ANALYSIS_SHARE * clock.seconds_left,
            )
        async with self._corpus.database.connection() as connection:
            answer_id = await answers.new_id(connection)
        run = Run(
            answer_id=answer_id,
            corpus=self._corpus,
            request=request,
            policy=policy,
            reranker=self._reranker,
            judge=self.judge,
            conclude=conclude,
            analysed=analysed,
            budget=budget,
            frontier=Frontier(seeds, visited=set(request.excluded_pages())),
            clock=clock,
            cost=cost,
            tell=tell,
        )
        if request.expansion_budget is not None and request.expansion_budget > ceiling:
            text = f"expansion budget {request.expansion_budget} lowered to {ceiling} (MAX_EXPANSION_DEPTH)"
            run.warn(Caution(text))
        database = self._corpus.database
        async with (
            database.claims.hold(answers.claim_of(answer_id)),
            answers.recorded_run(database, answer_id, self._register(run)),
        ):
            return await run.execute()

    async def _register(self, run: Run) -> None:
        request = run.request
        async with self._corpus.database.connection() as connection:
            await answers.start_run(
                connection,
                run.answer_id,
                seed_url=run.frontier.seeds[0],
                query=request.question,
                policy=run.policy.name,
                options={
                    "urls": list(run.frontier.seeds),
                    "budget": run.budget,
                    "mode": request.mode,
                    "intent": request.intent,
                    "known_context": request.known_context,
                    "constraints": list(request.constraints),
                    "scope": request.stored_scope(),
                    **({"excluded": list(request.excluded)} if request.excluded else {}),
                    **({} if request.max_age is None else {"max_age": request.max_age}),
                },
            )


def _clock(seconds: float | None, most: float) -> Clock:
    """Of a run that may take `most` seconds, and of an answer that leaves it `seconds`."""
    if seconds is None or seconds >= most:
        return Clock(most, f"time limit of {most:g} s reached (WEBRAG_ANSWER_TIMEOUT)")
    return Clock(seconds, f"the {seconds:.3g} s are used up that the answer left for reading pages (ANSWER_SECONDS)")
