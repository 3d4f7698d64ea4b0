"""The default policy `calibrated`: go on while the evidence is probably not complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.completeness import CompletenessTable, completeness_table
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision

COMPLETE, INCOMPLETE, SPENT = "complete", "incomplete", "budget-spent"

ENOUGH = 0.55
"""Probability from which the run stops: a little above even, since a page costs less than a wrong claim."""

_ONE_BY_ONE = 3  # rounds that take in a single page: early on every page counts, later two at a time find more
_CERTAIN = 0.8


class Calibrated:
    """Stops when `completeness` gives the evidence a probability of .55 or more, or when the budget is spent.

    Otherwise it follows the best link, from the fourth round on the best two. Coverage of the question, the raw score
    of the best passage and the best link still to be followed are what the probability is made of: a good link left
    makes it less likely that the evidence at hand is all there is. Pure.
    """

    name: ClassVar[str] = "calibrated"

    def __init__(self, table: CompletenessTable | None = None) -> None:
        self._table = table or completeness_table()

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        """Decide by the last of `history` alone. Raises InvalidInputError for an empty history."""
        if not history:
            raise InvalidInputError("a policy needs the signals of at least one round")
        now = history[-1]
        probability = self._table.probability(now)
        seen = (
            f"the best passage scores {now.best_raw_score:.2f} and covers {now.coverage:.0%} of the question"
            f" ({now.term_share:.0%} of its words), the best link {now.best_candidate_score or 0.0:.2f}:"
            f" complete with probability {probability:.2f}"
        )
        if probability >= ENOUGH:
            return _decision("stop", COMPLETE, f"{seen}, {ENOUGH:.2f} is enough", probability)
        if now.expansion_rounds_left <= 0:
            return _decision("stop", SPENT, f"{seen}, and no expansion round is left", probability)
        pages = 1 if now.round < _ONE_BY_ONE else 2
        return _decision("expand_breadth", INCOMPLETE, f"{seen}, less than {ENOUGH:.2f}", probability, pages)


def _decision(
    action: Literal["stop", "expand_breadth"], rule: str, reason: str, probability: float, pages: int | None = None
) -> ExpansionDecision:
    sure = max(probability, 1 - probability)
    return ExpansionDecision(
        action=action,
        rule=rule,
        reason=reason,
        confidence="high" if sure >= _CERTAIN else "medium" if sure >= ENOUGH else "low",
        probability_complete=probability,
        pages=pages,
    )
