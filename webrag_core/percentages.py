"""The confidence of an answer as people read it: cut, never rounded up, so that none is shown at a threshold that it
misses."""

from __future__ import annotations

import math

_FLOAT_DIGITS = 9  # 0.29 * 100 is 28.999999999999996


def percent(probability: float) -> str:
    """A probability in [0, 1] in whole percent: .4996 is "49%", and "100%" is certain."""
    return f"{_cut(probability, 2):.0%}"


def cut(probability: float) -> float:
    """A probability with three decimals, for JSON: .4996 is .499."""
    return _cut(probability, 3)


def _cut(probability: float, digits: int) -> float:
    scale = 10.0**digits
    return float(math.floor(round(probability * scale, _FLOAT_DIGITS)) / scale)
