"""The evaluation assets themselves: real walks on a frozen site, real rankings, decision goldens; and their checks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from evals.judging.ragas_scores import JUDGED, OFFLINE
from tests.provider_server import serving
from webrag_dagster.evaluation import retrieval as eval_retrieval
from webrag_dagster.evaluation import rules as eval_rules
from webrag_dagster.evaluation.ragas import NO_JUDGE

pytestmark = pytest.mark.slow

WALK, RANK, RAGAS = "sitewalk_python_3_11", "retrieval_scores", "ragas_scores"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the suites' own databases and files go."""
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    return tmp_path


def score(
    definitions: dg.Definitions, instance: dg.DagsterInstance, asset: str, **config: Any
) -> tuple[dg.AssetMaterialization, dict[str, dg.AssetCheckEvaluation]]:
    """One run of one asset."""
    done = definitions.resolve_job_def("evals").execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey(asset)],
        run_config={"ops": {asset: {"config": config}}} if config else None,
        raise_on_error=False,
    )
    blocked = any(check.blocking and not check.passed for check in done.get_asset_check_evaluations())
    assert done.success is not blocked
    [event] = done.asset_materializations_for_node(asset)
    return event, {check.check_name: check for check in done.get_asset_check_evaluations()}


def _is_scored_with_ragas(
    definitions: dg.Definitions, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a walk there are metrics by ids and strings, and those of a judge where an endpoint is set."""
    event, checks = score(definitions, instance, RAGAS)
    assert event.metadata["judged_by"].value == NO_JUDGE
    assert set(checks) == {"no_regression"}
    assert {name for name in (*OFFLINE, *JUDGED) if name in event.metadata} == set(OFFLINE)
    verdicts = {"reason": "r", "verdict": 1, "classifications": [{"statement": "s", "reason": "r", "attributed": 1}]}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(verdicts)}}
    with serving({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}) as server:
        monkeypatch.setenv("ORCHESTRATION_LLM_BASE_URL", f"{server.url}/v1")
        event, _ = score(definitions, instance, RAGAS, judged=2)
        monkeypatch.delenv("ORCHESTRATION_LLM_BASE_URL")
    assert event.metadata["llm_recall"].value == 1.0
    assert len(server.calls) > 0


def test_walks_are_scored_reported_replayed_and_gated(
    definitions: dg.Definitions, instance: dg.DagsterInstance, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBRAG_PREVIEWS", "0")
    monkeypatch.setenv("WEBRAG_READER", "none")
    monkeypatch.setenv("WEBRAG_MAX_PAGES", "4")
    event, checks = score(definitions, instance, WALK, items=4)
    metadata = event.metadata
    assert metadata["items"].value == 4
    for name in ("success", "quotes", "utility", "false_claim"):
        assert isinstance(metadata[name], dg.FloatMetadataValue), "the UI plots it"
        assert 0 <= float(str(metadata[name].value)) <= 1
    assert "data:image/svg+xml;base64," in str(metadata["calibration"].value)
    items = metadata["item_list"]
    assert isinstance(items, dg.TableMetadataValue)
    assert len({row.data["kind"] for row in items.records}) == 4, "every kind in turn"
    report, log = Path(str(metadata["report"].value)), Path(str(metadata["run_log"].value))
    _is_scored_with_ragas(definitions, instance, monkeypatch)
    assert report.is_relative_to(home)
    assert "<!doctype html>" in report.read_text()
    assert len(log.read_text().splitlines()) == 4
    assert checks["decisions_replay"].passed
    assert checks["no_regression"].passed

    again, checks = score(definitions, instance, WALK, items=4)
    assert again.metadata["digest"] == metadata["digest"]
    assert (again.tags or {})["dagster/data_version"] == (event.tags or {})["dagster/data_version"]
    assert str(checks["no_regression"].description).startswith(
        "Nothing moved. Base under policy calibrated: 4 items of"
    )

    _, checks = score(definitions, instance, WALK, items=4, policy="stop-at-once")
    assert checks["no_regression"].passed, "another policy is not measured by this one"

    monkeypatch.setenv("WEBRAG_MAX_PAGES", "1")
    _, checks = score(definitions, instance, WALK, items=4)
    gate = checks["no_regression"]
    assert not gate.passed
    moved = gate.metadata["moved"]
    assert isinstance(moved, dg.TableMetadataValue)
    fallen = {str(row.data["item"]) for row in moved.records if row.data["metric"] == "success"}
    assert fallen
    assert all(item in str(gate.description) for item in fallen)


def test_a_policy_that_does_not_exist_is_a_readable_failure(
    definitions: dg.Definitions, instance: dg.DagsterInstance, home: Path
) -> None:
    done = definitions.resolve_job_def("evals").execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey(WALK)],
        run_config={"ops": {WALK: {"config": {"policy": "coin-toss"}}}},
        raise_on_error=False,
    )
    [event] = [event for event in done.all_events if event.is_step_failure]
    data = event.step_failure_data.user_failure_data
    assert data is not None
    assert "unknown stop policy 'coin-toss'" in str(data.description)


def test_rankings_are_scored_beside_bm25(
    definitions: dg.Definitions, instance: dg.DagsterInstance, home: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    texts = {
        "whales": "# Whales\n\nBaleen whales filter krill.\n",
        "tea": "# Tea\n\nGreen tea is brewed at 80 degrees.\n",
    }
    questions = [("which animals filter krill", "whales"), ("how is green tea brewed", "tea")]
    lines = {
        "DEFAULT_DOCUMENTS": [{"id": name, "text": text} for name, text in texts.items()],
        "DEFAULT_QUESTIONS": [
            {"id": f"q{number}", "set": "s", "question": asked,
             "evidence": [{"document": name, "start": 10, "end": len(texts[name]) - 1}]}
            for number, (asked, name) in enumerate(questions)
        ],
    }  # fmt: skip
    for constant, rows in lines.items():
        path = tmp_path / f"{constant}.jsonl.gz"
        path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in rows).encode(), mtime=0))
        monkeypatch.setattr(eval_retrieval, constant, path)
    event, checks = score(definitions, instance, RANK, questions=2)
    assert event.metadata["mrr@10"].value == 1.0
    assert event.metadata["bm25_mrr@10"].value == 1.0
    assert event.metadata["questions"].value == 2
    assert checks["no_regression"].passed
    rankings = Path(str(event.metadata["rankings"].value)).read_text().splitlines()
    assert [json.loads(line)["system"] for line in rankings] == ["local", "bm25"] * 2


def test_a_decision_golden_that_comes_out_wrong_is_shown_with_its_reason(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event, checks = score(definitions, instance, "decision_scores")
    assert event.metadata["share_right"].value == 1.0
    assert checks["every_rule_decides_right"].passed
    assert checks["every_rule_has_goldens"].passed

    lines = eval_rules.DEFAULT_DECISIONS.read_text().splitlines()
    first = json.loads(lines[0])
    first |= {"fires": True, "rule": "never", "expect": {"rule": "never", "action": "stop"}, "why": "it cannot be"}
    wrong = tmp_path / "decisions.jsonl"
    wrong.write_text("\n".join([json.dumps(first), *lines[1:]]))
    monkeypatch.setattr(eval_rules, "DEFAULT_DECISIONS", wrong)
    event, checks = score(definitions, instance, "decision_scores")
    assert event.metadata["right"].value == len(lines) - 1
    check = checks["every_rule_decides_right"]
    assert not check.passed
    assert check.blocking
    assert check.description == f"{first['id']}: it cannot be"

    wrong.write_text("\n".join(line for line in lines if '"policy": "calibrated"' not in line))
    _, checks = score(definitions, instance, "decision_scores")
    check = checks["every_rule_has_goldens"]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert "calibrated, complete: none that must fire it" in str(check.description)
