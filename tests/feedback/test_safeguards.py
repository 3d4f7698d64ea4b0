"""How much ratings count: caps, days, agreement. Shares are checked against what the definitions say."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webrag_core.feedback.safeguards import MOST_OF_ONE_ACTOR, Agreement, Claim, counted, shares

DAY = date(2026, 3, 1)


def claims(**ratings: int) -> list[Claim]:
    return [Claim(actor, DAY, 1.0) for actor, number in ratings.items() for _ in range(number)]


def by_actor(rows: list[Claim], agreements: dict[str, Agreement] | None = None) -> dict[str, float]:
    totals: dict[str, float] = {}
    for claim, share in zip(rows, shares(rows, agreements or {}), strict=True):
        totals[claim.actor] = totals.get(claim.actor, 0.0) + float(share)
    return totals


def test_twenty_ratings_of_a_day_count() -> None:
    rows = [*claims(eve=30), *[Claim("eve", DAY + timedelta(days=1), 1.0)] * 5]
    assert counted(rows) == [True] * 20 + [False] * 10 + [True] * 5


def test_ratings_without_weight_take_no_place() -> None:
    rows = [*[Claim("eve", DAY, 0.0)] * 30, *claims(eve=1)]
    assert counted(rows) == [False] * 30 + [True]


def test_few_actors_lose_what_nobody_may_have() -> None:
    assert by_actor(claims(a=20, b=1, c=1)) == pytest.approx({"a": 0.05, "b": 0.05, "c": 0.05})


def test_many_actors_share_what_is_above() -> None:
    rows = claims(eve=20, **{f"p{number}": 2 for number in range(38)})
    found = by_actor(rows)
    assert found["eve"] == pytest.approx(0.05)
    assert found["p0"] == pytest.approx(0.95 / 38)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=60))
def test_nobody_has_more_than_a_twentieth(numbers: list[int]) -> None:
    found = by_actor(claims(**{f"p{place}": number for place, number in enumerate(numbers)}))
    assert max(found.values()) <= MOST_OF_ONE_ACTOR + 1e-9
    assert sum(found.values()) == pytest.approx(min(1.0, len(numbers) * MOST_OF_ONE_ACTOR))
    order = sorted(range(len(numbers)), key=lambda place: numbers[place])
    assert (np.diff([found[f"p{place}"] for place in order]) >= -1e-9).all()  # more ratings never weigh less


def test_an_actor_weighs_as_much_as_goldens_bear_out() -> None:
    assert Agreement().weight == 0.5
    assert Agreement(agreed=6).weight == 0.8
    assert Agreement(disagreed=16).weight == 0.1
    rows = claims(good=1, bad=1, **{f"p{number}": 10 for number in range(30)})
    found = by_actor(rows, {"good": Agreement(agreed=6), "bad": Agreement(disagreed=16)})
    assert found["good"] == pytest.approx(8 * found["bad"])


def test_a_thousand_ratings_weigh_what_twenty_do() -> None:
    crowd = {f"p{number}": 20 for number in range(30)}
    flood = [Claim("eve", DAY + timedelta(days=number // 20), 1.0) for number in range(1_000)]
    assert by_actor([*claims(**crowd), *flood])["eve"] <= MOST_OF_ONE_ACTOR + 1e-9
    assert by_actor([*claims(**crowd), *claims(eve=1_000)])["eve"] == pytest.approx(1 / 31)
