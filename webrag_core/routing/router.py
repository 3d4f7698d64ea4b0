"""The router: a question in, a plan out that can be run. It reads the question and the corpus, and runs nothing."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from webrag_core.config import Settings
from webrag_core.config.answering import AnsweringSettings
from webrag_core.errors import ChatError, InvalidInputError
from webrag_core.history.document_apis.identifiers import named_source
from webrag_core.indexing.pipeline import Corpus
from webrag_core.result_warnings import log_warning
from webrag_core.routing.agents.protocol import Agent
from webrag_core.routing.features import Read, read_question
from webrag_core.routing.plan import Budget, Capabilities, ExecutionPlan, Iteration, problems
from webrag_core.routing.question import Question
from webrag_core.routing.router_llm import plan_by_chat
from webrag_core.routing.router_rules import default_plan, plan_by_rules
from webrag_core.trace import current_trace_id, span

logger = logging.getLogger(__name__)

_LARGEST_SHARE = 1 / 3  # of the time of an answer, for its plan by a model


def budget_of(settings: AnsweringSettings) -> Budget:
    """What one answer may spend."""
    return Budget(seconds=settings.answer_seconds, chat_calls=settings.answer_chat_calls)


class Router:
    """Plans answers over an open corpus, by WEBRAG_ROUTER."""

    def __init__(self, corpus: Corpus, agents: Mapping[str, Agent]) -> None:
        self._corpus = corpus
        self._settings: Settings = corpus.settings
        self._agents = agents
        self._chat = corpus.chats.of("WEBRAG_ROUTER=llm") if corpus.settings.webrag_router == "llm" else None

    async def plan(self, question: Question) -> ExecutionPlan:
        """The plan for a question. One that cannot be run gives way to the default plan, with a warning.

        Raises InvalidInputError for a question that contradicts itself, FetchError(INVALID_URL).
        """
        if question.at is not None and question.urls and question.sources:
            raise InvalidInputError("with a date, ask pages by URL or sources by name, not both")
        settings = self._settings
        read = await self._read(question)
        budget = budget_of(settings)
        iteration = Iteration(max_iterations=settings.answer_iterations)
        with span("plan", router=settings.webrag_router):
            read, plan = await self._made(read, budget, iteration)
        wrong = problems(plan, self._capabilities(read))
        if wrong:
            warning = f"the plan could not be used ({'; '.join(wrong[:3])}); the default plan was"
            log_warning(logger, warning)
            plan = default_plan(read, budget, iteration)
            plan.warnings.append(warning)
        return plan.model_copy(update={"trace_id": current_trace_id()})

    async def _read(self, question: Question) -> Read:
        async with self._corpus.database.connection() as connection:
            return await read_question(connection, question, self._settings, self._corpus.acquirer.name)

    async def _made(self, read: Read, budget: Budget, iteration: Iteration) -> tuple[Read, ExecutionPlan]:
        """The plan, and the question as it is read: a model that plans may complete one that follows another."""
        agents = sorted(self._agents)
        if self._chat is not None and not read.question.is_dated:  # which leaves nothing to choose
            seconds = min(self._settings.orchestration_llm_timeout, _LARGEST_SHARE * budget.seconds)
            try:
                return await plan_by_chat(
                    self._chat, read, budget, iteration, agents, seconds=seconds, read_again=self._read
                )
            except ChatError as error:
                warning = f"planning by {error.model} failed ({error.reason}); planned by rules"
                log_warning(logger, warning)
                made = plan_by_rules(read, budget, iteration, agents)
                made.warnings.append(warning)
                return read, made
        return read, plan_by_rules(read, budget, iteration, agents)

    def _capabilities(self, read: Read) -> Capabilities:
        return Capabilities(
            urls=frozenset((*read.urls, *filter(named_source, read.identifiers))),
            sources=read.known_sources,
            agents=frozenset(self._agents),
            within=frozenset(read.question.sources),
            known=frozenset(read.pages).__contains__,
        )
