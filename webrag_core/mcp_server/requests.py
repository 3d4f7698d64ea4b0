"""Validate the arguments of each tool: modes, limits and lengths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from webrag_core.acquisition.typed_address import typed_address
from webrag_core.acquisition.urls import site_roots
from webrag_core.application.inputs import (
    Intent,
    RetrievalMode,
    check_length,
    meant,
    shown,
)
from webrag_core.application.operations import Ask, GatherEvidence, Search
from webrag_core.application.reading import History
from webrag_core.config import Settings
from webrag_core.config.expansion import ExpansionSettings
from webrag_core.config.serving import ServingSettings
from webrag_core.errors import InvalidInputError
from webrag_core.history.models import TimeAxis
from webrag_core.orchestration.run_scope import RunScope
from webrag_core.routing.question import Question

ResearchMode = Literal["fast", "auto", "deep"]
Output = Literal["text", "data"]
Style = Literal["evidence", "prose"]

AUTO_ROUNDS = 2
"""Maximum link-following rounds of `auto`, subject to the stop policy."""


def expansion_rounds(mode: ResearchMode, budget: int | None, settings: ExpansionSettings) -> int:
    """Return the maximum link-following rounds: the caller's, else by mode."""
    if budget is not None:
        return budget
    return {
        "fast": 0,
        "auto": min(AUTO_ROUNDS, settings.max_expansion_depth),
        "deep": settings.max_expansion_depth,
    }[mode]


def without_nulls(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Drop null arguments: null means unset."""
    return {name: value for name, value in arguments.items() if value is not None}


def check_names(names: Iterable[str], known: Sequence[str]) -> None:
    """Raise InvalidInputError for an unknown argument."""
    for name in names:
        if name not in known:
            hint = meant(name, known)
            raise InvalidInputError(f"unknown argument {shown(name)!r}{hint} Valid: {', '.join(known)}")


def search_of(settings: ServingSettings, *, mode: RetrievalMode | None = None, **given: Any) -> Search:
    """The search that a call of `search` means, checked. The past is searched passage by passage. Raises
    InvalidInputError, FetchError(INVALID_URL)."""
    live = mode or settings.mcp_default_retrieval_mode
    wanted = Search.of(mode=live if given.get("at") is None else "chunk", **given)
    wanted.check()
    return wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCall:
    """Arguments of `answer`; None = the default of the settings."""

    urls: tuple[str, ...]
    question: str
    intent: Intent | None = None
    known_context: str | None = None
    constraints: tuple[str, ...] = ()
    max_age: float | None = None
    expansion_budget: int | None = None
    research_mode: ResearchMode | None = None
    retrieval_mode: RetrievalMode | None = None
    scope: RunScope | None = None
    sources: tuple[str, ...] = ()
    policy: str | None = None
    output: Output = "text"
    style: Style = "evidence"
    at: str | None = None
    time: TimeAxis = "seen"
    follows: int | None = None
    carry: bool = True

    def research(self, settings: ServingSettings) -> ResearchMode:
        """Return the requested mode, or the default."""
        return self.research_mode or settings.mcp_default_research_mode

    def evidence(self, settings: Settings) -> GatherEvidence:
        """The operation that gathers evidence. Raises InvalidInputError."""
        if self.follows is not None:
            raise InvalidInputError("follows goes with style prose; for evidence, give a query that is complete")
        if self.sources and self.scope is not None:
            raise InvalidInputError("sources and scope both say which stored pages are used: give either")
        return GatherEvidence.of(
            urls=self.urls,
            question=self.question,
            intent=self.intent,
            known_context=self.known_context,
            constraints=self.constraints,
            max_age=self.max_age,
            expansion_budget=expansion_rounds(self.research(settings), self.expansion_budget, settings),
            mode=self.retrieval_mode or settings.mcp_default_retrieval_mode,
            scope=self.sources or self.scope,
            policy=self.policy,
        )

    def past(self, settings: Settings) -> Search:
        """The search of all that the sites said at `at`. Raises InvalidInputError, FetchError(INVALID_URL)."""
        self.evidence(settings)  # the same bounds as without `at`
        sites = site_roots(typed_address(url) for url in self.urls)
        return search_of(
            settings,
            question=self.question,
            urls=sites,
            sources=self.sources or None,
            intent=self.intent,
            at=self.at,
            time=self.time,
        )

    def prose(self, settings: Settings) -> Question:
        """Build the question of an answer in prose. Raises InvalidInputError for arguments that only shape evidence,
        and FetchError(INVALID_URL)."""
        shaping = ("known_context", "retrieval_mode", "scope", "policy")
        given = [name for name in shaping if getattr(self, name)]
        if given:
            raise InvalidInputError(f"style prose does not take {', '.join(given)}")
        rounds = expansion_rounds(self.research(settings), self.expansion_budget, settings)
        question = Ask.of(
            question=self.question,
            urls=self.urls,
            sources=self.sources,
            at=self.at,
            time=self.time,
            expansion_budget=rounds,
            intent=self.intent,
            constraints=self.constraints,
            max_age=self.max_age,
            follows=self.follows,
            carry=self.carry,
        )
        return question.as_question()


@dataclass(frozen=True, slots=True)
class StatusCall:
    """Arguments of `status`."""

    url: str | None = None
    include_urls: bool = True

    def check(self) -> None:
        """Validate. Raises InvalidInputError."""
        if self.url is not None:
            check_length("url", self.url)


@dataclass(frozen=True, slots=True)
class HistoryCall:
    """Arguments of `history`: of a page, of the quotes of an answer, or of the questions around an answer."""

    url: str | None = None
    at: str | None = None
    since: str | None = None
    until: str | None = None
    answer: int | None = None
    time: TimeAxis = "seen"
    conversation: int | None = None

    def check(self) -> None:
        """Validate. Raises InvalidInputError."""
        if sum(value is not None for value in (self.url, self.answer, self.conversation)) != 1:
            raise InvalidInputError("give either a url or the number of an answer, as answer or as conversation")
        if self.url is None and (self.at or self.since or self.until):
            raise InvalidInputError("an answer is shown as it is today: at, since and until are about a page")
        if self.at is not None and (self.since or self.until):
            raise InvalidInputError("at excludes since and until")
        for text in (self.since, self.until):
            if text is not None:
                check_length("date", text)
        if self.url is not None:
            self.past().check()

    def past(self) -> History:
        """The operation on a page. Raises InvalidInputError."""
        return History.of(url=self.url, at=self.at, time=self.time)
