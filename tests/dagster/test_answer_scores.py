"""Assets `answer_scores` and `route_scores`, and the checks of answers in prose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
import pytest

from evals.answers.keys import AnswerKey
from evals.answers.suite_list import AnswerSuite, KeySet
from tests.dagster.small_warc import write_site
from tests.dagster.test_ask_job import ask
from tests.local_site import page
from webrag_core.config import load_settings
from webrag_dagster.evaluation import answers as eval_answers

pytestmark = pytest.mark.slow


PAGES = {
    "https://tea.example/": page("Tea", "A small guide to tea.", {"/green.html": "Green tea", "/black.html": "Black"}),
    "https://tea.example/green.html": page("Green tea", "Green tea is brewed at 70 degrees for three minutes."),
    "https://tea.example/black.html": page("Black tea", "Black tea is brewed at 95 degrees for five minutes."),
}
GREEN = {
    "id": "green",
    "site": "tea",
    "kind": "value",
    "q": "At how many degrees is green tea brewed?",
    "answerable": True,
    "must": [["70 degrees"]],
    "page": "green.html",
}
PRICE = {"id": "price", "site": "tea", "kind": "unanswerable", "q": "What does the X200 cost?", "answerable": False}


def test_answers_are_scored_and_gated(
    definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    warc = write_site(tmp_path / "tea.warc.gz", PAGES)
    listed = AnswerSuite(kind="manual", split="reporting", licence="MIT", language="en")

    def score(*keys: dict[str, Any]) -> tuple[dg.AssetMaterialization, dg.AssetCheckEvaluation]:
        tea = KeySet("tea", [AnswerKey.model_validate(key) for key in keys], warc, listed)
        absent = KeySet("coffee", tea.keys, tmp_path / "coffee.warc.gz", listed)
        monkeypatch.setattr(eval_answers, "own_key_sets", lambda: [absent, tea])
        done = definitions.resolve_job_def("evals").execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("answer_scores")]
        )
        [event] = done.asset_materializations_for_node("answer_scores")
        [check] = done.get_asset_check_evaluations()
        return event, check

    event, check = score(GREEN, PRICE)
    assert check.passed
    for name, figure in {"right": 1.0, "wrong": 0.0, "refused_rightly": 1.0}.items():
        assert event.metadata[name] == dg.MetadataValue.float(figure), "the UI plots it"
    assert event.metadata["questions"].value == 2
    assert "`manual`" in str(event.metadata["suites"].value)
    assert "data:image/svg+xml;base64," in str(event.metadata["calibration"].value)
    assert len(Path(str(event.metadata["run_log"].value)).read_text().splitlines()) == 2

    event, check = score(GREEN | {"must": [["71 degrees"]]}, PRICE)
    assert not check.passed
    assert "right -1.00" in str(check.description)
    assert "not_wrong" in str(check.description)
    rows = event.metadata["item_list"]
    assert isinstance(rows, dg.TableMetadataValue)
    assert [row.data["item"] for row in rows.records] == ["green", "price"], "what has to be looked at comes first"


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
