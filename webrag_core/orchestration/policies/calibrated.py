"""The default policy `calibrated`: go on while the evidence is probably not complete.

The probability is a logistic model of four numbers, fitted by `python -m evals.fitting.completeness --write` on walks
that never stop: one row per round, complete when the evidence holds every gold quote.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.models import EvaluationSignals, ExpansionDecision
from webrag_core.retrieval.calibration import Provenance

COMPLETE, INCOMPLETE, SPENT = "complete", "incomplete", "budget-spent"

ENOUGH = 0.5
"""Probability from which the run stops and claims that the evidence is complete."""

_ONE_BY_ONE = 3  # rounds that fetch a single page: early on every page counts, later two at a time find more
_SURE, _CERTAIN = 0.6, 0.8
_RISE = 0.02  # another page changes the rarity of words, and with it every score a little
FEATURES = ("share of the question's terms", "best raw score", "best link left", "rounds since the last gain")
TABLE = Path(__file__).parents[1] / "completeness.json"


@dataclass(frozen=True, slots=True)
class CompletenessTable:
    """Coefficients of the model, in the order of `FEATURES`."""

    constant: float
    coefficients: tuple[float, float, float, float]

    def probability(self, history: Sequence[EvaluationSignals]) -> float:
        """1 / (1 + exp(-z)), in [0, 1], after the last of `history` (at least one round); z is linear in `features`."""
        z = self.constant + math.fsum(a * b for a, b in zip(self.coefficients, features(history), strict=True))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def features(history: Sequence[EvaluationSignals]) -> tuple[float, float, float, float]:
    """Features of the last round: share of the question's terms in the best passage, its raw score, the score of the
    best remaining link (0 without one), and rounds since the best raw score rose by more than .02."""
    now = history[-1]
    best, last_rise = 0.0, 0
    for number, signals in enumerate(history):
        if signals.best_raw_score > best + _RISE:
            last_rise = number
        best = max(best, signals.best_raw_score)
    since = float(len(history) - 1 - last_rise)
    link = now.best_candidate_score or 0.0
    return now.term_share, now.best_raw_score, link, since


@lru_cache(maxsize=1)
def completeness_table() -> CompletenessTable:
    """The table that ships with the library."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    return CompletenessTable(table["constant"], tuple(table["coefficients"]))


@lru_cache(maxsize=1)
def completeness_provenance() -> Provenance:
    """Provenance of the table: its data, label and validation figures."""
    return Provenance.of(json.loads(TABLE.read_text(encoding="utf-8")))


class Calibrated:
    """Stops when the evidence is more likely complete than not, or when the budget is spent.

    Otherwise it follows the best link, from the fourth round on the best two. The probability depends on
    `features`: a good remaining link, for instance, makes complete evidence less likely. Pure.
    """

    name: ClassVar[str] = "calibrated"
    rephrases: ClassVar[bool] = False

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
