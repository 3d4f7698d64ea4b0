"""Site-walk metrics on run logs whose scores are known by construction."""

from __future__ import annotations

from typing import Any

import pytest

from evals.walks.goldens import GoldenQuery
from evals.walks.scoring import METRICS, aggregate, is_complete, score_item, summarise

BASE = "https://docs.example/"


def golden(**changes: Any) -> GoldenQuery:
    fields: dict[str, Any] = {
        "id": "one",
        "site": "docs",
        "seed_url": f"{BASE}start.html",
        "query": "?",
        "kind": "one_hop",
        "gold_pages": [[f"{BASE}guide/", f"{BASE}other.html"]],
        "gold_quotes": [["The answer is forty-two."]],
        "oracle_pages": 2,
    }
    return GoldenQuery.model_validate({**fields, **changes})


def record(*fetched: tuple[str, int], claimed: bool = True, stop: str = "confident", text: str = "") -> dict[str, Any]:
    return {
        "id": "one",
        "fetched": [{"url": BASE + path, "round": number} for path, number in fetched],
        "stop": stop,
        "claimed_found": claimed,
        "evidence": [{"url": f"{BASE}guide/", "text": text}],
    }


def test_a_perfect_walk() -> None:
    score = score_item(
        golden(), record(("start.html", 0), ("guide/index.html", 1), text="So: the *answer* is\nforty-two.")
    )
    assert score == {
        "success": True,
        **{"s@5": True, "s@10": True, "s@30": True},
        "quotes": True,
        "pages": 2,
        "stop_exact": True,
        "false_claim": False,
        "utility": 1.0,
        "net": 1.0,
    }


def test_a_round_too_many_is_not_exact_and_halves_the_utility() -> None:
    walk = record(("start.html", 0), ("other.html", 1), ("x.html", 2), ("y.html", 2))
    score = score_item(golden(), walk)
    assert score["success"]
    assert not score["stop_exact"]
    assert not score["quotes"]
    assert score["utility"] == pytest.approx(0.5)


def test_claiming_without_the_page_costs_half_a_point() -> None:
    score = score_item(golden(), record(("start.html", 0)))
    assert (score["success"], score["false_claim"], score["net"]) == (False, True, -0.5)
    assert score_item(golden(), record(("start.html", 0), claimed=False))["net"] == 0.0


def test_an_item_that_never_started_scores_nothing() -> None:
    score = score_item(golden(), record(claimed=False, stop="gave_up"))
    assert (score["success"], score["stop_exact"], score["utility"], score["pages"]) == (False, False, 0.0, 0)


def test_evidence_beyond_the_budget_does_not_count() -> None:
    far = "x " * 16_000 + "The answer is forty-two."
    assert not score_item(golden(), record(("guide/", 0), text=far))["quotes"]


def test_unanswerable_items_reward_saying_so_early() -> None:
    item = golden(kind="unanswerable", gold_pages=[], gold_quotes=[])
    assert score_item(item, record(("start.html", 0), claimed=False))["utility"] == 1.0
    assert score_item(item, record(("a", 0), ("b", 1), ("c", 1), ("d", 1), claimed=False))["net"] == pytest.approx(0.9)
    assert score_item(item, record(("start.html", 0)))["net"] == -0.5


def test_intervals_hold_the_mean() -> None:
    goldens = [golden(id=str(number), seed_url=f"{BASE}{number}.html") for number in range(8)]
    records = [{**record(("start.html", 0), ("guide/", 1)), "id": str(number)} for number in range(4)]
    records += [{**record(("start.html", 0)), "id": str(number)} for number in range(4, 8)]
    cell = aggregate(goldens, records)["answerable"]["success"]
    assert (cell.mean, cell.n) == (0.5, 8)
    assert cell.low < 0.5 < cell.high


def test_without_recorded_evidence_the_quotes_are_not_judged() -> None:
    score = score_item(golden(), {**record(("start.html", 0), ("guide/", 1)), "evidence": None})
    assert score["success"]
    assert "quotes" not in score


def test_evidence_is_complete_when_pages_and_quotes_are_there() -> None:
    walk = record(("start.html", 0), ("guide/", 1), text="The answer is forty-two.")
    assert is_complete(golden(), walk)
    assert not is_complete(golden(), record(("start.html", 0), ("guide/", 1)))
    assert not is_complete(golden(), record(("start.html", 0), text="The answer is forty-two."))
    assert not is_complete(golden(kind="unanswerable", gold_pages=[], gold_quotes=[]), walk)


def test_items_without_scores_and_groups_without_items_are_left_out() -> None:
    goldens = [golden(), golden(id="two", kind="two_hop")]
    table = summarise(goldens, {"one": {"pages": 2.0}}, METRICS)
    assert {group: row["pages"].n for group, row in table.items() if row} == {"all": 1, "answerable": 1, "one_hop": 1}
