"""How sure an answer is: the support of each sentence, the confidence in the whole, and its band.

All are logistic regressions. On golden questions and their unanswerable twins (`python -m evals.fitting.confidence`):
the support of a sentence predicts that it holds a gold quote, the confidence in what was walked to that the sentences
together hold one for every need of the question. On people's questions (`python -m evals.fitting.stored_confidence`):
the confidence in what is stored predicts that the sentences state what the answer key demands, or come from a passage
that states the answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.compose.draft import Draft
from webrag_core.answering.compose.features import FEATURES, Array
from webrag_core.answering.compose.select import Choice
from webrag_core.answering.compose.sentence_scores import UnitScores
from webrag_core.answering.compose.windows import lead_of, reading_of
from webrag_core.answering.gathering import Gathered
from webrag_core.answering.models import Band
from webrag_core.answering.units import Unit
from webrag_core.answering.wanted.fact import Fact
from webrag_core.answering.wanted.thing import Thing
from webrag_core.errors import IntegrityError
from webrag_core.orchestration.verdict import calibration_note
from webrag_core.providers.embedder import ModelIdentity
from webrag_core.retrieval.calibration import Provenance
from webrag_core.routing.question import Form

TABLE = Path(__file__).with_name("confidence.json")
STORED_TABLE = Path(__file__).with_name("stored_confidence.json")
"""Of evidence that was stored, and of passages."""
SUPPORT_FEATURES = {"read": ("share", "reading"), "unread": ("share",)}
LIKELY_FEATURES = {"read": ("best support", "window", "lead"), "unread": ("best support", "relevance")}
"""Inputs of the tables of a passage: its best support, what the reader says of its window, and how far that leads
(`compose.windows`), or else its relevance."""
CONFIDENCE_FEATURES = {
    **dict.fromkeys(("read", "unread"), ("best support", "evidence complete", "token match", "relevance")),
    **{f"{name} stored": features for name, features in LIKELY_FEATURES.items()},
}
"""Inputs of each table: with or without the reader, of evidence that was walked to or was stored. Token match and
relevance are those of `compose.features`, the best of the sentences that are said; the others of evidence that was
stored are those of the passage of the best sentence."""
ANSWERED_AT = 0.50
"""Confidence below which no sentence is said."""
SURE_AT = 0.70
"""Confidence below which the answer counts as partial, and places to look next are named."""
_BANDS: tuple[tuple[float, Band], ...] = ((0.80, "high"), (SURE_AT, "medium"), (ANSWERED_AT, "low"))
BELOW_ANSWERED, BELOW_SURE, _BELOW_HIGH = ANSWERED_AT - 0.01, SURE_AT - 0.01, 0.79
_LEAST = 1e-3  # support under the logarithm
_OF_SAID = [FEATURES.index("token match"), FEATURES.index("relevance")]


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


def supports(scores: UnitScores, probability: Callable[[Array], Array] | None = None) -> Array:
    """The support of every unit, shape (units,), in [0, 1]; 0 for those that the reader, where there is one, did not
    read. `probability` of features replaces the stored table."""
    features, chosen = support_features(scores)
    support = np.zeros(len(scores.total))
    support[chosen] = (probability or _table("support", reader_of(scores)).of)(features)
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


def confidence_features(choices: Sequence[Choice], draft: Draft, gathered: Gathered) -> tuple[str, Array]:
    """The name of the table, and the features of an answer, shape (k,). Of a question of several parts, those of the
    part that is answered worst."""
    table = reader_of(draft.scores[0])
    rows: list[tuple[float, ...]] = []
    for part, score in enumerate(draft.scores):
        own = [choice for choice in choices if choice.part == part]
        best = max(own, key=lambda choice: choice.support, default=None)
        support = 0.0 if best is None else best.support
        if gathered.walk:
            match, relevance = score.features[[choice.index for choice in own]][:, _OF_SAID].max(axis=0, initial=0.0)
            rows.append((math.log(support + _LEAST), gathered.complete, float(match), float(relevance)))
        elif best is None:
            rows.append((math.log(_LEAST), *(0.0 for _ in LIKELY_FEATURES[table][1:])))
        else:
            rows.append(stored_features(support, best.saying.unit, draft.units, score))
    return table if gathered.walk else f"{table} stored", np.array(min(rows))


def stored_features(support: float, unit: Unit, units: Sequence[Unit], score: UnitScores) -> tuple[float, ...]:
    """The features of the passage of a unit, or of the sentences that are said of it (LIKELY_FEATURES)."""
    if reader_of(score) == "unread":
        return math.log(support + _LEAST), unit.relevance
    place = (unit.chunk.chunk_id, units, score.window)
    return math.log(support + _LEAST), reading_of(*place), lead_of(*place)


def confidence_of(choices: Sequence[Choice], draft: Draft, gathered: Gathered) -> float:
    """Probability in [0, 1] that the chosen sentences answer the whole question; 0 without any."""
    if not choices:
        return 0.0
    table, features = confidence_features(choices, draft, gathered)
    return float(_table("confidence", table).of(features[None, :])[0])


def of_passage(table: str, features: Array) -> float:
    """Probability in [0, 1] that a passage holds the answer, by the table `read` or `unread`."""
    return float(_table("likely", table).of(features[None, :])[0])


def within_meaning(
    confidence: float, choices: Sequence[Choice], form: Form, things: Sequence[Thing], facts: Sequence[Fact]
) -> float:
    """The confidence, lowered where what is said cannot mean the answer: it lacks a name of the question or the kind of
    value that is asked for (nothing is claimed); the version, number or code asked for is stored nowhere, or it
    lacks the code that is asked for (band low at most); it is a how-to without a step, code or the
    description of a term (band medium at most)."""
    said = [[choice.saying.unit for choice in choices if choice.part == part] for part in range(len(facts))]
    means: list[bool] = []  # per part with sentences: they may mean the answer
    for units, thing, fact in zip(said, things, facts, strict=True):
        lacks_fact = bool(units) and not any(fact.is_in(unit) for unit in units)
        if units:
            means.append(not thing.absent_names and not (lacks_fact and fact.values))
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
    fitted_on = provenance(TABLE if gathered.walk else STORED_TABLE)
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
    path = STORED_TABLE if kind == "likely" or name.endswith(" stored") else TABLE
    row = stored(path)[kind][name]
    expected = {"support": SUPPORT_FEATURES, "confidence": CONFIDENCE_FEATURES, "likely": LIKELY_FEATURES}[kind][name]
    if tuple(row["features"]) != expected:
        raise IntegrityError(f"{path.name} was fitted for other features")
    return Logistic(row["constant"], tuple(row["coefficients"]))


def provenance(path: Path = TABLE) -> Provenance:
    """What the tables of a file were fitted on, and the models they hold for."""
    return Provenance.of(stored(path))
