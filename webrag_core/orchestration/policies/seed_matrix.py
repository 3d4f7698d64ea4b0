"""`seed-matrix`: the decision matrix of the specification (000, section 9), eleven rules in a fixed order.

It is the named baseline that every other policy is measured against, so it keeps the specification's order
and thresholds. Where the text cannot be meant literally this is how it is read:

- Rule 4 (the cap on rounds) is asked first: a safety cap that other rules could overrule would be none. A run
  whose own expansion budget is spent has reached its cap too.
- No evidence at all is rule 8, in every round: there are no scores that rule 2 could compare.
- Rule 2 compares `chunks_above_threshold` with the signals before; without any there is nothing to compare.
- Rule 8, "low scores everywhere": even the best score is below the mediocre floor. Rule 9, "good scores": the
  mean is at or above that floor, the same yardstick as for the good plateau of rule 3; "low fill": not
  saturated.
- Rules 5, 7 and 8 recommend a rewrite only if one exists and the evidence comes from more than one document.
  Rephrasing against the same single page cannot help, so it is breadth then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration import signals
from webrag_core.orchestration.models import COMPLETE_AT, Action, EvaluationSignals, ExpansionDecision

Confidence = Literal["high", "medium", "low"]

SATURATED = "1-saturated"
DIMINISHING = "2-diminishing-returns"
GOOD_PLATEAU = "3-good-plateau"
MAX_DEPTH = "4-max-depth"
CLIFF_REDUNDANT = "5-cliff-redundant"
CLIFF = "6-cliff"
MEDIOCRE_PLATEAU = "7-mediocre-plateau"
LOW_SCORES = "8-low-scores"
LOW_FILL = "9-low-fill"
LOW_CONFIDENCE = "10-low-confidence"
DEFAULT = "11-default"

RULES = (
    SATURATED, DIMINISHING, GOOD_PLATEAU, MAX_DEPTH, CLIFF_REDUNDANT, CLIFF, MEDIOCRE_PLATEAU, LOW_SCORES,
    LOW_FILL, LOW_CONFIDENCE, DEFAULT,
)  # fmt: skip
"""All rule ids, in the specification's numbering."""

PROBABILITY: dict[tuple[str, Confidence], float] = {
    (SATURATED, "high"): 0.9,
    (GOOD_PLATEAU, "high"): 0.8,
    (DIMINISHING, "medium"): 0.7,
    (MAX_DEPTH, "medium"): 0.7,
    (DEFAULT, "low"): COMPLETE_AT,
    (LOW_FILL, "medium"): 0.45,
    (CLIFF, "medium"): 0.35,
    (CLIFF_REDUNDANT, "medium"): 0.3,
    (MAX_DEPTH, "low"): 0.25,
    (MEDIOCRE_PLATEAU, "medium"): 0.2,
    (LOW_CONFIDENCE, "low"): 0.2,
    (LOW_SCORES, "high"): 0.1,
}
"""`probability_complete` by rule and confidence.

The specification has no probability. These numbers only order the rules by how much evidence each of them
says is there, and which of them claim that it is complete; they are fixed, not fitted.
"""


