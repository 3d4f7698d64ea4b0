"""Means with clustered bootstrap intervals, and shares with Wilson's.

Items of one cluster stand or fall together, so whole clusters are drawn, not items.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from webrag_core.errors import InvalidInputError

_RESAMPLES = 2000
_SEED = 7
_Z = 1.959964
"""Half the width of 95 % of a normal distribution, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its interval (of 95 %, unless another is asked for) over n items in `clusters` clusters."""

    mean: float
    low: float
    high: float
    n: int
    clusters: int

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def interval(
    values: Sequence[float], clusters: Sequence[Hashable] | None = None, *, confidence: float = 0.95
) -> Interval:
    """Mean of `values` (at least one, all finite) and its interval of `confidence`.

    `clusters` runs parallel to the values, None = each value stands alone. Where all values are of one cluster there is
    nothing to draw but the values themselves.

    Raises InvalidInputError for values that have no mean: none at all, or one that is not a number.
    """
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample) or not np.isfinite(sample).all():
        raise InvalidInputError("a mean needs values, and every one of them a number")
    if clusters is None:
        clusters = range(len(sample))
    places = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    members = np.array([places[cluster] for cluster in clusters]) if len(places) > 1 else np.arange(len(sample))
    sums = np.bincount(members, weights=sample)
    sizes = np.bincount(members)
    drawn = np.random.default_rng(_SEED).integers(len(sums), size=(_RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    beyond = (1 - confidence) / 2
    low, high = np.quantile(means, [beyond, 1 - beyond])
    return Interval(float(sample.mean()), float(low), float(high), len(sample), len(places))


def wilson(hits: int, n: int) -> Interval:
    """The share `hits` of `n` with the score interval of Wilson (1927), which holds where a share is near 0 or 1, or of
    few items; each item stands alone. Raises InvalidInputError unless 0 <= hits <= n and n > 0."""
    if not 0 <= hits <= n or n == 0:
        raise InvalidInputError(f"{hits} of {n} is no share")
    share, square = hits / n, _Z * _Z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = _Z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half), n, n)
