"""Asset `answer_scores` and check `sentences_proved`: questions of frozen sites, and a sentence that was changed."""

from __future__ import annotations

from typing import Any

import dagster as dg
import psycopg
import pytest

from tests.dagster.test_ask_job import ask
from webrag_core.config import load_settings

pytestmark = pytest.mark.slow


def test_answers_are_scored_and_gated(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("WEBRAG_PREVIEWS", "0")
    monkeypatch.setenv("WEBRAG_MAX_PAGES", "2")
    done = definitions.resolve_job_def("evals").execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey("answer_scores")],
        run_config={"ops": {"answer_scores": {"config": {"items": 2}}}},
    )
    [event] = done.asset_materializations_for_node("answer_scores")
    [check] = done.get_asset_check_evaluations()
    assert check.passed
    for name in ("said", "highlights", "in_the_evidence"):
        assert isinstance(event.metadata[name], dg.FloatMetadataValue), "the UI plots it"
    rows = event.metadata["item_list"]
    assert isinstance(rows, dg.TableMetadataValue)
    assert all(row.data["site"] for row in rows.records)


def checked(
    definitions: dg.Definitions, instance: dg.DagsterInstance, name: str = "sentences_proved"
) -> dg.AssetCheckEvaluation:
    key = dg.AssetCheckKey(dg.AssetKey("prose_answers"), name)
    job: Any = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_check_selection={key})
    [evaluation] = job.execute_in_process(instance=instance).get_asset_check_evaluations()
    return evaluation


@pytest.mark.usefixtures("corpus_environment")
def test_a_sentence_that_was_changed_is_an_error(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    assert ask(definitions, instance).success
    first = checked(definitions, instance)
    assert first.passed
    assert first.metadata["sentences"].value
    url = load_settings().database_url
    assert url is not None
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE answer_sentences SET text = text || ' Always.'")
    second = checked(definitions, instance)
    assert not second.passed
    assert second.severity == dg.AssetCheckSeverity.ERROR


@pytest.mark.usefixtures("corpus_environment")
def test_answers_that_lost_a_task_are_counted(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    assert ask(definitions, instance).success
    whole = checked(definitions, instance, "plans_run_whole")
    assert whole.passed
    assert (whole.metadata["answers"].value, whole.metadata["degraded"].value) == (1, 0)
    url = load_settings().database_url
    assert url is not None
    with psycopg.connect(url) as connection:
        connection.execute(
            'UPDATE route_tasks SET status = \'timeout\', error = \'{"code": "timeout", "message": "late"}\''
        )
    lost = checked(definitions, instance, "plans_run_whole")
    assert not lost.passed
    assert lost.severity == dg.AssetCheckSeverity.WARN
    rows = lost.metadata["lost_tasks"]
    assert isinstance(rows, dg.TableMetadataValue)
    assert rows.records[0].data["code"] == "timeout"


def test_routes_are_scored_and_gated(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    done = definitions.resolve_job_def("evals").execute_in_process(
        instance=instance, asset_selection=[dg.AssetKey("route_scores")]
    )
    [event] = done.asset_materializations_for_node("route_scores")
    checks = {one.check_name: one for one in done.get_asset_check_evaluations()}
    assert checks["every_rule_plans_right"].passed
    assert checks["every_rule_plans_right"].blocking
    assert checks["no_regression"].passed
    for state in ("stored", "half", "empty"):
        assert isinstance(event.metadata[f"regret_{state}"], dg.FloatMetadataValue), "the UI plots it"


@pytest.mark.usefixtures("corpus_environment")
def test_a_breaker_that_is_open_is_a_warning(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    assert ask(definitions, instance).success
    assert checked(definitions, instance, "breakers_closed").passed
    url = load_settings().database_url
    assert url is not None
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO breakers (name, failures, opened_at, retry_at, last_reason, last_failure_at)"
            " VALUES ('chat down.example', 5, now(), now() + interval '1 hour', 'HTTP 503', now())"
        )
    open_one = checked(definitions, instance, "breakers_closed")
    assert not open_one.passed
    assert open_one.severity == dg.AssetCheckSeverity.WARN
    rows = open_one.metadata["breakers"]
    assert isinstance(rows, dg.TableMetadataValue)
    assert rows.records[0].data["endpoint"] == "chat down.example"
    assert rows.records[0].data["state"] == "open"
