"""The default policy `calibrated`: go on while the evidence is probably not complete.

The probability is a logistic model of a few numbers of the last round, fitted by `python -m evals.fitting.completeness
--write` on walks that never stop: one row per round, complete when the evidence holds every gold quote. There are
tables for runs with and without the reading model, with and without previews.
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
from webrag_core.orchestration.models import COMPLETE_AT, EvaluationSignals, ExpansionDecision, sureness_of
from webrag_core.retrieval.calibration import Provenance

COMPLETE, INCOMPLETE, SPENT = "complete", "incomplete", "budget-spent"

_ONE_BY_ONE = 3  # rounds that read a single page: early on every page counts, later two at a time find more
_VETOED = COMPLETE_AT - 0.01  # at most, where a provider finds the best passage mediocre
_MANY_TERMS = 12  # from which on a question is long

_SHARE, _SCORE = "share of the question's terms", "best raw score"
_TERMS, _JOINS = "terms of the question", "it joins several parts"
_READING, _READING_LEAD = "best reading", "lead of the reading over the best preview"
_LEAD = "lead of the score over the best preview"
_HEADED = "share of the question's terms in headings"
FEATURES: dict[str, tuple[str, ...]] = {
    "minilm": (_TERMS, _JOINS, _LEAD, _READING, _READING_LEAD, _HEADED),
    "minilm, no previews": (_SHARE, _SCORE, _TERMS, _JOINS, _READING, _HEADED),
    "none": (_SHARE, _SCORE, _TERMS, _JOINS, _LEAD, _HEADED),
    "none, no previews": (_SHARE, _SCORE, _TERMS, _JOINS, _HEADED),
}
"""Features of each table: which one holds depends on the reader, and on whether there are previews to compare with."""
TABLE = Path(__file__).parents[1] / "completeness.json"


@dataclass(frozen=True, slots=True)
class CompletenessTable:
    """Coefficients of the model, in the order of its `FEATURES`."""

    constant: float
    coefficients: tuple[float, ...]

    def probability(self, signals: EvaluationSignals) -> float:
        """1 / (1 + exp(-z)), in [0, 1], after a round; z is linear in `features`."""
        values = features(signals, table_of(signals))
        z = self.constant + math.fsum(a * b for a, b in zip(self.coefficients, values, strict=True))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def table_of(signals: EvaluationSignals) -> str:
    """Name of the table that holds for a round."""
    reader = "none" if signals.reading is None else "minilm"
    return f"{reader}, no previews" if signals.best_preview_score is None else reader


def features(signals: EvaluationSignals, table: str) -> tuple[float, ...]:
    """Features of a round, as `FEATURES` of `table` names them."""
    reading = signals.reading or 0.0
    values = {
        _SHARE: signals.term_share,
        _SCORE: signals.best_raw_score,
        _TERMS: min(signals.query_terms, _MANY_TERMS) / _MANY_TERMS,
        _JOINS: float(signals.joins_parts),
        _LEAD: signals.best_raw_score - (signals.best_preview_score or 0.0),
        _READING: reading,
        _READING_LEAD: reading - (signals.preview_reading or 0.0),
        _HEADED: signals.heading_share,
    }
    return tuple(values[name] for name in FEATURES[table])


@lru_cache(maxsize=1)
def completeness_tables() -> dict[str, CompletenessTable]:
    """The tables that ship with the library, by name."""
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    return {name: CompletenessTable(stored[name]["constant"], tuple(stored[name]["coefficients"])) for name in FEATURES}


@lru_cache(maxsize=len(FEATURES))
def completeness_provenance(table: str) -> Provenance:
    """Provenance of a table: its data, label and validation figures."""
    return Provenance.of(json.loads(TABLE.read_text(encoding="utf-8"))[table])


class Calibrated:
    """Stops when the evidence is complete with probability `COMPLETE_AT`, or when the budget is spent.

    Otherwise it reads the best preview, from the fourth round on the best two. The probability depends on `features`: a
    preview with a better passage, for instance, makes complete evidence less likely. A provider's reranker has a veto:
    evidence whose best passage it scores below `floor` (MEDIOCRE_SCORE_FLOOR) is never complete. Pure.
    """

    name: ClassVar[str] = "calibrated"
    rephrases: ClassVar[bool] = False
    looks_ahead: ClassVar[bool] = True
    claims: ClassVar[bool] = True
    rules: ClassVar[tuple[str, ...]] = (COMPLETE, INCOMPLETE, SPENT)

    def __init__(self, table: CompletenessTable | None = None, *, floor: float = 0.5) -> None:
        self._table = table
        self._floor = floor

    def decide(self, history: Sequence[EvaluationSignals]) -> ExpansionDecision:
        """Decide by `history`. Raises InvalidInputError for an empty history."""
        if not history:
            raise InvalidInputError("a policy needs the signals of at least one round")
        now = history[-1]
        probability = (self._table or completeness_tables()[table_of(now)]).probability(now)
        vetoed = now.provider_score is not None and now.provider_score < self._floor
        if now.provider_score is not None and vetoed:
            probability = min(_VETOED, probability * now.provider_score / self._floor)
        rival = "" if now.best_preview_score is None else f", the best of a preview {now.best_preview_score:.2f}"
        reading = "" if now.reading is None else f", the reader says {now.reading:.2f}"
        if now.provider_score is not None:
            reading += f", the reranker {now.provider_score:.2f}{' (mediocre)' if vetoed else ''}"
        part = "" if now.part is None else f'of the part "{now.part}" '
        seen = (
            f"{part}the best passage scores {now.best_raw_score:.2f} and holds {now.term_share:.0%} of the question's"
            " words, "
            f"{now.heading_share:.0%} in headings{reading}{rival}: complete with probability {probability:.2f}"
        )
        if probability >= COMPLETE_AT:
            return _decision("stop", COMPLETE, seen, probability)
        if now.expansion_rounds_left <= 0:
            return _decision("stop", SPENT, f"{seen}; no expansion round is left", probability)
        pages = 1 if now.round < _ONE_BY_ONE else 2
        return _decision("expand_breadth", INCOMPLETE, seen, probability, pages)


def _decision(
    action: Literal["stop", "expand_breadth"], rule: str, reason: str, probability: float, pages: int | None = None
) -> ExpansionDecision:
    return ExpansionDecision(
        action=action,
        rule=rule,
        reason=reason,
        confidence=sureness_of(probability),
        probability_complete=probability,
        pages=pages,
    )
