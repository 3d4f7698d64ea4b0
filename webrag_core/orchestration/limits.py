"""The loop's hard limits: rounds, time, pages, and nothing left worth doing. No policy can overrule them."""

from __future__ import annotations

from collections.abc import Iterator

from webrag_core.config import Settings
from webrag_core.orchestration.models import ExpansionDecision, ScoredCandidate
from webrag_core.orchestration.run_state import RunState


def chosen_candidates(state: RunState, settings: Settings) -> list[ScoredCandidate]:
    """The links that a breadth expansion would fetch now: the best few above the floor, as far as pages allow."""
    room = max(0, settings.webrag_max_pages - len(state.walk.documents))
    best = state.candidates[: min(settings.max_candidates_per_iteration, room)]
    return [candidate for candidate in best if candidate.score >= settings.expansion_min_candidate_score]


def bounded(decision: ExpansionDecision, state: RunState, settings: Settings) -> ExpansionDecision:
    """`decision`, or a stop under the limit's own rule id when a limit forbids what it wants."""
    if decision.action == "stop":
        return decision
    for rule, reason in _reached(decision, state, settings):
        if rule == "timeout":
            state.warn(f"stopped early: {reason}")
        return decision.model_copy(
            update={"action": "stop", "rule": rule, "reason": f"{reason} (wanted: {decision.reason})"}
        )
    return decision


def _reached(decision: ExpansionDecision, state: RunState, settings: Settings) -> Iterator[tuple[str, str]]:
    """(rule, reason) of every limit that stands in the way, the most general first."""
    if state.seconds_left <= 0:
        yield "timeout", f"{settings.webrag_answer_timeout:g} s are over"
    if len(state.rounds) >= state.budget:
        yield "round-limit", f"the budget of {state.budget} expansion rounds is spent"
    if decision.action == "expand_breadth":
        pages = len(state.walk.documents)
        if pages >= settings.webrag_max_pages:
            yield "page-limit", f"{pages} pages are taken in, {settings.webrag_max_pages} are allowed"
        elif not chosen_candidates(state, settings):
            floor = settings.expansion_min_candidate_score
            yield "no-candidates", f"none of {len(state.candidates)} links scores {floor:g} or more"
    if decision.action == "expand_intent" and not state.history[-1].can_rewrite:
        yield "no-rewrite", "no rewriting of the query differs from what was searched"
