"""The code location: what it holds, what the launchpad opens with, what loading it costs."""

from __future__ import annotations

import ast
import inspect
import os
import re
import runpy
import subprocess
import sys

import dagster as dg
import pytest
from dagster._annotations import is_public
from dagster._core.storage.event_log import EventLogStorage

from tests.conftest import REPOSITORY
from webrag_core.application.inputs import Operation
from webrag_core.application.parameters import AskParameters, EvidenceParameters
from webrag_dagster import automation
from webrag_dagster.corpus.layers import SOURCES
from webrag_dagster.dagster_private import METHODS, TAGS
from webrag_dagster.evaluation.suite import NIGHTLY, RESCORE
from webrag_dagster.launchpad import config_of, given

CORPUS = ("documents", "link_candidates", "chunks", "embeddings")

LOAD_WITHOUT_INPUT_OR_OUTPUT = """
import os, sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.mkdir"):
        raise RuntimeError(f"{event} {arguments}")
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        raise RuntimeError(f"{event} {arguments}")

import dagster  # what Dagster itself does at import is not ours
sys.dont_write_bytecode = True
sys.addaudithook(refuse)
from webrag_dagster.definitions import definitions
found = definitions()
print(found.resolve_job_def("answer").name)
heavy = ("webrag_core.orchestration.engine", "webrag_core.store.database", "wordllama", "matplotlib")
print([name for name in heavy if name in sys.modules])
"""


