"""Samples of a suite: every kind of question in turn, the same ones every time."""

from __future__ import annotations

from collections import Counter

import pytest

from evals.walks.goldens import DEFAULT_GOLDEN, load_goldens
from evals.walks.suites import sample_goldens
from webrag_core.errors import InvalidInputError

GOLDENS = load_goldens(DEFAULT_GOLDEN)


def test_a_sample_holds_every_kind_and_keeps_the_order() -> None:
    sample = sample_goldens(GOLDENS, 10)
    assert Counter(golden.kind for golden in sample) == dict.fromkeys({golden.kind for golden in GOLDENS}, 2)
    assert sample == [golden for golden in GOLDENS if golden in sample]
    assert sample_goldens(GOLDENS, 10) == sample
    assert {golden.id for golden in sample} < {golden.id for golden in sample_goldens(GOLDENS, 11)}


def test_a_sample_is_at_most_everything_and_never_nothing() -> None:
    assert sample_goldens(GOLDENS, 1000) == GOLDENS
    with pytest.raises(InvalidInputError, match="at least one"):
        sample_goldens(GOLDENS, 0)
