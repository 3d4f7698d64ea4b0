"""What one answer run is asked, and what it knows so far."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.expander import Walk
from webrag_core.orchestration.models import (
    EvaluationSignals,
    ExpansionStep,
    OrchestrationTiming,
    QueryAnalysis,
    QueryType,
    Round,
    ScoredCandidate,
)
from webrag_core.orchestration.support import Support
from webrag_core.retrieval.models import CorpusStats, RankedChunk
from webrag_core.retrieval.query_text import check_query, check_text
from webrag_core.retrieval.searcher import Mode

logger = logging.getLogger(__name__)

DEFAULT_POLICY = "calibrated"

_LONGEST_CONTEXT = 50_000  # characters; every passage is compared with it

Progress = Callable[[str, Round | None], None]


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """One question. `expansion_budget` is the number of expansion rounds at most: None = automatic, 0 = none.

    `known_context` is what the asker knows already: passages that only repeat it are no evidence, and a model that
    analyses the query is told.
    """

    urls: tuple[str, ...]
    query: str
    intent: QueryType | None = None
    known_context: str | None = None
    constraints: tuple[str, ...] = ()
    expansion_budget: int | None = None
    mode: Mode = "auto"
    policy: str = DEFAULT_POLICY

    def seeds(self) -> tuple[str, ...]:
        """The canonical URLs of a request that can be run, each once.

        Raises InvalidInputError, or FetchError(INVALID_URL) for a URL that is none.
        """
        if not self.urls:
            raise InvalidInputError("no URL given")
        if self.expansion_budget is not None and self.expansion_budget < 0:
            raise InvalidInputError(f"the expansion budget is {self.expansion_budget}; it cannot be negative")
        check_query(self.query)
        if self.known_context is not None:
            check_text(self.known_context, "known context")
            if len(self.known_context) > _LONGEST_CONTEXT:
                raise InvalidInputError(
                    f"the known context has {len(self.known_context):,} characters; {_LONGEST_CONTEXT:,} at most"
                )
        for constraint in self.constraints:
            check_text(constraint, "constraint")
        return tuple(dict.fromkeys(canonicalise(url) for url in self.urls))


@dataclass(slots=True)
class RunState:
    """What changes from round to round."""

    answer_id: int
    analysis: QueryAnalysis
    walk: Walk
    budget: int
    deadline: float
    sub_queries: list[str]
    rewrites: Sequence[str] | None = ()
    tried: set[frozenset[str]] = field(default_factory=set)
    relaxed: int = 0
    evidence: list[RankedChunk] = field(default_factory=list)
    history: list[EvaluationSignals] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    steps: list[ExpansionStep] = field(default_factory=list)
    candidates: list[ScoredCandidate] = field(default_factory=list)
    timing: OrchestrationTiming = field(default_factory=OrchestrationTiming)
    mode: Literal["full_context", "chunk"] = "chunk"
    stats: CorpusStats | None = None
    support: Support = field(default_factory=Support)
    warnings: list[str] = field(default_factory=list)

    @property
    def seconds_left(self) -> float:
        """Until the deadline; negative after it."""
        return self.deadline - time.monotonic()

    def warn(self, message: str) -> None:
        """Log a degradation once and put it into the result."""
        if message not in self.warnings:
            logger.warning(message)
            self.warnings.append(message)
