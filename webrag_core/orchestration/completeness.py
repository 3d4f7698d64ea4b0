"""The probability that the evidence is complete: a logistic model of five numbers.

Fitted on the goldens of the frozen sites that the table names, by `python -m evals.fitting.completeness --write`: one
row for every round of walks that never stop, complete when every gold page has been taken in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from webrag_core.orchestration.models import EvaluationSignals

_RISE = 0.02  # a page more changes the rarity of words, and with it every score a little
_TABLE = Path(__file__).with_name("completeness.json")


@dataclass(frozen=True, slots=True)
class CompletenessTable:
    """The model's coefficients; `fitted_on` names the sites."""

    constant: float
    coefficients: tuple[float, float, float, float, float]
    fitted_on: tuple[str, ...]

    def probability(self, history: Sequence[EvaluationSignals]) -> float:
        """1 / (1 + exp(-z)), in [0, 1], after the last of `history` (at least one round); z is linear in `features`."""
        z = self.constant + math.fsum(a * b for a, b in zip(self.coefficients, features(history), strict=True))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def features(history: Sequence[EvaluationSignals]) -> tuple[float, float, float, float, float]:
    """Of the last round: share of the question's terms in the best passage, its raw score, the score of the best link
    left (0 without one), for how many rounds no better passage has turned up (by more than .02), and 1 for a question
    that joins parts."""
    now = history[-1]
    best, risen = 0.0, 0
    for number, signals in enumerate(history):
        if signals.best_raw_score > best + _RISE:
            risen = number
        best = max(best, signals.best_raw_score)
    since = float(len(history) - 1 - risen)
    link = now.best_candidate_score or 0.0
    return now.term_share, now.best_raw_score, link, since, float(now.joins_parts)


@lru_cache(maxsize=1)
def completeness_table() -> CompletenessTable:
    """The table that ships with the library."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    return CompletenessTable(table["constant"], tuple(table["coefficients"]), tuple(table["fitted_on"]))
