"""The gate of a release of scorer weights: goldens must not fall, and ratings that fitted nothing must rise.

Conditions, all of them paired comparisons with the weights in force:

1. no metric of any golden set falls (`evals.judging.gate.compare`);
2. the utility of the held ratings rises, with the lower bound of its interval above 0;
3. it rises more than if the same verdicts (this place of the ranking, this value) had been given to the other answers,
   with the lower bound above 0. Without it, praise of whatever stood first would be evidence for any weights that hold
   on to what stands first;
4. 2 and 3 hold without any one actor, whoever it is.

Actors are what is drawn for the intervals. Weight that nobody has (`safeguards.shares`) is drawn too, as actors who saw
no change: fewer than five never pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evals.feedback.features import METRICS, Candidates, score
from evals.intervals import Interval, interval
from evals.judging.gate import TOLERANCE, Verdict, compare
from webrag_core.feedback.estimate import Rating, Weighed, gains, weigh
from webrag_core.feedback.safeguards import MOST_OF_ONE_ACTOR, Agreement
from webrag_core.retrieval.weights import ScoreWeights

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReleaseVerdict:
    """`goldens` by set; `feedback` is the change of the held ratings, `beyond` how much more it is than for the same
    verdicts on other answers (None: no rating counts); `turned_by` names the actors without whom it would not pass;
    `why` says in words what fails."""

    goldens: Mapping[str, Verdict]
    feedback: Interval | None
    beyond: Interval | None
    turned_by: Sequence[str]
    why: Sequence[str]

    @property
    def passes(self) -> bool:
        """True when nothing fails."""
        return not self.why


def judge(
    current: ScoreWeights,
    proposed: ScoreWeights,
    *,
    goldens: Mapping[str, Sequence[Candidates]],
    held: Sequence[Rating],
    agreements: Mapping[str, Agreement],
    tolerance: float = TOLERANCE,
) -> ReleaseVerdict:
    """Judge `proposed` against `current`. `goldens` are question sets by name, `held` ratings of answers that nothing
    was fitted on."""
    verdicts = {
        name: compare(
            score(candidates, proposed),
            score(candidates, current),
            clusters={one.question: one.cluster for one in candidates},
            metrics=METRICS,
            tolerance=tolerance,
        )
        for name, candidates in goldens.items()
        if candidates
    }
    why = [
        f"{change.metric} of {name} falls by {-change.difference.mean:.3f}"
        f" [{change.difference.low:+.3f}, {change.difference.high:+.3f}]"
        for name, verdict in verdicts.items()
        for change in verdict.changes
        if change.fails
    ]
    change = _Change.of(weigh(held, agreements), current, proposed)
    turned: list[str] = []
    if not change.weighed.valued:
        why.append("no rating that nothing was fitted on counts")
    elif refused := change.refused():
        why += refused
    else:
        turned = [
            actor
            for actor in dict.fromkeys(change.weighed.actors)
            if change.under(weigh([one for one in held if one.claim.actor != actor], agreements)).refused()
        ]
        if turned:
            why.append(f"it would not pass without {', '.join(turned)}")
    return ReleaseVerdict(verdicts, change.interval(change.rises), change.interval(change.beyond), turned, why)


@dataclass(frozen=True, slots=True)
class _Change:
    """Of each held value: how much its gain rises, and how much more than at the same place of the other answers."""

    weighed: Weighed
    rises: Array
    beyond: Array

    @classmethod
    def of(cls, weighed: Weighed, current: ScoreWeights, proposed: ScoreWeights) -> Self:
        moves = [gains(one.considered, proposed) - gains(one.considered, current) for one in weighed.valued]
        longest = max(map(len, moves), default=0)
        table = np.full((len(moves), longest), np.nan)
        for row, move in zip(table, moves, strict=True):
            row[: len(move)] = move
        expected = np.nanmean(table, axis=0) if len(moves) else np.zeros(0)
        values = np.array([one.value for one in weighed.valued])
        places = [one.place for one in weighed.valued]
        own = np.array([move[place] for move, place in zip(moves, places, strict=True)])
        return cls(weighed, values * own, values * (own - expected[places]) if len(moves) else own)

    def under(self, weighed: Weighed) -> Self:
        """The same changes, of other ratings that are part of these."""
        place = {id(one): index for index, one in enumerate(self.weighed.valued)}
        rows = [place[id(one)] for one in weighed.valued]
        return replace(self, weighed=weighed, rises=self.rises[rows], beyond=self.beyond[rows])

    def interval(self, changes: Array) -> Interval | None:
        """The weighted mean of `changes`, drawn by actor; None without any."""
        mass = self.weighed.mass
        if not mass.sum():
            return None
        mass = mass * self.weighed.shares.sum() / mass.sum()  # inverse propensities normalise each other
        by_actor = dict.fromkeys(self.weighed.actors, 0.0)
        for actor, part in zip(self.weighed.actors, mass * changes, strict=True):
            by_actor[actor] += float(part)
        lost = 1 - float(self.weighed.shares.sum())
        parts = [*by_actor.values(), *[0.0] * round(lost / MOST_OF_ONE_ACTOR)]
        return interval([len(parts) * part for part in parts])

    def refused(self) -> list[str]:
        """Why these ratings do not speak for the change; empty where they do."""
        found = []
        for changes, words in (
            (self.rises, "the held ratings do not rise for certain"),
            (self.beyond, "the same verdicts on other answers would rise as much"),
        ):
            rise = self.interval(changes)
            if rise is None or rise.low <= 0:
                found.append(
                    words if rise is None else f"{words}: {rise.mean:+.4f} [{rise.low:+.4f}, {rise.high:+.4f}]"
                )
        return found
