"""What ratings say about other weights: gains and utility by hand, and the bounds of a step."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from webrag_core.feedback.estimate import (
    CLIP,
    STEP,
    Considered,
    Rating,
    Valued,
    best_step,
    effective_size,
    gains,
    neighbours,
    utility,
    weigh,
)
from webrag_core.feedback.safeguards import Claim
from webrag_core.retrieval.weights import LEAST, MOST, SHIPPED, ScoreWeights

WORDS, MEANING = np.array([1.0, 1, 1, 0, 0, 0]), np.array([0.0, 0, 0, 1, 1, 1])


def rating(number: int, actor: str, valued: Valued) -> Rating:
    return Rating(number, number, Claim(actor, date(2026, 3, 1), 1.0), (valued,))


def by_words(value: float, propensity: float = 1.0) -> Valued:
    """A passage that words find, behind one that meaning finds."""
    signals = np.array([0.9 * MEANING + 0.3 * WORDS, 0.58 * WORDS + 0.3 * MEANING])
    return Valued(Considered(signals, np.array([1.0, propensity])), 1, value)


def test_gains_are_reciprocal_ranks_where_scores_lie_apart() -> None:
    considered = Considered(np.array([[0.9] * 6, [0.1] * 6, [0.5] * 6]), np.ones(3))
    assert gains(considered, SHIPPED) == pytest.approx([1, 1 / 3, 1 / 2], abs=1e-3)


def test_equal_scores_share_their_ranks() -> None:
    assert gains(Considered(np.full((2, 6), 0.5), np.ones(2)), SHIPPED) == pytest.approx([2 / 3, 2 / 3])


def test_rare_passages_count_more_up_to_a_limit() -> None:
    assert by_words(1, 0.5).weight == 2
    assert by_words(1, 0.001).weight == CLIP
    rare, common = by_words(1.0, 0.25), by_words(-1.0)
    weighed = weigh([rating(1, "a", rare), rating(2, "b", common)], {})
    gain = gains(rare.considered, SHIPPED)[1]
    assert utility(weighed, SHIPPED) == pytest.approx((4 * gain - gain) / 5)
    assert effective_size(weighed) == pytest.approx(25 / 17)


def test_nothing_rated_says_nothing() -> None:
    empty = weigh([Rating(1, 1, Claim("a", date(2026, 3, 1), 1.0), ())], {})
    assert utility(empty, SHIPPED) == 0
    assert effective_size(empty) == 0
    assert best_step(empty, SHIPPED) == SHIPPED


def test_a_step_is_bounded_in_every_weight() -> None:
    extreme = ScoreWeights(lexical=0.55, coverage=0.20, proximity=0.05, token_match=0.10, sibling=0.05, cosine=0.05)
    for base in (SHIPPED, extreme):
        steps = neighbours(base)
        assert steps[0] == base
        assert len(steps) > 500
        for step in steps:
            assert np.max(np.abs(step.vector() / base.vector() - 1)) <= STEP + 1e-9
            assert step.vector().sum() == pytest.approx(1)
            assert LEAST <= step.vector().min() <= step.vector().max() <= MOST


def test_praise_lifts_what_finds_the_passage_and_blame_lowers_it() -> None:
    for value, words_rise in ((1.0, True), (-1.0, False)):
        step = best_step(weigh([rating(1, "a", by_words(value))], {}), SHIPPED)
        assert bool(step.vector() @ WORDS > SHIPPED.vector() @ WORDS) is words_rise
