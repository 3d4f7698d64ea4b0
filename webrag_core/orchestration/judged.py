"""What a chat model's verdict on the evidence does to the decision of a policy. Pure: recorded rounds hold the verdict,
and are decided again without a call."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.config.judging import JudgingSettings
from webrag_core.orchestration.models import COMPLETE_AT, Action, EvaluationSignals, ExpansionDecision, sureness_of
from webrag_core.orchestration.policies import StopPolicy
from webrag_core.percentages import percent

COMPLETE, INCOMPLETE = "judge-complete", "judge-incomplete"
_BELOW_COMPLETE = COMPLETE_AT - 0.01


def wants_verdict(
    decision: ExpansionDecision, signals: EvaluationSignals, settings: JudgingSettings, *, ends: bool = False
) -> bool:
    """Whether a model's verdict could change `decision`: there is evidence, and the decision is to go on in spite of
    some (from JUDGE_DOUBT_FROM on), or to end the run, unless the evidence is complete beyond doubt (JUDGE_DOUBT_TO).
    `ends`: a limit ends it, whatever is decided.
    """
    if not signals.n_chunks:
        return False
    least, most = settings.judge_doubt_from, settings.judge_doubt_to
    if ends or decision.action == "stop":
        return decision.probability_complete < most
    return least <= decision.probability_complete < most


def decide(policy: StopPolicy, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
    """What a policy says of the last round, after the verdict on its evidence, where there is one: evidence that
    suffices ends the run, evidence that does not is not complete whatever the numbers say, and a round that is left
    looks on. Raises InvalidInputError for an empty history."""
    decision, signals = policy.decide(history), history[-1]
    verdict = signals.verdict
    if verdict is None or not policy.claims:
        return decision
    probability, model = verdict.probability, verdict.model
    if verdict.sufficient == "full" and probability >= COMPLETE_AT:
        reason = f"{model} finds the answer in the evidence, with probability {percent(probability)}"
        return _decided(decision, "stop", COMPLETE, reason, probability)
    probability = min(probability, _BELOW_COMPLETE)
    share = "a part of the answer" if verdict.sufficient == "partial" else "no answer"
    reason = f"{model} finds {share} in the evidence ({percent(probability)})"
    denied = decision.action == "stop" and decision.probability_complete >= COMPLETE_AT
    if denied and signals.expansion_rounds_left > 0:
        return _decided(decision, "expand_breadth", INCOMPLETE, reason, probability)
    return _decided(decision, decision.action, decision.rule, reason, probability)


def _decided(
    decision: ExpansionDecision, action: Action, rule: str, reason: str, probability: float
) -> ExpansionDecision:
    return decision.model_copy(
        update={
            "action": action,
            "rule": rule,
            "reason": f"{reason}; {decision.reason}",
            "confidence": sureness_of(probability),
            "probability_complete": probability,
            "pages": None if action == "stop" else decision.pages or 1,
        }
    )