def test_every_corpus_layer_is_an_asset_partitioned_by_source(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    for name in CORPUS:
        node = graph.get(dg.AssetKey(name))
        assert node.partitions_def == SOURCES
        assert node.code_version
        assert node.description
        assert node.group_name == "corpus"
        assert not node.is_external
    assert graph.get(dg.AssetKey("embeddings")).parent_keys == {dg.AssetKey("chunks")}
    assert graph.get(dg.AssetKey("chunks")).parent_keys == {dg.AssetKey("documents")}
    assert graph.get(dg.AssetKey("web_pages")).parent_keys == {dg.AssetKey(["sources", "python_docs"])}
    assert graph.get(dg.AssetKey("answers")).parent_keys == {dg.AssetKey("answer_rounds")}


@pytest.mark.parametrize(
    ("name", "parameters", "opens_with"),
    [("answer", EvidenceParameters, {"urls", "question"}), ("ask", AskParameters, {"urls", "question"})],
)
def test_a_launchpad_has_every_parameter_and_opens_with_the_question(
    definitions: dg.Definitions, name: str, parameters: type[Operation], opens_with: set[str]
) -> None:
    job = definitions.resolve_job_def(name)
    fields = job.config_mapping.config_schema.config_type.fields  # type: ignore[union-attr]
    assert set(fields) == set(parameters.model_fields)
    assert not any(field.is_required for field in fields.values())
    assert all(field.description for field in fields.values())
    # the launchpad opens with every default that is not null (test_browser looks at the real one)
    defaults = {name: field.default_value for name, field in fields.items() if field.default_provided}
    shown = {name: value for name, value in defaults.items() if value is not None}
    assert set(shown) == opens_with
    assert shown["urls"][0].startswith("https://docs.python.org/3.11/")


@pytest.mark.parametrize(
    ("parameters", "filled"),
    [
        (AskParameters, {"question": "Why?", "max_age": 3600.0, "form": "steps", "constraints": ["new"], "at": "2024"}),
        (EvidenceParameters, {"question": "Why?", "urls": ["https://a.example/"], "intent": "factual", "seconds": 2.5}),
    ],
)
def test_what_a_launchpad_was_given_is_what_the_operation_gets(
    parameters: type[Operation], filled: dict[str, object]
) -> None:
    config = config_of("Config", parameters, {})(**filled)
    wanted = parameters.of(**given(config))
    assert wanted.model_dump(include=set(filled)) == parameters.of(**filled).model_dump(include=set(filled))


@pytest.mark.parametrize("name", ["answer", "ask", "feedback"])
def test_what_a_person_launches_runs_once_and_shows_its_messages(definitions: dg.Definitions, name: str) -> None:
    job = definitions.resolve_job_def(name)
    assert job.tags["dagster/max_retries"] == "0", "a retry could report or store the same twice"
    assert job.executor_def == dg.in_process_executor
    assert set(job.loggers) == {"console"}
    assert job.config_mapping is not None
    [op] = job.nodes
    fields = job.config_mapping.config_schema.config_type.fields  # type: ignore[union-attr]
    given = {field: 1 if field == "answer" else "Ada" for field in fields if fields[field].is_required}
    mapped = job.config_mapping.resolve_from_unvalidated_config(given)
    assert mapped["ops"][op.name]["config"].items() >= given.items()
    assert "console" in mapped["loggers"], "Dagster uses a job's logger only if the config names it"


def test_every_evaluation_has_a_check_and_is_scored_every_night_and_after_an_edit(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    nodes = [node for node in graph.asset_nodes if node.group_name == "evals" and not node.is_external]
    assert len(nodes) > 4
    for node in nodes:
        walked = {one for one in node.parent_keys if one.path[0].startswith("sitewalk_")}
        assert node.parent_keys - walked == {dg.AssetKey("golden_queries")}
        assert bool(walked) == (node.key.path[0] == "ragas_scores")
        assert (node.freshness_policy, node.automation_condition) == (NIGHTLY, RESCORE)
        assert node.code_version
        assert node.check_keys
        assert node.pools == ({"evals"} if node.key.path[0] not in ("decision_scores", "route_scores") else set())


def test_every_run_executes_in_one_process(definitions: dg.Definitions) -> None:
    assert definitions.executor == dg.in_process_executor
    assert definitions.resolve_job_def("answer").executor_def == dg.in_process_executor


@pytest.mark.alone
@pytest.mark.slow
def test_loading_reads_no_network_no_database_and_writes_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD_WITHOUT_INPUT_OR_OUTPUT],
        cwd=REPOSITORY,
        env={**os.environ, "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["answer", "[]"]


def test_private_modules_of_dagster_are_imported_in_one_file_that_was_read_in_this_version() -> None:
    """Another minor version: read the five modules again, then name it here."""
    assert dg.__version__.startswith("1.13.")
    private = re.compile(r"(?m)^\s*(?:from|import) dagster\._")
    lines = {
        file.name: len(private.findall(file.read_text())) for file in (REPOSITORY / "webrag_dagster").rglob("*.py")
    }
    assert {name: count for name, count in lines.items() if count} == {"dagster_private.py": 5}


def test_what_is_used_of_the_instance_and_is_not_public_is_listed_with_a_reason() -> None:
    texts = {file.name: file.read_text() for file in (REPOSITORY / "webrag_dagster").rglob("*.py")}
    used = {
        node.attr
        for text in texts.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith(("instance", "event_log_storage"))
    }
    ours = {name for name in used if not hasattr(dg.DagsterInstance, name) and not hasattr(EventLogStorage, name)}
    assert not ours & METHODS.keys()
    assert {name for name in used - ours if not _is_public(name)} == METHODS.keys()
    tags = re.compile(r'"(\.?dagster/[\w-]+)')
    named = {tag for name, text in texts.items() if name != "dagster_private.py" for tag in tags.findall(text)}
    assert named == TAGS.keys()


def _is_public(name: str) -> bool:
    """Whether Dagster marks this member of its instance as public."""
    member = inspect.getattr_static(dg.DagsterInstance, name, None)
    return member is not None and is_public(member.fget if isinstance(member, property) else member)


@pytest.mark.parametrize(("value", "status"), [(None, "RUNNING"), ("false", "STOPPED"), ("perhaps", "STOPPED")])
@pytest.mark.filterwarnings("ignore:sensors and schedules wait")
def test_automation_runs_from_the_start_where_the_environment_says_so(
    value: str | None, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        monkeypatch.setenv("WEBRAG_AUTOMATION", value)
    registered = runpy.run_path(automation.__file__)
    assert (registered["SENSORS"].value, registered["SCHEDULES"].value) == (status, status)


def test_every_sensor_and_schedule_heeds_the_environment(definitions: dg.Definitions) -> None:
    repository = definitions.get_repository_def()
    assert {sensor.default_status for sensor in repository.sensor_defs} == {automation.SENSORS}
    off_from_the_start = {"nightly_backup"}
    statuses = {schedule.name: schedule.default_status for schedule in repository.schedule_defs}
    assert {name for name, status in statuses.items() if status != automation.SCHEDULES} <= off_from_the_start
