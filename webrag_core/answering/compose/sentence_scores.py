"""How likely each unit of the evidence answers the question: a fitted score, and what the reader says of the best.

score = weights · features (`features.FEATURES`), and for the READ best units of those + `reading` · MaxSim of question
and unit (`retrieval.reader`). Units that were not read rank below those that were. The weights are a conditional logit:
they maximise the probability that a softmax over all units of a question gives to those that hold the gold quote; made
by `python -m evals.answers.fit_sentences`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from webrag_core.answering.compose.features import FEATURES, Array, unit_features
from webrag_core.answering.compose.units import Unit
from webrag_core.errors import IntegrityError
from webrag_core.retrieval.reader import Reader

READ = 12
"""Units that the reader reads for each part of a question: about 12 ms each."""
TABLE = Path(__file__).with_name("sentence_weights.json")
_READ_CHARS = 400  # of a unit
_PART = 2.0  # weight of a part of the question, beside the whole one on which it may lean


@dataclass(frozen=True, slots=True)
class SentenceWeights:
    """A weight for each of `features.FEATURES`, and that of the reader's score."""

    weights: tuple[float, ...]
    reading: float


@lru_cache(maxsize=1)
def stored_weights() -> SentenceWeights:
    """The fitted weights. Raises IntegrityError when the file fits other features."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    if tuple(table["weights"]) != FEATURES:
        raise IntegrityError(f"{TABLE.name} was fitted for other features")
    return SentenceWeights(tuple(table["weights"].values()), table["reading"])


@dataclass(frozen=True, slots=True)
class UnitScores:
    """Scores of all units for one part of a question, shape (units,): `fitted` of all, `reading` in [-1, 1] of those
    read (NaN for the others and without a reader), `total`, by which they are ranked."""

    fitted: Array
    reading: Array
    total: Array

    @property
    def order(self) -> list[int]:
        """Indexes of the units, best first."""
        return [int(index) for index in np.argsort(-self.total, kind="stable")]


async def score_units(queries: Sequence[str], units: Sequence[Unit], reader: Reader | None) -> UnitScores:
    """Score units for the last of `queries`: the question, then the part of it that is meant, if any."""
    table = stored_weights()
    shares = np.array([1.0] * (len(queries) - 1) + [_PART]) / (len(queries) - 1 + _PART)
    fitted = np.zeros(len(units))
    for share, query in zip(shares, queries, strict=True):
        fitted += share * (unit_features(query, units) @ np.array(table.weights))
    reading = np.full(len(units), np.nan)
    if reader is None or not units:
        return UnitScores(fitted, reading, fitted)
    best = [int(index) for index in np.argsort(-fitted, kind="stable")[:READ]]
    texts = [read_text(units[index]) for index in best]
    for share, query in zip(shares, queries, strict=True):
        scores = await reader.read_texts(query, texts)
        if not scores:
            return UnitScores(fitted, reading, fitted)
        reading[best] = np.nan_to_num(reading[best]) + share * np.array(scores)
    return UnitScores(fitted, reading, totals(fitted, reading, table.reading))


def totals(fitted: Array, reading: Array, weight: float) -> Array:
    """Fitted score plus weighted reading; units that were not read come after those that were."""
    was_read = ~np.isnan(reading)
    total = np.where(was_read, fitted + weight * np.nan_to_num(reading), fitted)
    if was_read.any() and not was_read.all():
        gap = total[was_read].min() - fitted[~was_read].max()
        total[~was_read] += min(0.0, gap)
    return np.asarray(total)


def read_text(unit: Unit) -> str:
    """What the reader reads of a unit: the heading it stands under, and its beginning."""
    return f"{unit.heading_path[-1] if unit.heading_path else ''}\n{unit.text[:_READ_CHARS]}"
