"""The gate of a release of scorer weights: goldens must not fall, and ratings that fitted nothing must rise.

Three conditions, all of them paired comparisons with the weights in force: no metric of any golden set falls
(`evals.judging.gate.compare`); the value-weighted reciprocal rank of the held ratings rises, with the lower bound of
its interval (whole actors are drawn) above 0; and the same holds without any one actor, whoever it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.feedback.features import METRICS, Candidates, score
from evals.intervals import Interval, interval
from evals.judging.gate import TOLERANCE, Verdict, compare
from webrag_core.feedback.estimate import Rating, Weighed, reciprocal_ranks, weigh
from webrag_core.feedback.safeguards import Agreement
from webrag_core.retrieval.weights import ScoreWeights


@dataclass(frozen=True, slots=True)
class ReleaseVerdict:
    """`goldens` by set; `feedback` is the change of the held ratings (None: none of them counts); `turned_by` names the
    actors without whom it would not be above 0; `why` says in words what fails."""

    goldens: Mapping[str, Verdict]
    feedback: Interval | None
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
            clusters={one.question: one.documents[0] if one.documents else one.question for one in candidates},
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
    rise = change_of(weigh(held, agreements), current, proposed)
    turned = []
    if rise is None:
        why.append("no rating that nothing was fitted on counts")
    elif rise.low <= 0:
        why.append(f"the held ratings do not rise for certain: {rise.mean:+.4f} [{rise.low:+.4f}, {rise.high:+.4f}]")
    else:
        turned = _turned_by(held, agreements, current, proposed)
        if turned:
            why.append(f"the ratings rise only with {', '.join(turned)}")
    return ReleaseVerdict(verdicts, rise, turned, why)


def change_of(weighed: Weighed, current: ScoreWeights, proposed: ScoreWeights) -> Interval | None:
    """The change of the ratings' utility (`estimate.utility`), with its interval; None without a rating."""
    if not weighed.valued:
        return None
    moved = reciprocal_ranks(weighed.valued, proposed) - reciprocal_ranks(weighed.valued, current)
    mass = weighed.shares * np.array([one.weight for one in weighed.valued])
    values = mass / mass.mean() * np.array([one.value for one in weighed.valued]) * moved
    return interval([float(value) for value in values], weighed.actors)


def _turned_by(
    held: Sequence[Rating], agreements: Mapping[str, Agreement], current: ScoreWeights, proposed: ScoreWeights
) -> list[str]:
    actors = dict.fromkeys(one.claim.actor for one in held if one.valued and one.claim.weight > 0)
    turned = []
    for actor in actors:
        others = [one for one in held if one.claim.actor != actor]
        without = change_of(weigh(others, agreements), current, proposed)
        if without is None or without.low <= 0:
            turned.append(actor)
    return turned
