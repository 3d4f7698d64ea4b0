"""How much a rating counts: limits for each actor, whatever an actor says.

Pure functions over ratings. An actor is a name: whoever can make up names can make up actors, so names are only as good
as the door that they come through (`webrag feedback` on the operator's machine; the MCP door is shut by default).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

MOST_OF_ONE_ACTOR = 0.05
"""Share of the total weight that one actor may have."""
MOST_A_DAY = 20
"""Ratings of one actor on one day (UTC) that count: the first ones."""
PRIOR = (2, 2)
"""Of the Beta distribution of an actor's agreement: who has never been compared counts half."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Whose rating it is, of which day, and its own weight (0: it does not count)."""

    actor: str
    day: date
    weight: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often an actor's ratings agreed and disagreed with accepted goldens."""

    agreed: int = 0
    disagreed: int = 0

    @property
    def weight(self) -> float:
        """Mean of the Beta posterior, in (0, 1)."""
        return (PRIOR[0] + self.agreed) / (sum(PRIOR) + self.agreed + self.disagreed)


def counted(claims: Sequence[Claim]) -> list[bool]:
    """Which ratings count, in their order of arrival: those with a weight, `MOST_A_DAY` of each actor and day."""
    seen: Counter[tuple[str, date]] = Counter()
    result = []
    for claim in claims:
        seen[claim.actor, claim.day] += claim.weight > 0
        result.append(claim.weight > 0 and seen[claim.actor, claim.day] <= MOST_A_DAY)
    return result


def shares(claims: Sequence[Claim], agreements: Mapping[str, Agreement]) -> NDArray[np.float64]:
    """The share of each rating in the total weight of 1, in order; 0 for those that do not count.

    First the number of ratings is capped: an actor has at most `MOST_OF_ONE_ACTOR` of the total, and what is above goes
    to the others in proportion (water-filling). Then the actor's agreement counts, beside the mean agreement of all, up
    to the same cap: no number of ratings makes up for being wrong. With fewer than twenty actors nobody is left to take
    what is above; that, and what is taken from actors who are right less often, is lost: the shares then add up to less
    than 1, and the rest stands for no change.
    """
    own = np.array([claim.weight * counts for claim, counts in zip(claims, counted(claims), strict=True)])
    totals: dict[str, float] = {}
    for claim, weight in zip(claims, own, strict=True):
        if weight > 0:
            totals[claim.actor] = totals.get(claim.actor, 0.0) + float(weight)
    if not totals:
        return np.zeros(len(claims))
    volume = _capped(totals)
    judged = {actor: part * agreements.get(actor, Agreement()).weight for actor, part in volume.items()}
    usual = sum(judged.values()) / sum(volume.values())
    final = {actor: min(MOST_OF_ONE_ACTOR, part / usual) for actor, part in judged.items()}
    return np.array(
        [
            weight / totals[claim.actor] * final[claim.actor] if weight > 0 else 0.0
            for claim, weight in zip(claims, own, strict=True)
        ]
    )


def _capped(totals: Mapping[str, float]) -> dict[str, float]:
    """The share of each actor, at most `MOST_OF_ONE_ACTOR`; the sum is 1 where there are actors enough."""
    full: set[str] = set()
    while True:
        room = 1 - MOST_OF_ONE_ACTOR * len(full)
        rest = sum(total for actor, total in totals.items() if actor not in full)
        over = {
            actor
            for actor, total in totals.items()
            if actor not in full and total * room > MOST_OF_ONE_ACTOR * rest * (1 + 1e-12)
        }
        if not over:
            break
        full |= over
    return {actor: MOST_OF_ONE_ACTOR if actor in full else total * room / rest for actor, total in totals.items()}
