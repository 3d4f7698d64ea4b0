"""Every rule of the router fires where it must, and nowhere else."""

from __future__ import annotations

from collections import Counter

import pytest

from evals.routing.rules import RouteGolden, check, load_routes
from webrag_core.routing.router_rules import GROUND, SPECIAL

RULES = [rule.id for rule in (*SPECIAL, *GROUND)]


@pytest.mark.parametrize("golden", load_routes(), ids=lambda golden: golden.id)
def test_a_question_is_planned_by_the_right_rules(golden: RouteGolden) -> None:
    [checked] = check([golden])
    assert checked.rules == golden.rules
    assert not set(checked.rules) & set(golden.mistaken)


def test_every_rule_has_goldens_that_fire_it_and_goldens_that_must_not() -> None:
    goldens = load_routes()
    assert len(RULES) == len(set(RULES)) >= 15
    fires = Counter(rule for one in goldens for rule in one.rules)
    mistaken = Counter(rule for one in goldens for rule in one.mistaken)
    assert {rule for rule in RULES if fires[rule] < 2 or mistaken[rule] < 2} == set()
    assert set(fires) | set(mistaken) <= set(RULES)
