"""Assets `answer_scores` and `route_scores`, and the checks of answers in prose."""

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


def checked(definitions: dg.Definitions, instance: dg.DagsterInstance, name: str) -> dg.AssetCheckEvaluation:
    key = dg.AssetCheckKey(dg.AssetKey("prose_answers"), name)
    job: Any = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_check_selection={key})
    [evaluation] = job.execute_in_process(instance=instance).get_asset_check_evaluations()
    return evaluation


@pytest.mark.usefixtures("corpus_environment")
def test_the_checks_of_answers_in_prose_find_what_went_wrong_since(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    assert ask(definitions, instance).success
    proved, whole, closed = "sentences_proved", "plans_run_whole", "breakers_closed"
    first = {name: checked(definitions, instance, name) for name in (proved, whole, closed)}
    assert all(one.passed for one in first.values())
    assert first[proved].metadata["sentences"].value
    assert (first[whole].metadata["answers"].value, first[whole].metadata["degraded"].value) == (1, 0)
    url = load_settings().database_url
    assert url is not None
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE answer_sentences SET text = text || ' Always.'")
        connection.execute(
            'UPDATE route_tasks SET status = \'timeout\', error = \'{"code": "timeout", "message": "late"}\''
        )
        connection.execute(
            "INSERT INTO breakers (name, failures, opened_at, retry_at, last_reason, last_failure_at)"
            " VALUES ('chat down.example', 5, now(), now() + interval '1 hour', 'HTTP 503', now())"
        )
    second = {name: checked(definitions, instance, name) for name in first}
    assert not any(one.passed for one in second.values())
    error, warning = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
    assert {name: one.severity for name, one in second.items()} == {proved: error, whole: warning, closed: warning}
    assert rows(second[whole], "lost_tasks")[0]["code"] == "timeout"
    assert (rows(second[closed], "breakers")[0]["endpoint"], rows(second[closed], "breakers")[0]["state"]) == (
        "chat down.example",
        "open",
    )


def rows(evaluation: dg.AssetCheckEvaluation, name: str) -> list[dict[str, object]]:
    """A table of an evaluation."""
    found = evaluation.metadata[name]
    assert isinstance(found, dg.TableMetadataValue)
    return [dict(record.data) for record in found.records]


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
