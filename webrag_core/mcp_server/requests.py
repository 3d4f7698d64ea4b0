"""The arguments of each tool: modes, limits and checks, before the core is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, get_args

from pydantic import ValidationError

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.engine import AnswerRequest
from webrag_core.orchestration.request import reranker_instruction
from webrag_core.retrieval.request import ScopeFilter, SearchRequest, check_text

ResearchMode = Literal["fast", "auto", "deep"]
RetrievalMode = Literal["chunk", "full_context", "auto"]
Intent = Literal["factual", "comparison", "how_to", "exploratory"]
Output = Literal["text", "data"]

RESEARCH_MODES: tuple[ResearchMode, ...] = get_args(ResearchMode)
AUTO_ROUNDS = 2
"""Rounds of links that `auto` may follow; the stop policy decides whether it does."""


def expansion_rounds(mode: ResearchMode, budget: int | None, settings: Settings) -> int:
    """Rounds of links at most: what the caller says, else none (fast), a few (auto), all that are allowed (deep)."""
    if budget is not None:
        return budget
    return {
        "fast": 0,
        "auto": min(AUTO_ROUNDS, settings.max_expansion_depth),
        "deep": settings.max_expansion_depth,
    }[mode]


_MOST_PROBLEMS = 5
LONGEST = {"query": 10_000, "known_context": 50_000, "url": 8_192, "constraint": 2_000}
"""Characters of an argument."""
MOST_CONSTRAINTS = 20
MOST_RESULTS = 50
MOST_PLACES = 100


def check_length(name: str, text: str) -> None:
    """Raise InvalidInputError for a blank text, one that is no text, and one that is too long."""
    if len(text) > LONGEST[name]:
        raise InvalidInputError(f"the {name} has {len(text):,} characters; {LONGEST[name]:,} at most")
    check_text(text, name)


def check_list(name: str, texts: Sequence[str], most: int) -> None:
    """`check_length` of each of at most `most` texts called `name`."""
    if len(texts) > most:
        raise InvalidInputError(f"{len(texts):,} {name}s are given; {most} at most")
    for text in texts:
        check_length(name, text)


def without_nulls(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Null means unset, for every argument."""
    return {name: value for name, value in arguments.items() if value is not None}


def check_names(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise InvalidInputError for an argument that no tool reads: a typo must not pass for a default."""
    for name in given:
        if name not in known:
            near = get_close_matches(name[:100], known, 1, 0.4)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise InvalidInputError(f"there is no argument {_shown(name)}{hint} There are: {', '.join(known)}")


def explained(error: ValidationError) -> str:
    """What is wrong with which argument, without what was passed."""
    told: dict[str, None] = {}
    for problem in error.errors(include_url=False, include_input=False, include_context=True):
        # of a union the branch of the type is on the path
        place = [part for part in problem["loc"] if not (isinstance(part, str) and "[" in part)]
        name = ".".join(_shown(str(part), quoted=False) for part in place if part not in ("str", "int"))
        told[f"{name}: {problem['msg']}"] = None
    lines = list(told)
    more = f"; and {len(lines) - _MOST_PROBLEMS} more" if len(lines) > _MOST_PROBLEMS else ""
    return "; ".join(lines[:_MOST_PROBLEMS]) + more


def _shown(text: str, *, quoted: bool = True) -> str:
    cut = text if len(text) <= 60 else text[:59] + "…"
    return repr(cut) if quoted else cut


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
