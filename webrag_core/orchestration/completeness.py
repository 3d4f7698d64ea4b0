"""The probability that the evidence is complete: a logistic model of four numbers of one round.

Fitted on the goldens of the frozen sites that the table names, by `python -m evals.completeness --write`: one row for
every round of walks that never stop, complete when every gold page has been taken in.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from webrag_core.orchestration.models import EvaluationSignals

_TABLE = Path(__file__).with_name("completeness.json")


@dataclass(frozen=True, slots=True)
class CompletenessTable:
    """The model's coefficients; `fitted_on` names the sites."""

    constant: float
    coefficients: tuple[float, float, float, float]
    fitted_on: tuple[str, ...]

    def probability(self, now: EvaluationSignals) -> float:
        """1 / (1 + exp(-z)), in [0, 1]; z is linear in `features(now)`."""
        z = self.constant + math.fsum(a * b for a, b in zip(self.coefficients, features(now), strict=True))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def features(now: EvaluationSignals) -> tuple[float, float, float, float]:
    """Coverage weighted by rarity, plain share of the terms, raw score of the best passage (all three speak for
    complete), and the score of the best link left (speaks against; 0 without one)."""
    return now.coverage, now.term_share, now.best_raw_score, now.best_candidate_score or 0.0


@lru_cache(maxsize=1)
def completeness_table() -> CompletenessTable:
    """The table that ships with the library."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    return CompletenessTable(table["constant"], tuple(table["coefficients"]), tuple(table["fitted_on"]))
