"""What ratings say about weights of the scorer that were not in force when they were given.

A rating values passages that an answer considered, from -1 to 1. A passage was among them with a recorded probability,
its propensity. The utility of weights θ is the self-normalised, clipped estimate by inverse propensity

    U(θ) = Σ s·w·r·g(rank of the passage under θ) / Σ s·w,   w = min(10, 1 / propensity)

over all valued passages, with share s (`safeguards.shares`) and value r. The gain g is 1 / rank of a smoothed rank: a
passage whose score lies just below another's is about half ahead of it, because its score could as well lie above.
Inverse propensities for rankings: Joachims, Swaminathan, Schnabel, Unbiased
Learning-to-Rank with Biased Feedback (2017); self-normalisation and clipping: Swaminathan, Joachims, The
Self-Normalized Estimator for Counterfactual Learning (2015).

What it cannot know: passages that no answer considered, and what is wrong with those that nobody rated.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webrag_core.feedback.safeguards import Agreement, Claim, shares
from webrag_core.retrieval.weights import LEAST, MOST, NAMES, ScoreWeights

Array = NDArray[np.float64]

CLIP = 10.0
"""The most that a rare passage counts."""
STEP = 0.10
"""How far a proposal may move a weight, as a share of it."""
_HALF = 0.5  # with the half that a passage is ahead of itself, the best rank is 1
_SMOOTHING = 0.02  # of scores, when ranks are smoothed: about the gap between neighbours among the first ten


@dataclass(frozen=True, slots=True)
class Considered:
    """The passages of one answer, in the order in which it ranked them: their signals (n, 6), columns as
    `weights.NAMES`, and propensities (n,) in (0, 1]."""

    signals: Array
    propensity: Array


@dataclass(frozen=True, slots=True)
class Valued:
    """One value in [-1, 1] for one considered passage, by its place in the ranking that was rated, from 0."""

    considered: Considered
    place: int
    value: float

    @property
    def weight(self) -> float:
        """The clipped inverse of its propensity, at least 1."""
        return float(min(CLIP, 1 / self.considered.propensity[self.place]))


@dataclass(frozen=True, slots=True)
class Rating:
    """What one actor said of one answer: a claim to weight, and what it values (nothing where it names no passage that
    the answer considered). `id` and `answer` as in the tables."""

    id: int
    answer: int
    claim: Claim
    valued: tuple[Valued, ...]


@dataclass(frozen=True, slots=True)
class Weighed:
    """Valued passages with their shares of the total weight, and whose they are; the three run parallel."""

    valued: list[Valued]
    shares: Array
    actors: list[str]

    @property
    def mass(self) -> Array:
        """Each one's share times its clipped inverse propensity."""
        return np.asarray(self.shares * np.array([one.weight for one in self.valued]))


def gains(considered: Considered, weights: ScoreWeights) -> Array:
    """1 / smoothed rank of each passage under `weights`, shape (n,), in (0, 1]."""
    scores = considered.signals @ weights.vector()
    ahead = 1 / (1 + np.exp(np.clip((scores[:, None] - scores[None, :]) / _SMOOTHING, -30, 30)))
    return np.asarray(1 / (_HALF + ahead.sum(axis=1)))


def utility(weighed: Weighed, weights: ScoreWeights) -> float:
    """U(θ) in [-1, 1]; 0 where no rating counts."""
    mass = weighed.mass
    total = float(mass.sum())
    if not total:
        return 0.0
    values = [one.value * gains(one.considered, weights)[one.place] for one in weighed.valued]
    return float(mass @ np.array(values) / total)


def effective_size(weighed: Weighed) -> float:
    """Kish's effective sample size (Σ w)² / Σ w² of the valued passages."""
    mass = weighed.mass
    squares = float((mass**2).sum())
    return float(mass.sum() ** 2 / squares) if squares else 0.0


def neighbours(weights: ScoreWeights) -> list[ScoreWeights]:
    """The weights themselves, and each way to raise, keep or lower every one of them, with a sum of 1 and no change
    above `STEP` of a weight."""
    base = weights.vector()
    found = {weights: None}
    for factors in itertools.product((1 - STEP, 1.0, 1 + STEP), repeat=len(NAMES)):
        moved = base * np.array(factors)
        change = moved / moved.sum() - base
        largest = np.max(np.abs(change) / base)
        if largest > 1e-9:
            moved = base + change * min(1.0, STEP * 0.999 / largest)  # a hair less: the weights are rounded
            if moved.min() >= LEAST and moved.max() <= MOST:
                found[ScoreWeights.scaled(moved)] = None
    return list(found)


def best_step(weighed: Weighed, weights: ScoreWeights) -> ScoreWeights:
    """Of `neighbours` the one with the highest utility; `weights` themselves where none is better, or
    no rating counts."""
    choices = neighbours(weights)
    mass = weighed.mass
    if not mass.sum():
        return weights
    theta = np.column_stack([choice.vector() for choice in choices])
    total = np.zeros(len(choices))
    for one, weight in zip(weighed.valued, mass, strict=True):
        if weight:
            scores = one.considered.signals @ theta
            ahead = 1 / (1 + np.exp(np.clip((scores[one.place] - scores) / _SMOOTHING, -30, 30)))
            total += weight * one.value / (_HALF + ahead.sum(axis=0))
    return choices[int(np.argmax(total))]


def weigh(ratings: Sequence[Rating], agreements: Mapping[str, Agreement]) -> Weighed:
    """Apply the safeguards. A rating of several passages divides its share among them; one that values none has no
    share, and takes no place among those of its actor and day."""
    useful = [one for one in ratings if one.valued]
    parts = shares([one.claim for one in useful], agreements)
    rows = [
        (valued, float(part) / len(one.valued), one.claim.actor)
        for one, part in zip(useful, parts, strict=True)
        if part > 0
        for valued in one.valued
    ]
    return Weighed([row[0] for row in rows], np.array([row[1] for row in rows]), [row[2] for row in rows])


def half_of(answer: int) -> int:
    """The half, 1 or 2, that an answer belongs to: what the ratings of one half fit, those of the other judge."""
    return 1 + hashlib.sha256(f"feedback {answer}".encode()).digest()[0] % 2
