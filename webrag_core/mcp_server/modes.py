"""How far an `answer` goes: the research modes, and what they mean to the engine."""

from __future__ import annotations

from typing import Literal, get_args

from webrag_core.config import Settings

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
