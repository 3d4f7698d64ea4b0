"""What raw scores mean: the probability that a chunk is relevant, fitted on questions with known evidence.

A logistic model of four numbers (the chunk's raw score, the best score of the query, the lead over the best other
chunk, the rank) and then isotonic regression. Within one query the probability rises strictly with the raw score, so
that ranking by one is ranking by the other. `python -m evals.fitting.calibration --write` makes the table again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webrag_core.providers.embedder import ModelIdentity

_TABLE = Path(__file__).with_name("relevance.json")
FEATURES = ("raw score", "best score", "lead over the best other", "ln rank")
_SLOPE = 0.02  # of the plain logistic, mixed in: isotonic steps alone would tie neighbours

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Provenance of a fitted table.

    `label` is the predicted event, `features` are the inputs, `data` names the data sets; `n` counts their items
    and `rows` the rows of the fit. `commit` is the code that made the features. `figures` say how well it holds on
    data that it has not seen.
    """

    label: str
    features: tuple[str, ...]
    data: tuple[str, ...]
    n: int
    rows: int
    date: str
    commit: str
    embedding_model: str
    reranker: str
    reader: str
    figures: Mapping[str, Any]

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Provenance:
        """The `provenance` of a stored table."""
        stored = dict(table["provenance"])
        models = stored.pop("models")
        for name in ("features", "data"):
            stored[name] = tuple(stored[name])
        reader = models.get("reader", "none")
        return cls(**stored, embedding_model=models["embedding"], reranker=models["reranker"], reader=reader)

    def holds_for(self, model: ModelIdentity, reranker: str) -> bool:
        """True for the models that the table was fitted with; with any other its probabilities are uncalibrated."""
        return (self.embedding_model, self.reranker) == (model_name(model), reranker)


def model_name(model: ModelIdentity) -> str:
    """An embedding model as `Provenance` names it."""
    return f"{model.provider}/{model.name}"


@dataclass(frozen=True, slots=True)
class RelevanceTable:
    """Coefficients (constant, raw score, best score, lead, ln rank) and the isotonic knots (rising in both)."""

    coefficients: tuple[float, float, float, float, float]
    knots: tuple[float, ...]
    levels: tuple[float, ...]

    def probabilities(self, scores: Array) -> Array:
        """In [0, 1], in the order of `scores` (all raw scores of one query)."""
        return self.from_features(features(scores))

    def from_features(self, rows: Array) -> Array:
        """In [0, 1], for rows of `features`."""
        z = np.column_stack([np.ones(len(rows)), rows]) @ np.array(self.coefficients)
        stepped = np.interp(z, self.knots, self.levels)
        return np.asarray((1 - _SLOPE) * stepped + _SLOPE / (1 + np.exp(-z)))


def features(scores: Array) -> Array:
    """Shape (len(scores), 4): raw score, best score of the query, lead over the best other (negative behind it; over 0
    when there is no other), ln rank. Equal scores have equal features."""
    if not len(scores):
        return np.empty((0, 4))
    ordered = np.sort(scores)[::-1]
    best, second = ordered[0], ordered[1] if len(ordered) > 1 else 0.0
    others = np.where(scores == best, second, best)
    rank = 1 + np.searchsorted(-ordered, -scores, side="left")
    return np.column_stack([scores, np.full(len(scores), best), scores - others, np.log(rank)])


@lru_cache(maxsize=1)
def relevance_table() -> RelevanceTable:
    """The table that ships with the library."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    return RelevanceTable(tuple(table["coefficients"]), tuple(table["knots"]), tuple(table["levels"]))


@lru_cache(maxsize=1)
def relevance_provenance() -> Provenance:
    """Provenance of the table: its data, label and validation figures."""
    return Provenance.of(json.loads(_TABLE.read_text(encoding="utf-8")))


def relevance(scores: Sequence[float], groups: Sequence[int] = ()) -> list[float]:
    """Probability of relevance of each chunk, given the raw scores of all chunks that one query found. Chunks of one of
    the `groups` (one name per chunk) say nearly the same: each is judged as if the others of its group were not there.
    """
    values = np.asarray(scores, dtype=np.float64)
    table = relevance_table()
    probabilities = table.probabilities(values)
    names = np.asarray(groups)
    for name in (group for group, number in Counter(groups).items() if number > 1):
        members = np.flatnonzero(names == name)
        for member in members:
            rest = np.append(values[names != name], values[member])
            probabilities[member] = max(probabilities[member], table.probabilities(rest)[-1])
    return [float(value) for value in probabilities]
