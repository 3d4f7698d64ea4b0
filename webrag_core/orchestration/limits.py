"""Hard limits of a run: rounds, time, pages, failed providers, and nothing left to do. No policy can overrule them."""

from __future__ import annotations

from webrag_core.config.expansion import ExpansionSettings
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision

TIMEOUT = "timeout"
PROVIDER_FAILED = "provider-failed"
COST = "cost-limit"

_WANTED = " (wanted: "


def bounded(
    decision: ExpansionDecision,
    signals: EvaluationSignals,
    settings: ExpansionSettings,
    *,
    budget: int,
    pages: int,
    out_of_time: str | None,
    provider_failed: bool = False,
    too_dear: str | None = None,
) -> ExpansionDecision:
    """Return `decision`, or a stop with the rule id of the limit that forbids its action. Pure.

    `signals` are those it was made from, `budget` is the number of expansion rounds allowed, `pages` the number of
    pages that count towards the limit so far, `out_of_time` and `too_dear` say which limit of time or cost is reached.
    A failed provider ends the run whatever was decided.
    """
    if provider_failed:
        return _stop(decision, PROVIDER_FAILED, "the embedding model failed; evidence of earlier rounds is kept")
    if decision.action == "stop":
        return decision
    if out_of_time is not None:
        return _stop(decision, TIMEOUT, out_of_time)
    if too_dear is not None:
        return _stop(decision, COST, too_dear)
    if signals.round >= budget:
        return _stop(decision, "round-limit", f"the budget of {budget} expansion rounds is spent")
    if decision.action == "expand_breadth" and not signals.previews_left:
        if pages >= settings.webrag_max_pages:
            limit = f"page limit of {settings.webrag_max_pages} reached (WEBRAG_MAX_PAGES)"
            return _stop(decision, "page-limit", limit)
        floor = settings.link_floor
        if signals.best_candidate_score is None or signals.best_candidate_score < floor:
            return _stop(decision, "no-candidates", f"none of {signals.candidates_left} links scores {floor:g} or more")
    if decision.action == "expand_intent" and not signals.can_rewrite:
        return _stop(decision, "no-rewrite", "no rewriting of the query differs from what was searched")
    return decision


def _stop(decision: ExpansionDecision, rule: str, reason: str) -> ExpansionDecision:
    return decision.model_copy(
        update={"action": "stop", "rule": rule, "reason": f"{reason}{_WANTED}{decision.reason})", "pages": None}
    )


def limit_of(reason: str) -> str:
    """The limit in the reason of a decision that `bounded` made."""
    return reason.partition(_WANTED)[0]
