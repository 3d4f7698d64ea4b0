"""How sure an answer is: the support of each sentence, the confidence in the whole, and its band.

All are logistic regressions. The support of a sentence predicts that it holds a gold quote, on golden questions and
their unanswerable twins (`python -m evals.fitting.support`). The confidence predicts that the sentences state what the
answer key demands, or come from a passage that states the answer, on people's questions about stored sites
(`python -m evals.fitting.confidence`). It holds for evidence that was walked to, too: a table of its own, fitted on
walks, ranked answers on other sites worse (AUC .71 beside .75).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.compose.draft import LIKELY, SURE, Draft
from webrag_core.answering.compose.features import Array
from webrag_core.answering.compose.select import Choice
from webrag_core.answering.compose.sentence_scores import UnitScores
from webrag_core.answering.compose.windows import lead_of, reading_of
from webrag_core.answering.gathering import Gathered
from webrag_core.answering.models import Band
from webrag_core.answering.units import Unit
from webrag_core.answering.wanted.counted import names_counted
from webrag_core.answering.wanted.fact import Fact
from webrag_core.answering.wanted.thing import Thing
from webrag_core.errors import IntegrityError
from webrag_core.orchestration.verdict import calibration_note
from webrag_core.providers.embedder import ModelIdentity
from webrag_core.retrieval.calibration import Provenance
from webrag_core.routing.question import Form

TABLE = Path(__file__).with_name("confidence.json")
"""Of answers and of passages."""
SUPPORT_TABLE = Path(__file__).with_name("support.json")
SUPPORT_FEATURES = {"read": ("share", "reading"), "unread": ("share",)}
CONFIDENCE_FEATURES = {"read": ("best support", "window", "lead"), "unread": ("best support", "relevance")}
"""Inputs of the tables with and without the reader, for an answer those of the passage of its best sentence: its best
support, what the reader says of its window, and how far that leads (`compose.windows`), or else its relevance."""
ANSWERED_AT = 0.50
"""Confidence below which no sentence is said."""
SURE_AT = 0.70
"""Confidence below which the answer counts as partial, and places to look next are named."""
_BANDS: tuple[tuple[float, Band], ...] = ((0.80, "high"), (SURE_AT, "medium"), (ANSWERED_AT, "low"))
BELOW_ANSWERED, BELOW_SURE, _BELOW_HIGH = ANSWERED_AT - 0.01, SURE_AT - 0.01, 0.79
_LEAST = 1e-3  # support under the logarithm


@dataclass(frozen=True, slots=True)
class Logistic:
    """P = 1 / (1 + exp(-(constant + coefficients · features)))."""

    constant: float
    coefficients: tuple[float, ...]

    def of(self, features: Array) -> Array:
        """Probabilities of the rows of `features`, shape (n, k)."""
        return np.asarray(1 / (1 + np.exp(-(self.constant + features @ np.array(self.coefficients)))))


def band_of(confidence: float) -> Band:
    """The half-open range that a confidence lies in: [.80, 1], [.70, .80), [.50, .70), [0, .50)."""
    return next((band for least, band in _BANDS if confidence >= least), "insufficient")


def supports(scores: UnitScores) -> Array:
    """The support of every unit, shape (units,), in [0, 1]; 0 for those that the reader, where there is one, did not
    read."""
    features, chosen = support_features(scores)
    support = np.zeros(len(scores.total))
    support[chosen] = _table("support", reader_of(scores)).of(features)
    return support


def support_features(scores: UnitScores) -> tuple[Array, NDArray[np.intp]]:
    """Features of the units that can have support, and the indexes of those."""
    allowed = scores.allowed
    if not allowed.any():
        return np.zeros((0, 1)), np.zeros(0, dtype=np.intp)
    top = scores.total[allowed].max()
    share = scores.total - top - np.log(np.exp(scores.total[allowed] - top).sum())
    if reader_of(scores) == "unread":
        chosen = np.flatnonzero(allowed)
        return share[chosen, None], chosen
    chosen = np.flatnonzero(allowed & ~np.isnan(scores.reading))
    return np.column_stack([share[chosen], scores.reading[chosen]]), chosen


def reader_of(scores: UnitScores) -> str:
    """Whether the reader had a say."""
    return "unread" if np.isnan(scores.reading).all() else "read"


def confidence_features(choices: Sequence[Choice], draft: Draft) -> tuple[str, Array]:
    """The name of the table, and the features of an answer, shape (k,). Of a question of several parts, those of the
    part that is answered worst."""
    table = reader_of(draft.scores[0])
    rows: list[tuple[float, ...]] = []
    for part, score in enumerate(draft.scores):
        of_part = [choice for choice in choices if choice.part == part]
        best = max(of_part, key=lambda choice: choice.support, default=None)
        if best is None:
            rows.append((math.log(_LEAST), *(0.0 for _ in CONFIDENCE_FEATURES[table][1:])))
        else:
            rows.append(passage_features(best.support, best.saying.unit, draft.units, score))
    return table, np.array(min(rows))


def passage_features(support: float, unit: Unit, units: Sequence[Unit], score: UnitScores) -> tuple[float, ...]:
    """The features of the passage of a unit, or of the sentences that are said of it (CONFIDENCE_FEATURES)."""
    if reader_of(score) == "unread":
        return math.log(support + _LEAST), unit.relevance
    place = (unit.chunk.chunk_id, units, score.window)
    return math.log(support + _LEAST), reading_of(*place), lead_of(*place)


def confidence_of(choices: Sequence[Choice], draft: Draft) -> float:
    """Probability in [0, 1] that the chosen sentences answer the whole question; 0 without any."""
    if not choices:
        return 0.0
    table, features = confidence_features(choices, draft)
    return float(_table("confidence", table).of(features[None, :])[0])


def with_what_is_meant(confidence: float, choices: Sequence[Choice], draft: Draft) -> float:
    """The confidence, raised to band medium where a sentence is surely what the question means by its grammar
    (`Draft.meant`), to band low where it is so likely."""
    least = max((int(draft.meant[0][choice.index]) for choice in choices), default=0) if len(draft.meant) == 1 else 0
    return max(confidence, {SURE: SURE_AT, LIKELY: ANSWERED_AT}.get(least, 0.0))


def of_passage(table: str, features: Array) -> float:
    """Probability in [0, 1] that a passage holds the answer, by the table `read` or `unread`."""
    return float(_table("likely", table).of(features[None, :])[0])


def within_meaning(
    confidence: float, choices: Sequence[Choice], form: Form, things: Sequence[Thing], facts: Sequence[Fact]
) -> float:
    """The confidence, lowered where what is said cannot mean the answer: it lacks a name of the question, the kind of
    value that is asked for, or what is counted (nothing is claimed); the version, number or code asked for is stored
    nowhere, or it lacks the code that is asked for (band low at most); it is a how-to without a step, code or the
    description of a term (band medium at most)."""
    units_of_parts = [[choice.saying.unit for choice in choices if choice.part == part] for part in range(len(facts))]
    means: list[bool] = []  # per part with sentences: they may mean the answer
    for units, thing, fact in zip(units_of_parts, things, facts, strict=True):
        lacks_fact = bool(units) and not any(fact.is_in(unit) for unit in units)
        if units:
            has_count = names_counted(units, fact.question)
            means.append(has_count and not thing.absent_names and not (lacks_fact and fact.values))
        if lacks_fact or thing.absent_names:
            confidence = min(confidence, BELOW_SURE)
    if means and not any(means):
        return min(confidence, BELOW_ANSWERED)
    if any(thing.absent for thing in things):
        confidence = min(confidence, BELOW_SURE)
    units = [choice.saying.unit for choice in choices]
    if form == "steps" and not any(unit.says_how for unit in units):
        confidence = min(confidence, _BELOW_HIGH)
    return confidence


def lifted(confidence: float) -> float:
    """The confidence in sentences that a chat model chose. That it chose any lifts them to the lowest band at which
    sentences are said, and no higher."""
    return max(ANSWERED_AT, confidence)


def note_of(
    gathered: Gathered,
    scores: Sequence[UnitScores],
    *,
    embedding: ModelIdentity,
    reranker: str,
    model: str | None = None,
) -> str:
    """How far the confidence can be trusted, given the models that found the evidence. `model`: the chat model that
    chose the sentences."""
    if model is not None:
        return f"uncalibrated: judged by {model}"
    if not gathered.note.startswith("calibrated"):
        return gathered.note or "uncalibrated"
    fitted_on = provenance()
    note = calibration_note(fitted_on, embedding, reranker)
    if not note.startswith("calibrated"):
        return note
    unread = " without the reading model" if len(scores[0].total) and reader_of(scores[0]) == "unread" else ""
    return f"calibrated on {len(fitted_on.data)} sites{unread}"


@lru_cache(maxsize=2)
def stored(path: Path) -> Mapping[str, Any]:
    """The fitted tables of a file with their provenance."""
    tables: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return tables


def _table(kind: str, name: str) -> Logistic:
    """Raises IntegrityError when the file fits other features."""
    path, features = (SUPPORT_TABLE, SUPPORT_FEATURES) if kind == "support" else (TABLE, CONFIDENCE_FEATURES)
    row, expected = stored(path)[kind][name], features[name]
    if tuple(row["features"]) != expected:
        raise IntegrityError(f"{path.name} was fitted for other features")
    return Logistic(row["constant"], tuple(row["coefficients"]))


def provenance() -> Provenance:
    """What the tables of confidence were fitted on, and the models they hold for."""
    return Provenance.of(stored(TABLE))
