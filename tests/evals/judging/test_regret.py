"""Regret of walks whose losses are known by construction, and of real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.judging.regret import CAUSES, Regret, regret_of, regret_table
from tests.command_line import Webrag, webrag_here
from tests.evals.conftest import Recordings
from tests.evals.recordings import few_goldens, log_of
from tests.evals.walks.test_scoring import BASE, golden, record

__all__ = ["webrag_here"]

LINKS = {
    f"{BASE}{page}": [f"{BASE}{target}" for target in targets]
    for page, targets in {"start.html": ["a.html", "b.html"], "a.html": ["guide/"], "guide/": [], "b.html": []}.items()
}
QUOTE = "The answer is forty-two."


def lost(*fetched: tuple[str, int], **changes: Any) -> Regret:
    return regret_of(golden(), record(*fetched, **changes), LINKS)


def test_a_run_that_lost_nothing() -> None:
    found = lost(("start.html", 0), ("a.html", 1), ("guide/", 2), text=QUOTE)
    assert found == Regret(0, 0, 0, 0, False, False, "")
    assert found.none


def test_pages_that_lead_nowhere_and_rounds_after() -> None:
    found = lost(("start.html", 0), ("a.html", 1), ("b.html", 1), ("guide/", 2), ("b2.html", 3), text=QUOTE)
    assert (found.wasted_pages, found.rounds_after, found.missing_pages, found.none) == (2, 1, 0, False)


def test_stopped_too_early_and_claimed() -> None:
    found = lost(("start.html", 0), ("a.html", 1))
    assert (found.missing_pages, found.too_early, found.false_claim) == (1, True, True)
    assert found.cause == CAUSES["confident"]
    assert found.wasted_pages == 1, "half a way is none"


@pytest.mark.parametrize("stop", ["cap", "exhausted"])
def test_running_into_a_limit_is_not_stopping_early(stop: str) -> None:
    found = lost(("start.html", 0), claimed=False, stop=stop)
    assert (found.missing_pages, found.too_early, found.false_claim, found.cause) == (1, False, False, CAUSES[stop])


def test_a_page_read_in_vain() -> None:
    found = lost(("start.html", 0), ("a.html", 1), ("guide/", 2), text="Something else.")
    assert (found.missing_pages, found.missing_quotes, found.none) == (0, 1, False)
    assert "not in the evidence" in found.cause


def test_an_unanswerable_item_wastes_all_but_the_seed() -> None:
    item = golden(kind="unanswerable", gold_pages=[], gold_quotes=[])
    silent = regret_of(item, record(("start.html", 0), ("a.html", 1), claimed=False), LINKS)
    assert (silent.wasted_pages, silent.missing_pages, silent.false_claim, silent.cause) == (1, 0, False, "")
    loud = regret_of(item, record(("start.html", 0)), LINKS)
    assert (loud.wasted_pages, loud.false_claim, loud.none) == (0, True, False)


def test_an_item_that_never_started() -> None:
    found = lost(claimed=False, stop="gave_up")
    assert (found.missing_pages, found.wasted_pages) == (1, 0)
    assert "seed page" in found.cause


def test_the_table_is_by_kind() -> None:
    goldens = [golden(), golden(id="two", kind="two_hop", seed_url=f"{BASE}other.html")]
    regrets = {"one": lost(("start.html", 0)), "two": lost(("start.html", 0), ("a.html", 1), ("guide/", 1), text=QUOTE)}
    table = regret_table(goldens, regrets)
    assert {group: row["missing_pages"].mean for group, row in table.items()} == {
        "all": 0.5,
        "answerable": 0.5,
        "one_hop": 1.0,
        "two_hop": 0.0,
    }


@pytest.mark.slow
def test_the_command_on_real_runs(webrag_here: Webrag, recordings: Recordings, tmp_path: Path) -> None:
    log_of(recordings.until_cap, tmp_path / "log.jsonl")
    done = webrag_here("eval", "regret", "log.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found["items"]) == {one.id for one in few_goldens()}
    assert found["groups"]["all"]["wasted_pages"]["mean"] > 0
    table = webrag_here("eval", "regret", "log.jsonl")
    assert "missing_pages" in table.stdout
