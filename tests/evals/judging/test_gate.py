"""The gate lets through what is as good, and names what moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.judging.gate import judge
from evals.walks.recorded import RecordedRun
from tests.command_line import Webrag, webrag_here
from tests.evals.conftest import Recordings
from tests.evals.recordings import log_of
from tests.evals.walks.test_scoring import BASE, golden, record
from webrag_core.errors import InvalidInputError

__all__ = ["webrag_here"]

GOLDENS = [golden(id=str(number), seed_url=f"{BASE}{number}.html") for number in range(20)]


def runs(found: int) -> list[RecordedRun]:
    """Runs of which the first `found` reach the gold page in one step and claim so; the others give up."""
    made = []
    for number, one in enumerate(GOLDENS):
        line = (
            record(("start.html", 0), ("guide/", 1), text="The answer is forty-two.")
            if number < found
            else record(("start.html", 0), claimed=False, stop="gave_up")
        )
        made.append(RecordedRun(one.id, "by-hand", {}, (), {**line, "id": one.id}))
    return made


def test_the_same_passes_and_better_passes() -> None:
    assert judge(GOLDENS, runs(15), runs(15)).passes
    verdict = judge(GOLDENS, runs(20), runs(15))
    assert verdict.passes
    success = next(change for change in verdict.changes if change.metric == "success")
    assert (set(success.better), success.worse, success.difference.mean) == ({"15", "16", "17", "18", "19"}, {}, 0.25)


def test_a_clear_loss_fails_and_names_the_items() -> None:
    verdict = judge(GOLDENS, runs(10), runs(15))
    assert not verdict.passes
    success = next(change for change in verdict.changes if change.metric == "success")
    assert success.fails
    assert success.difference.mean == -0.25
    assert success.worse == {str(number): (1.0, 0.0) for number in range(10, 15)}


def test_a_loss_within_the_tolerance_passes_and_a_larger_one_does_not() -> None:
    assert judge(GOLDENS, runs(14), runs(15), tolerance=0.05).passes, "one of twenty is 0.05"
    assert not judge(GOLDENS, runs(14), runs(15)).passes


def test_a_small_loss_that_is_certain_fails() -> None:
    worse = [
        RecordedRun(run.id, run.policy, {}, (), {**run.record, "fetched": [*run.record["fetched"], extra]})
        for run, extra in ((run, {"url": f"{BASE}more.html", "round": 1}) for run in runs(20))
    ]
    verdict = judge(GOLDENS, worse, runs(20), tolerance=1.0)
    assert [change.metric for change in verdict.changes if change.fails] == ["utility", "net"]


def test_missing_items_fail_and_no_shared_item_is_no_comparison() -> None:
    verdict = judge(GOLDENS, runs(15)[1:], runs(15))
    assert (verdict.missing, verdict.passes) == (["0"], False)
    with pytest.raises(InvalidInputError):
        judge(GOLDENS, runs(15)[:1], runs(15)[1:])


@pytest.mark.slow
def test_the_exit_code_is_the_verdict(webrag_here: Webrag, recordings: Recordings, tmp_path: Path) -> None:
    log_of(recordings.matrix, tmp_path / "base.jsonl")
    blind = [
        RecordedRun(run.id, run.policy, {}, (), {**run.record, "evidence": [], "dropped": [], "rounds": []})
        for run in recordings.matrix
    ]
    log_of(blind, tmp_path / "blind.jsonl")
    same = webrag_here("eval", "gate", "base.jsonl", "--against", "base.jsonl", "--json")
    assert (same.returncode, json.loads(same.stdout)["passes"]) == (0, True), same.stderr
    failed = webrag_here("eval", "gate", "blind.jsonl", "--against", "base.jsonl")
    assert failed.returncode == 1
    assert "REGRESSION" in failed.stdout
    assert "quotes, worse: python-0" in failed.stdout
