"""Clustered bootstrap intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evals.intervals import interval, wilson
from webrag_core.errors import InvalidInputError


def test_items_of_one_cluster_do_not_count_as_many() -> None:
    values = [0.0, 1.0] * 50
    alone = interval(values, range(100))
    paired = interval(values, [index // 2 for index in range(100)])
    lumped = interval(sorted(values), [index // 50 for index in range(100)])
    assert (alone.mean, alone.n, alone.clusters) == (0.5, 100, 100)
    assert alone.low == pytest.approx(0.4, abs=0.03)
    assert alone.high == pytest.approx(0.6, abs=0.03)
    assert (paired.low, paired.high) == (0.5, 0.5), "every cluster is half right"
    assert (lumped.low, lumped.high, lumped.clusters) == (0.0, 1.0, 2)


def test_large_clusters_weigh_by_their_items() -> None:
    found = interval([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"])
    assert found.mean == 0.75
    assert (found.low, found.high) == (0.0, 1.0)


def test_one_cluster_alone_is_drawn_from_by_item() -> None:
    found = interval([0.0, 1.0, 0.0, 1.0], ["a"] * 4)
    assert (found.clusters, found.mean) == (1, 0.5)
    assert found.low < 0.5 < found.high


def test_without_clusters_each_value_stands_alone() -> None:
    values = [0.0, 0.25, 1.0, 1.0, 0.5]
    assert interval(values) == interval(values, "abcde")
    draws = np.random.default_rng(7).choice(values, size=(2000, 5)).mean(axis=1)  # the plain bootstrap
    assert [interval(values).low, interval(values).high] == pytest.approx(np.quantile(draws, [0.025, 0.975]))


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_what_has_no_mean_is_refused(values: list[float]) -> None:
    with pytest.raises(InvalidInputError):
        interval(values, values)


def test_it_is_the_same_every_time_and_reads_well() -> None:
    assert interval([0.0, 1.0, 1.0], "abc") == interval([0.0, 1.0, 1.0], "abc")
    assert str(interval([1.0, 1.0], "ab")) == "1.00 [1.00, 1.00]"


def test_shares_of_few_items_keep_a_width() -> None:
    """Figures of Wilson's interval from Newcombe (1998), table I."""
    found = wilson(81, 263)
    assert (found.mean, found.n) == (81 / 263, 263)
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert (wilson(0, 20).low, wilson(0, 20).high) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert (wilson(1, 29).low, wilson(1, 29).high) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert wilson(3, 3).high == 1.0
    for hits, n in [(0, 0), (4, 3), (-1, 3)]:
        with pytest.raises(InvalidInputError):
            wilson(hits, n)
