"""The loop's hard limits: rounds, time, pages, and nothing left worth doing. No policy can overrule them."""

from __future__ import annotations

from webrag_core.acquisition.traps import count_patterns, find_trap
from webrag_core.config import Settings
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision, ScoredCandidate
from webrag_core.orchestration.run_state import RunState

TIMEOUT = "timeout"


def chosen_candidates(decision: ExpansionDecision, state: RunState, settings: Settings) -> list[ScoredCandidate]:
    """The links that a breadth expansion would fetch now: the best few above the floor, as far as pages allow, and
    never so many of one pattern that the last of them would be a trap."""
    most = settings.max_candidates_per_iteration
    room = min(most, decision.pages or most, settings.webrag_max_pages - len(state.walk.documents))
    taken = state.walk.patterns.copy()
    chosen: list[ScoredCandidate] = []
    for candidate in state.candidates:
        if len(chosen) >= room or candidate.score < settings.link_floor:
            break
        if find_trap(candidate.url, taken) is None:
            taken.update(count_patterns([candidate.url]))
            chosen.append(candidate)
    return chosen


def bounded(
    decision: ExpansionDecision,
    now: EvaluationSignals,
    settings: Settings,
    *,
    budget: int,
    pages: int,
    out_of_time: bool,
) -> ExpansionDecision:
    """`decision`, or a stop under the limit's own rule id when a limit forbids what it wants. Pure.

    `now` are the signals it was made from, `budget` the expansion rounds that the run is allowed, `pages` those it has
    tried so far, failed ones included.
    """
    if decision.action == "stop":
        return decision
    reached = _reached(decision, now, settings, budget=budget, pages=pages, out_of_time=out_of_time)
    if reached is None:
        return decision
    rule, reason = reached
    return decision.model_copy(
        update={"action": "stop", "rule": rule, "reason": f"{reason} (wanted: {decision.reason})", "pages": None}
    )


def _reached(
    decision: ExpansionDecision,
    now: EvaluationSignals,
    settings: Settings,
    *,
    budget: int,
    pages: int,
    out_of_time: bool,
) -> tuple[str, str] | None:
    """(rule, reason) of the most general limit that stands in the way."""
    if out_of_time:
        return TIMEOUT, f"{settings.webrag_answer_timeout:g} s are over"
    if now.round >= budget:
        return "round-limit", f"the budget of {budget} expansion rounds is spent"
    if decision.action == "expand_breadth":
        if pages >= settings.webrag_max_pages:
            return "page-limit", f"{pages} pages are taken in, {settings.webrag_max_pages} are allowed"
        floor = settings.link_floor
        if now.best_candidate_score is None or now.best_candidate_score < floor:
            return "no-candidates", f"none of {now.candidates_left} links scores {floor:g} or more"
    if decision.action == "expand_intent" and not now.can_rewrite:
        return "no-rewrite", "no rewriting of the query differs from what was searched"
    return None
