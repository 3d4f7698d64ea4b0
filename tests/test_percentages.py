"""Percentages for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis.strategies import floats

from webrag_core.percentages import cut, percent


@pytest.mark.parametrize(
    ("probability", "shown"),
    [
        (0.0, "0%"),
        (0.009, "0%"),
        (0.29, "29%"),
        (0.4996, "49%"),
        (0.5, "50%"),
        (0.7999, "79%"),
        (0.999, "99%"),
        (1, "100%"),
    ],
)
def test_a_percentage_is_cut(probability: float, shown: str) -> None:
    assert percent(probability) == shown


@given(floats(0, 1))
def test_no_threshold_is_shown_that_is_missed(probability: float) -> None:
    for threshold in (0.5, 0.7, 0.8):
        assert (int(percent(probability).rstrip("%")) >= threshold * 100) == (cut(probability) >= threshold)
    assert percent(cut(probability)) == percent(probability)
    assert cut(cut(probability)) == cut(probability)
    assert cut(probability) <= probability + 1e-9
