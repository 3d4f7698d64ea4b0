"""The arguments of each tool, checked before anything is asked of the core."""

from __future__ import annotations

from dataclasses import dataclass

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.mcp_server.arguments import MOST_CONSTRAINTS, MOST_PLACES, MOST_RESULTS, check_length, check_list
from webrag_core.mcp_server.modes import Intent, Output, ResearchMode, RetrievalMode, expansion_rounds
from webrag_core.orchestration.engine import AnswerRequest
from webrag_core.orchestration.request import reranker_instruction
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.scope import ScopeFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCall:
    """Arguments of `answer`; None = the default of the settings."""

    urls: tuple[str, ...]
    query: str
    intent: Intent | None = None
    known_context: str | None = None
    constraints: tuple[str, ...] = ()
    expansion_budget: int | None = None
    research_mode: ResearchMode | None = None
    retrieval_mode: RetrievalMode | None = None
    output: Output = "text"

    def research(self, settings: Settings) -> ResearchMode:
        """The mode asked for, or the default."""
        return self.research_mode or settings.mcp_default_research_mode

    def request(self, settings: Settings) -> AnswerRequest:
        """What the engine is asked. Raises InvalidInputError, FetchError(INVALID_URL)."""
        check_length("query", self.query)
        check_list("url", self.urls, settings.webrag_max_pages)
        check_list("constraint", self.constraints, MOST_CONSTRAINTS)
        if self.known_context is not None:
            check_length("known_context", self.known_context)
        request = AnswerRequest(
            urls=self.urls,
            query=self.query,
            intent=self.intent,
            known_context=self.known_context,
            constraints=self.constraints,
            expansion_budget=expansion_rounds(self.research(settings), self.expansion_budget, settings),
            mode=self.retrieval_mode or settings.mcp_default_retrieval_mode,
        )
        request.seeds()
        return request


@dataclass(frozen=True, slots=True)
class SearchCall:
    """Arguments of `search`."""

    query: str
    source_urls: tuple[str, ...] = ()
    intent: Intent | None = None
    top_k: int = 20
    retrieval_mode: RetrievalMode | None = None
    output: Output = "text"

    def check(self) -> None:
        """Raises InvalidInputError."""
        check_length("query", self.query)
        check_list("url", self.source_urls, MOST_PLACES)
        if not 1 <= self.top_k <= MOST_RESULTS:
            raise InvalidInputError(f"top_k is {self.top_k}; 1 to {MOST_RESULTS}")

    def request(self, documents: list[int] | None, settings: Settings) -> SearchRequest:
        """What is searched, among these documents (None = all)."""
        return SearchRequest(
            query=self.query,
            filters=ScopeFilter(documents=documents),
            mode=self.retrieval_mode or settings.mcp_default_retrieval_mode,
            top_k=self.top_k,
        )

    def instruction(self, settings: Settings) -> str | None:
        """For a reranker that takes one."""
        return reranker_instruction(self.intent, (), settings)


@dataclass(frozen=True, slots=True)
class StatusCall:
    """Arguments of `status`."""

    source_url: str | None = None
    include_urls: bool = True

    def check(self) -> None:
        """Raises InvalidInputError."""
        if self.source_url is not None:
            check_length("url", self.source_url)


@dataclass(frozen=True, slots=True)
class IngestCall:
    """Arguments of `ingest`."""

    urls: tuple[str, ...]
    refresh: bool = False

    def check(self, settings: Settings) -> None:
        """Raises InvalidInputError."""
        if not self.urls:
            raise InvalidInputError("no URL given")
        check_list("url", self.urls, settings.webrag_max_pages)
