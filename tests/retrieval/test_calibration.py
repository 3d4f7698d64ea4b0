"""Relevance: rises with the raw score within a query, is defined for every list, and is what the fit says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webrag_core.retrieval.calibration import RelevanceTable, features, relevance, relevance_table

SCORES = st.lists(st.integers(0, 1000), max_size=60)


@given(SCORES)
def test_ranking_by_relevance_is_ranking_by_score(thousandths: list[int]) -> None:
    scores = [value / 1000 for value in thousandths]
    found = relevance(scores)
    assert all(0 <= value <= 1 for value in found)
    for i, left in enumerate(scores):
        for j, right in enumerate(scores):
            if left > right:
                assert found[i] > found[j]
            if left == right:
                assert found[i] == found[j]


def test_the_order_of_the_chunks_does_not_matter() -> None:
    assert relevance([0.2, 0.7, 0.4]) == [relevance([0.7, 0.4, 0.2])[i] for i in (2, 0, 1)]


def test_features_by_hand() -> None:
    rows = features(np.array([0.3, 0.8, 0.3, 0.6]))
    assert rows == pytest.approx(
        np.array(
            [
                [0.3, 0.8, -0.5, np.log(3)],
                [0.8, 0.8, 0.2, 0.0],
                [0.3, 0.8, -0.5, np.log(3)],
                [0.6, 0.8, -0.2, np.log(2)],
            ]
        )
    )
    assert features(np.array([0.4])) == pytest.approx(np.array([[0.4, 0.4, 0.4, 0.0]]))
    assert features(np.array([0.4, 0.4]))[:, 2].tolist() == [0.0, 0.0]


def test_nothing_found_is_nothing_relevant() -> None:
    assert relevance([]) == []


def test_a_query_without_a_good_hit_gets_low_probabilities() -> None:
    weak = relevance([0.15, 0.14, 0.13])
    strong = relevance([0.75, 0.45, 0.40])
    assert max(weak) < 0.2
    assert strong[0] > 0.8
    assert max(strong[1:]) < 0.3


def test_the_shipped_table_rises() -> None:
    table = relevance_table()
    assert np.all(np.diff(table.knots) > 0)
    assert np.all(np.diff(table.levels) >= 0)
    assert 0 <= table.levels[0] <= table.levels[-1] <= 1


def test_steps_are_joined_by_lines() -> None:
    table = RelevanceTable((0.0, 1.0, 0.0, 0.0, 0.0), (0.0, 1.0), (0.0, 1.0))
    (value,) = table.probabilities(np.array([0.5]))
    assert value == pytest.approx(0.98 * 0.5 + 0.02 / (1 + np.exp(-0.5)))
