"""Every rule of the router fires where it must, and nowhere else."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest

from evals.routing.rules import AGENTS, RouteGolden, check, load_routes
from webrag_core.routing.features import CorpusState, read_with
from webrag_core.routing.plan import Budget, Iteration
from webrag_core.routing.question import Question
from webrag_core.routing.router_rules import GROUND, SPECIAL, plan_by_rules

RULES = [rule.id for rule in (*SPECIAL, *GROUND)]


@pytest.mark.parametrize("golden", load_routes(), ids=lambda golden: golden.id)
def test_a_question_is_planned_by_the_right_rules(golden: RouteGolden) -> None:
    [checked] = check([golden])
    assert checked.rules == golden.rules
    assert not set(checked.rules) & set(golden.mistaken)


SHOP = CorpusState(any_stored=True, any_past=True, pages=("https://shop.example/returns",), keys=("term:returns",))


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("when was https://shop.example/returns last updated", "last_change"),
        ("What is the most recent edit of https://shop.example/returns?", "last_change"),
        ("Show the page at https://shop.example/returns as of May 2025.", "page_then"),
        ("What stood on https://shop.example/returns in 2024?", "page_then"),
        ("What did the site say about returns back in 2024?", "said_then"),
        ("What did the handbook state about the returns page as of 2025-02-01?", "said_then"),
        ("Does https://shop.example/returns name the last change of the price?", None),
        ("When was the last time that https://shop.example/returns named a fee?", None),
        ("What did https://shop.example/returns cost to build?", None),
        ("What did the manager say about returns?", None),
        ("How do I change the last line of https://shop.example/returns?", None),
        ("Show me how returns work in https://shop.example/returns", None),
    ],
)
def test_pages_and_things_at_a_date_are_planned_where_the_question_plainly_asks(
    question: str, rule: str | None
) -> None:
    read = read_with(Question(question), SHOP, date(2026, 11, 25))
    made = plan_by_rules(read, Budget(seconds=60, chat_calls=0), Iteration(), AGENTS).made_by
    fired = set(made.removeprefix("rules: ").split(", ")) & {"last_change", "page_then", "said_then"}
    assert fired == ({rule} if rule else set())


def test_every_rule_has_goldens_that_fire_it_and_goldens_that_must_not() -> None:
    goldens = load_routes()
    assert len(RULES) == len(set(RULES)) >= 15
    fires = Counter(rule for one in goldens for rule in one.rules)
    mistaken = Counter(rule for one in goldens for rule in one.mistaken)
    assert {rule for rule in RULES if fires[rule] < 2 or mistaken[rule] < 2} == set()
    assert set(fires) | set(mistaken) <= set(RULES)
