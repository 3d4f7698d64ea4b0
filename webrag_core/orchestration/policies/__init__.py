"""Stop policies: pure functions from a run's signal history to a decision, chosen by name.

To add one, write a class with `name` and `decide` in a module of its own and enter it in `POLICIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision
from webrag_core.orchestration.policies.baselines import DEFAULT_ROUNDS, FixedRounds
from webrag_core.orchestration.policies.calibrated import Calibrated
from webrag_core.orchestration.policies.seed_matrix import SeedMatrix


class StopPolicy(Protocol):
    """Decides after every round. Must be pure: same history, same decision, no I/O, no state."""

    @property
    def name(self) -> str:
        """The name it is registered under."""

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        """Recommend the next action. `history` holds the signals of all rounds so far, oldest first, at least
        one."""


_MAX_DIGITS = 9
_FITTED = {Calibrated.name}

POLICIES: dict[str, Callable[[Settings], StopPolicy]] = {
    Calibrated.name: lambda _: Calibrated(),
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


def probability_note(policy: str) -> str:
    """What the `probability_complete` of the policy of this name is worth, for people."""
    return "fitted on the frozen sites" if policy in _FITTED else "as the policy states it, not fitted"


__all__ = ["POLICIES", "StopPolicy", "get_policy", "probability_note"]
