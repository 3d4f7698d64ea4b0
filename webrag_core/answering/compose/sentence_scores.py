"""How likely each unit of the evidence answers the question: a fitted score, and what the reader says of the best.

score = weights · features (`features.FEATURES`), and for the READ best units of those + `reading` · MaxSim of question
and unit (`retrieval.reader`). Units that were not read rank below those that were. The weights are a conditional logit:
they maximise the probability that a softmax over all units of a question gives to those that hold the gold quote; made
by `python -m evals.fitting.sentences`. What the reader says of whole passages changes no order: it is for the
confidence.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.compose.features import FEATURES, Array
from webrag_core.answering.units import Unit
from webrag_core.answering.wanted.thing import Thing
from webrag_core.errors import IntegrityError
from webrag_core.retrieval.reader import Reader, focused_mean

READ = 12
"""Units that the reader reads for each part of a question: about 6 ms each."""
TABLE = Path(__file__).with_name("sentence_weights.json")
_READ_CHARS = 400  # of a unit


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
    read (NaN for the others and without a reader), `window` of their passages, alike, `total` of all. `features`,
    shape (units, FEATURES), are those for the part alone. `relevance` in [0, 1] is that of a configured reranker, of
    those that it was sent (NaN for the others; None without one): it orders the units, and changes no probability.
    `allowed`, shape (units,): which units may answer the part."""

    features: Array
    fitted: Array
    reading: Array
    window: Array
    total: Array
    allowed: NDArray[np.bool_]
    relevance: Array | None = None

    @property
    def order(self) -> list[int]:
        """Indexes of the allowed units, best first: those with a relevance by it, then the others by their total."""
        keys = (-self.total,) if self.relevance is None else (-self.total, -np.nan_to_num(self.relevance, nan=-1.0))
        return [int(index) for index in np.lexsort(keys) if self.allowed[index]]


def fitted_scores(features: Array) -> Array:
    """The fitted score of every unit, shape (units,), from its features."""
    return np.asarray(features @ np.array(stored_weights().weights))


@dataclass(frozen=True, slots=True)
class Query:
    """A question, or a part of it, with what it is about and the `features.features_about` of the units for it."""

    text: str
    thing: Thing
    features: Array

    async def readings(self, reader: Reader, indexes: Sequence[int], texts: Sequence[str]) -> list[float]:
        """What the reader says of units (by index, with their texts), in order; those about the thing are read for the
        aspect. Empty after a failure."""
        about = [self.thing.about[index] for index in indexes]
        scores = [0.0] * len(texts)
        for query, wanted in ((self.thing.aspect, True), (self.text, False)):
            places = [place for place, is_about in enumerate(about) if is_about is wanted]
            read = await reader.read_texts(query, [texts[place] for place in places])
            if len(read) < len(places):
                return []
            for place, score in zip(places, read, strict=True):
                scores[place] = score
        return scores


async def score_units(
    queries: Sequence[Query],
    units: Sequence[Unit],
    reader: Reader | None,
    window: Array,
    relevance: Array | None = None,
    holds: NDArray[np.bool_] | None = None,
) -> UnitScores:
    """Score units, with the readings of their passages (`window`, shape (units,)), for the last of `queries`: the
    question, then the part of it that is meant, if any, on which it may lean. The reader reads the best by
    `relevance`, where a reranker gave one, else by the fitted scores; half of them among those that hold the fact
    (`holds`), if any do."""
    last = queries[-1]
    scores = np.array(focused_mean([fitted_scores(query.features) for query in queries]))
    reading = np.full(len(units), np.nan)
    allowed = np.array(last.thing.allowed, dtype=np.bool_)
    unread = UnitScores(last.features, scores, reading, window, scores, allowed, relevance)
    if reader is None or not units:
        return unread
    order = unread.order
    with_fact = [index for index in order if holds is None or holds[index]][: READ // 2]
    best = list(dict.fromkeys([*with_fact, *order]))[:READ]
    texts = [read_text(units[index]) for index in best]
    readings = focused_mean([await query.readings(reader, best, texts) for query in queries])
    if not readings:
        return unread
    reading[best] = readings
    total = totals(scores, reading, stored_weights().reading)
    return UnitScores(last.features, scores, reading, window, total, allowed, relevance)


def totals(fitted: Array, reading: Array, weight: float) -> Array:
    """Fitted score plus weighted reading; units that were not read come after those that were."""
    was_read = ~np.isnan(reading)
    total = np.where(was_read, fitted + weight * np.nan_to_num(reading), fitted)
    if was_read.any() and not was_read.all():
        gap = total[was_read].min() - fitted[~was_read].max()
        total[~was_read] += min(0.0, gap)
    return np.asarray(total)


def read_text(unit: Unit) -> str:
    """What the reader reads of a unit: the first heading of its page, that which it stands under, and its beginning. A
    value alone says neither what it is, nor of what."""
    first = unit.heading_path[0] if unit.heading_path else unit.chunk.title or ""
    nearest = unit.lead or (unit.heading_path[-1] if unit.heading_path else "")
    return f"{' > '.join(dict.fromkeys(filter(None, (first, nearest))))}\n{unit.text[:_READ_CHARS]}"
