"""Decision goldens: every rule has histories that must and that must not fire it, and the check sees a wrong policy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.judging.decisions import (
    DEFAULT_DECISIONS,
    DecisionGolden,
    decide_goldens,
    history_of,
    load_decision_goldens,
    uncovered,
)
from tests.command_line import Webrag, webrag_here
from webrag_core.errors import InvalidInputError
from webrag_core.orchestration.models import COMPLETE_AT
from webrag_core.orchestration.policies import calibrated

__all__ = ["webrag_here"]


def test_every_rule_of_every_policy_has_both_kinds() -> None:
    goldens = load_decision_goldens(DEFAULT_DECISIONS)
    assert uncovered(goldens) == []
    for golden in goldens:
        fewer = [
            one for one in goldens if (one.policy, one.rule, one.fires) != (golden.policy, golden.rule, golden.fires)
        ]
        assert [gap[:2] for gap in uncovered(fewer)] == [(golden.policy, golden.rule)]


@pytest.mark.parametrize("threshold", [0.02, COMPLETE_AT - 0.05, COMPLETE_AT + 0.05])
def test_another_threshold_of_the_default_policy_is_seen(threshold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrated, "COMPLETE_AT", threshold)
    wrong = [one.golden.id for one in decide_goldens(load_decision_goldens(DEFAULT_DECISIONS)) if not one.right]
    assert len(wrong) >= 4
    assert all(one.startswith("calibrated-") for one in wrong)


@pytest.mark.parametrize("golden", load_decision_goldens(DEFAULT_DECISIONS), ids=lambda golden: golden.id)
def test_it_is_decided_as_the_specification_says(golden: DecisionGolden) -> None:
    (one,) = decide_goldens([golden])
    assert one.right, f"{golden.why}: {one.decision.action} [{one.decision.rule}] {one.decision.reason}"


def test_flags_follow_the_numbers_unless_named() -> None:
    golden = load_decision_goldens(DEFAULT_DECISIONS)[0]
    told = golden.model_copy(update={"history": [{"score_variance": 0.0}, {"score_cliff": 0.5, "is_cliff": False}]})
    first, second = history_of(told)
    assert (first.is_plateau, first.is_mediocre_plateau, first.round) == (True, True, 0)
    assert (second.is_plateau, second.is_cliff, second.round) == (False, False, 1)


def test_the_command_is_exact(webrag_here: Webrag, tmp_path: Path) -> None:
    right = webrag_here("eval", "decisions", "--json", SCORE_CLIFF_THRESHOLD="0.9")
    assert right.returncode == 0, "the environment's thresholds are not those of the goldens"
    assert json.loads(right.stdout)["wrong"] == []
    wrong = webrag_here("eval", "decisions", "--policy", "stop-at-once")
    assert wrong.returncode == 1
    assert "6-cliff-must-1" in wrong.stderr
    line = json.loads(DEFAULT_DECISIONS.read_text().splitlines()[0])
    for change in ({"fires": False}, {"history": []}, {"history": [{"no_such": 1}]}, {"settings": {"no_such": 1}}):
        (tmp_path / "bad.jsonl").write_text(json.dumps({**line, **change}))
        with pytest.raises(InvalidInputError, match=r"bad\.jsonl:1"):
            load_decision_goldens(tmp_path / "bad.jsonl")
