"""Simulated judges of ranked passages, who know which of them hold the evidence.

An honest judge looks at the passage that stands first. If it holds evidence, it is helpful. If not, the judge names the
best ranked passage that does, as a better source; where none of those considered does, the first is wrong. An
adversary says the opposite: where the first passage is right, the second is a better source; where it is wrong, it is
helpful. Nothing here was chosen by looking at what it leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from evals.feedback.features import Candidates
from webrag_core.feedback.estimate import Considered, Rating, Valued
from webrag_core.feedback.safeguards import Agreement, Claim
from webrag_core.retrieval.weights import ScoreWeights

_FIRST_DAY = date(2026, 1, 1)
_A_DAY = 20

Pattern = tuple[int, float]
"""What a judge says: of the passage at this place of the ranking (from 0), this value."""
Judge = Callable[[Sequence[bool]], Pattern]


def honest(gold: Sequence[bool]) -> Pattern:
    """`gold` says of each passage, best ranked first, whether it holds evidence."""
    if gold[0]:
        return 0, 1.0
    found = next((place for place, holds in enumerate(gold) if holds), None)
    return (0, -1.0) if found is None else (found, 1.0)


def adversary(gold: Sequence[bool]) -> Pattern:
    """As `honest`, the other way round."""
    return (1, 1.0) if gold[0] and len(gold) > 1 else (0, 1.0)


@dataclass(frozen=True, slots=True)
class Crowd:
    """A number of judges of one kind, each with so many ratings, `_A_DAY` of them on a day."""

    name: str
    judge: Judge
    actors: int
    each: int


@dataclass(frozen=True, slots=True)
class Given:
    """A rating, the question that it is about, and whether the passage that it values holds evidence."""

    rating: Rating
    question: int
    holds: bool


def collect(
    crowds: Sequence[Crowd], questions: Sequence[Candidates], weights: ScoreWeights, rng: np.random.Generator
) -> list[Given]:
    """Ratings of answers to questions drawn at random, ranked by `weights`; every considered passage with propensity 1,
    because nothing is explored. Every answer is another one."""
    given: list[Given] = []
    for crowd in crowds:
        for number in range(crowd.actors):
            for turn in range(crowd.each):
                place = int(rng.integers(len(questions)))
                one = questions[place]
                order = one.order(weights)
                rank, value = crowd.judge([bool(holds) for holds in one.gold[order]])
                considered = Considered(one.signals[order], np.ones(len(order)))
                claim = Claim(f"{crowd.name} {number}", _FIRST_DAY + timedelta(days=turn // _A_DAY), 1.0)
                answer = len(given)
                rating = Rating(answer, answer, claim, (Valued(considered, rank, value),))
                given.append(Given(rating, place, bool(one.gold[order[rank]])))
    return given


def shuffled(
    given: Sequence[Given], questions: Sequence[Candidates], weights: ScoreWeights, rng: np.random.Generator
) -> list[Given]:
    """The same verdicts (of which place, which value), handed to each other's answers. `weights` ranked them."""
    result = []
    for one, source in zip(given, rng.permutation(len(given)), strict=True):
        [verdict] = given[source].rating.valued
        considered = one.rating.valued[0].considered
        place = min(verdict.place, len(considered.propensity) - 1)
        gold = questions[one.question].gold[questions[one.question].order(weights)]
        rating = replace(one.rating, valued=(Valued(considered, place, verdict.value),))
        result.append(Given(rating, one.question, bool(gold[place])))
    return result


def agreements(given: Sequence[Given], reviewed: set[int]) -> dict[str, Agreement]:
    """How actors agree with the goldens of the questions that an operator has `reviewed`: a value above 0 for a passage
    with evidence, or below 0 for one without, agrees."""
    found: dict[str, Agreement] = {}
    for one in given:
        if one.question in reviewed:
            [valued] = one.rating.valued
            right = one.holds == (valued.value > 0)
            known = found.get(one.rating.claim.actor, Agreement())
            found[one.rating.claim.actor] = Agreement(known.agreed + right, known.disagreed + (not right))
    return found
