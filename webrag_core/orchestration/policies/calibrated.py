"""The default policy `calibrated`: go on while the evidence is probably not complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.completeness import CompletenessTable, completeness_table
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision

COMPLETE, INCOMPLETE, SPENT = "complete", "incomplete", "budget-spent"

ENOUGH = 0.5
"""Probability from which the run stops and claims that the evidence is complete."""

_ONE_BY_ONE = 3  # rounds that take in a single page: early on every page counts, later two at a time find more
_SURE, _CERTAIN = 0.6, 0.8


class Calibrated:
    """Stops when the evidence is more likely complete than not, or when the budget is spent.

    Otherwise it follows the best link, from the fourth round on the best two. The probability is made of how well the
    best passage fits the question, of the best link still to be followed (a good one makes it less likely that the
    evidence at hand is all there is), and of the rounds since the last gain; see `completeness`. Pure.
    """

    name: ClassVar[str] = "calibrated"

    def __init__(self, table: CompletenessTable | None = None) -> None:
        self._table = table or completeness_table()

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        """Decide by `history`. Raises InvalidInputError for an empty history."""
        if not history:
            raise InvalidInputError("a policy needs the signals of at least one round")
        now = history[-1]
        probability = self._table.probability(history)
        seen = (
            f"the best passage scores {now.best_raw_score:.2f} and holds {now.term_share:.0%} of the question's words,"
            f" the best link scores {now.best_candidate_score or 0.0:.2f}: complete with probability {probability:.2f}"
        )
        if probability >= ENOUGH:
            return _decision("stop", COMPLETE, seen, probability)
        if now.expansion_rounds_left <= 0:
            return _decision("stop", SPENT, f"{seen}; no expansion round is left", probability)
        pages = 1 if now.round < _ONE_BY_ONE else 2
        return _decision("expand_breadth", INCOMPLETE, seen, probability, pages)


def _decision(
    action: Literal["stop", "expand_breadth"], rule: str, reason: str, probability: float, pages: int | None = None
) -> ExpansionDecision:
    sure = max(probability, 1 - probability)
    return ExpansionDecision(
        action=action,
        rule=rule,
        reason=reason,
        confidence="high" if sure >= _CERTAIN else "medium" if sure >= _SURE else "low",
        probability_complete=probability,
        pages=pages,
    )
