"""Stop policies: pure functions from a run's signal history to a decision, chosen by name.

To add one, write a class with `name`, `rephrases` and `decide` in a module of its own and register it in `POLICIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.models import COMPLETE_AT, EvaluationSignals, ExpansionDecision
from webrag_core.orchestration.policies.calibrated import Calibrated
from webrag_core.orchestration.policies.seed_matrix import SeedMatrix
from webrag_core.orchestration.signals import mediocre_floor


class StopPolicy(Protocol):
    """Decides after every round. Must be pure: same history, same decision, no I/O, no state."""

    @property
    def name(self) -> str:
        """The name it is registered under."""

    @property
    def rephrases(self) -> bool:
        """Whether `expand_intent` is among its actions: other wordings of the query are prepared only then."""

    @property
    def looks_ahead(self) -> bool:
        """Whether it follows links by what their pages hold: some are fetched as previews before each decision."""

    @property
    def claims(self) -> bool:
        """Whether what it says of the evidence is meant, so that a judge may deny it; a baseline says the same of
        all."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Ids of all its rules: what `rule` of a decision can be."""

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        """Recommend the next action. `history` holds the signals of all rounds so far, oldest first, at least
        one."""


DEFAULT_POLICY = Calibrated.name
DEFAULT_ROUNDS = 3
UNINFORMED = COMPLETE_AT
"""`probability_complete` of a policy that reads no signal: a baseline claims whatever it has."""


class FixedRounds:
    """Baseline that reads no signal: `expand_breadth` for `rounds` rounds, then stop; 0 rounds stop at once.

    Raises InvalidInputError for negative `rounds`.
    """

    def __init__(self, name: str, rounds: int) -> None:
        if rounds < 0:
            raise InvalidInputError(f"policy {name}: the number of rounds must be 0 or more, not {rounds}")
        self.name = name
        self.rephrases = False
        self.looks_ahead = rounds > 0
        self.claims = False
        self.rules = (name,)
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


_MAX_DIGITS = 9

POLICIES: dict[str, Callable[[Settings], StopPolicy]] = {
    Calibrated.name: lambda settings: Calibrated(floor=mediocre_floor(settings)),
    SeedMatrix.name: SeedMatrix,
    "stop-at-once": lambda _: FixedRounds("stop-at-once", 0),
    "fixed-k": lambda _: FixedRounds("fixed-k", DEFAULT_ROUNDS),
}
"""Name -> factory."""


def get_policy(name: str, settings: Settings) -> StopPolicy:
    """The policy called `name`, with the thresholds of `settings`. `fixed-k:5` gives fixed-k for 5 rounds.

    Raises InvalidInputError that lists the known names.
    """
    factory = POLICIES.get(name)
    if factory is not None:
        return factory(settings)
    kind, _, rounds = name.partition(":")
    if kind == "fixed-k" and rounds.isascii() and rounds.isdigit() and len(rounds) <= _MAX_DIGITS:
        return FixedRounds(name, int(rounds))
    known = ", ".join(sorted(POLICIES))
    raise InvalidInputError(f"unknown stop policy {name!r}; known: {known} (fixed-k:N for N rounds)")
