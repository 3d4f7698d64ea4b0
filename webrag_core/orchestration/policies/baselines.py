"""Policies that look at nothing: what any real policy has to beat."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision

DEFAULT_ROUNDS = 3
UNINFORMED = 0.5
"""`probability_complete` of a policy that has not looked."""


class FixedRounds:
    """`expand_breadth` for `rounds` rounds whatever they bring, then stop; 0 rounds stop at once.

    Raises InvalidInputError for negative `rounds`.
    """

    def __init__(self, name: str, rounds: int) -> None:
        if rounds < 0:
            raise InvalidInputError(f"policy {name}: the number of rounds must be 0 or more, not {rounds}")
        self.name = name
        self._rounds = rounds

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        """Decide by the number of the last round alone. Raises InvalidInputError for an empty history."""
        if not history:
            raise InvalidInputError("a policy needs the signals of at least one round")
        now = history[-1]
        go_on = now.round < self._rounds and now.expansion_rounds_left > 0
        return ExpansionDecision(
            action="expand_breadth" if go_on else "stop",
            rule=self.name,
            reason=f"round {now.round} of a fixed {self._rounds}",
            confidence="low",
            probability_complete=UNINFORMED,
        )