class SeedMatrix:
    """The decision matrix under the thresholds of `settings`. Pure: equal histories give equal decisions."""

    name: ClassVar[str] = "seed-matrix"
    rephrases: ClassVar[bool] = True
    looks_ahead: ClassVar[bool] = True
    claims: ClassVar[bool] = True
    rules: ClassVar[tuple[str, ...]] = RULES

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        """Recommend the next action after the last of `history` (the signals of round 0, 1, ...).

        The shape of the scores is judged from their numbers under this policy's own thresholds; the flags in
        the signals are those of the run that recorded them. Raises InvalidInputError for an empty history,
        else nothing.
        """
        if not history:
            raise InvalidInputError("a policy needs the signals of at least one round")
        now = history[-1]
        verdict = self._without_cap(now, history[-2] if len(history) > 1 else None)
        cap = self._settings.max_expansion_depth
        if now.round < cap and now.expansion_rounds_left > 0:
            return verdict
        limit = f"of at most {cap}" if now.round >= cap else "is the last that the budget allows"
        reached = f"round {now.round} {limit}"
        if verdict.action == "stop":
            return _decision(MAX_DEPTH, "stop", f"{reached}; {verdict.rule} would stop as well", "medium")
        return _decision(MAX_DEPTH, "stop", f"{reached}, although {verdict.rule}: {verdict.reason}", "low")

    def _without_cap(self, now: EvaluationSignals, before: EvaluationSignals | None) -> ExpansionDecision:
        """Rules 1 to 3 and 5 to 11."""
        settings = self._settings
        floor = signals.mediocre_floor(settings)
        if now.n_chunks == 0:
            return self._rewrite(LOW_SCORES, now, "no evidence at all", "high")

        plateau = signals.is_plateau(now.n_chunks, now.score_variance, settings)
        cliff = signals.is_cliff(now.n_chunks, now.score_cliff, settings)
        saturated = signals.is_saturated(now.token_fill_ratio, settings)
        mediocre = signals.is_mediocre(now.score_mean, settings)
        repeating = signals.has_high_redundancy(now.redundancy_ratio, settings)
        fill = f"{now.token_fill_ratio:.0%} of the context is filled"
        flat = f"the best scores are alike (variance {now.score_variance:.3f}) with mean {now.score_mean:.2f}"
        drop = f"scores fall from {now.top_score:.2f} to {now.score_at_k:.2f}"
        repeats = f"{now.redundancy_ratio:.0%} of the passages repeat others"

        if saturated and not (plateau and mediocre) and not repeating:
            enough = f"{fill}, above {settings.token_budget_saturation_ratio:.0%}, and only {repeats}"
            return _decision(SATURATED, "stop", enough, "high")
        if now.round > 0 and before is not None:
            gain = now.chunks_above_threshold - before.chunks_above_threshold
            if gain < settings.diminishing_return_delta:
                change = (
                    f"passages near the top score went from {before.chunks_above_threshold} to "
                    f"{now.chunks_above_threshold}: the last round brought nothing better"
                )
                return _decision(DIMINISHING, "stop", change, "medium")
        if plateau and not mediocre:
            return _decision(GOOD_PLATEAU, "stop", f"{flat}, at or above {floor:.2f}", "high")
        if cliff and repeating:
            pocket = f"{drop} and {repeats}: one pocket, seen again"
            return self._rewrite(CLIFF_REDUNDANT, now, pocket, "medium")
        if cliff:
            thin = f"{drop}, more than {settings.score_cliff_threshold:.2f}: one good hit, thin coverage"
            return _decision(CLIFF, "expand_breadth", thin, "medium")
        if plateau:
            vague = f"{flat}, below {floor:.2f}: all vaguely related"
            return self._rewrite(MEDIOCRE_PLATEAU, now, vague, "medium")
        if now.top_score < floor:
            low = f"even the best score, {now.top_score:.2f}, is below {floor:.2f}"
            return self._rewrite(LOW_SCORES, now, low, "high")
        if not mediocre and not saturated:
            more = f"good scores (mean {now.score_mean:.2f}) but only {fill}"
            return _decision(LOW_FILL, "expand_breadth", more, "medium")
        if now.avg_confidence is not None and now.avg_confidence < settings.confidence_floor:
            unsure = f"mean confidence {now.avg_confidence:.2f} is below {settings.confidence_floor:.2f}"
            return _decision(LOW_CONFIDENCE, "expand_breadth", unsure, "low")
        rest = f"nothing speaks for going on (best {now.top_score:.2f}, mean {now.score_mean:.2f}, {fill})"
        return _decision(DEFAULT, "stop", rest, "low")

    def _rewrite(self, rule: str, now: EvaluationSignals, reason: str, confidence: Confidence) -> ExpansionDecision:
        """Rewrite the query if a new rewriting is left, else fetch more pages."""
        if now.can_rewrite and now.source_document_count > 1:
            return _decision(rule, "expand_intent", reason, confidence)
        why = "no other wording to try" if not now.can_rewrite else "no second page to ask differently"
        return _decision(rule, "expand_breadth", f"{reason}; {why}", confidence)


def _decision(rule: str, action: Action, reason: str, confidence: Confidence) -> ExpansionDecision:
    return ExpansionDecision(
        action=action,
        rule=rule,
        reason=reason,
        confidence=confidence,
        probability_complete=PROBABILITY[rule, confidence],
    )
