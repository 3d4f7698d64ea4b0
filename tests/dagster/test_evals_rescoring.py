"""What sets evaluations off: an edit of a policy file alone, and the night."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

import webrag_core
from evals.walks.suites import own_suites
from webrag_dagster.defs import evals
from webrag_dagster.evaluation import versions as eval_versions

SUITES = [suite.name for suite in own_suites().values() if suite.warc.is_file()]
WALKS = {f"sitewalk_{name.replace('-', '_').replace('.', '_')}" for name in SUITES}
ALL = WALKS | {"decision_scores", "retrieval_scores", "answer_scores", "route_scores", "ragas_scores"}


@pytest.fixture
def core_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package's files, from which code versions are read."""
    copy = tmp_path / "webrag_core"
    shutil.copytree(Path(webrag_core.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(eval_versions, "_CORE", copy)
    return copy


@pytest.fixture
def reload_definitions() -> Callable[[], dg.Definitions]:
    """The evaluation assets as a reloaded code location would have them."""

    def load() -> dg.Definitions:
        loaded = importlib.reload(evals)
        return dg.Definitions(
            assets=[*loaded.sitewalks, loaded.decision_scores, loaded.retrieval_scores],
            resources={"corpus": object()},
        )

    return load


def requested(result: dg.EvaluateAutomationConditionsResult) -> set[str]:
    return {name for name in ALL if result.get_num_requested(dg.AssetKey(name))}


def scored(instance: dg.DagsterInstance, *names: str) -> None:
    """Scores, as a night leaves them."""
    for name in names:
        instance.report_runless_asset_event(dg.AssetMaterialization(name))


@pytest.mark.slow
def test_editing_a_policy_file_alone_asks_for_new_scores_once(
    core_copy: Path, reload_definitions: Callable[[], dg.Definitions], instance: dg.DagsterInstance
) -> None:
    scored(instance, *ALL)
    first = dg.evaluate_automation_conditions(reload_definitions(), instance)
    assert requested(first) == set(), "nothing is scored because somebody opened the UI"
    (core_copy / "cli.py").write_text("# nothing\n")
    same = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=first.cursor)
    assert requested(same) == set(), "an edit elsewhere asks for nothing"

    policy = core_copy / "orchestration" / "policies" / "calibrated.py"
    policy.write_text(policy.read_text() + "\n# another thought\n")
    edited = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=same.cursor)
    assert requested(edited) == WALKS | {"decision_scores"}
    after = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=edited.cursor)
    assert requested(after) == set()

    reader = core_copy / "retrieval" / "reader.py"
    reader.write_text(reader.read_text() + "\n# read otherwise\n")
    read = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=after.cursor)
    assert requested(read) == WALKS | {"retrieval_scores"}
    after = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=read.cursor)

    ranking = core_copy / "retrieval" / "relevance.json"
    ranking.write_text(ranking.read_text() + " ")
    ranked = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=after.cursor)
    assert requested(ranked) == {"retrieval_scores"}


@pytest.mark.slow
def test_what_was_never_scored_waits_for_the_night(
    core_copy: Path, reload_definitions: Callable[[], dg.Definitions], instance: dg.DagsterInstance
) -> None:
    never = "sitewalk_postgresql_15"
    scored(instance, *ALL - {never})
    first = dg.evaluate_automation_conditions(reload_definitions(), instance)
    policy = core_copy / "orchestration" / "policies" / "calibrated.py"
    policy.write_text(policy.read_text() + "\n# another thought\n")
    edited = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=first.cursor)
    assert requested(edited) == (WALKS - {never}) | {"decision_scores"}

    scored(instance, never)
    after = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=edited.cursor)
    assert requested(after) == set(), "the night scored what the edit left"
    policy.write_text(policy.read_text() + "\n# and another\n")
    again = dg.evaluate_automation_conditions(reload_definitions(), instance, cursor=after.cursor)
    assert requested(again) == WALKS | {"decision_scores"}


def test_the_policies_and_what_they_are_made_of_are_watched() -> None:
    names = {path.name for path in eval_versions.policy_files()}
    deciding = {"calibrated.py", "seed_matrix.py", "completeness.json", "signals.py", "limits.py", "verdict.py"}
    assert deciding <= names
    ranking = {path.name for path in eval_versions.ranking_files()}
    assert {"scoring.py", "relevance.json", "token_weights.npy", "passages.py", "terms.py"} <= ranking
    watched = [*eval_versions.policy_files(), *eval_versions.evidence_files(), *eval_versions.ranking_files()]
    assert all(path.is_file() for path in watched)


def test_every_night_one_valid_run_of_every_evaluation(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    repository = definitions.get_repository_def()
    schedule = repository.get_schedule_def("nightly_evals")
    with dg.build_schedule_context(
        instance=instance, scheduled_execution_time=datetime(2026, 1, 2, 3, 30, tzinfo=UTC), repository_def=repository
    ) as context:
        [request] = schedule.evaluate_tick(context).run_requests or []
    job = definitions.resolve_job_def("evals")
    assert dg.validate_run_config(job, request.run_config)
    assert {key.to_user_string() for key in job.asset_layer.executable_asset_keys} == ALL


def test_the_rescoring_sensor_watches_the_evaluations_and_nothing_else(definitions: dg.Definitions) -> None:
    sensor = definitions.get_repository_def().get_sensor_def("rescoring")
    assert isinstance(sensor, dg.AutomationConditionSensorDefinition)
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    watched = sensor.asset_selection.resolve(definitions.resolve_asset_graph())
    assert {key.to_user_string() for key in watched} >= ALL
    assert not {key.to_user_string() for key in watched} & {"documents", "chunks", "embeddings", "answers"}
