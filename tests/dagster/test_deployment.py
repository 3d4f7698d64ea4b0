"""The same code on other instances: Dagster's storage in PostgreSQL for real, a cluster's as far as it goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml  # type: ignore[import-untyped]

from tests.conftest import REPOSITORY
from tests.dagster.test_compose import inline
from webrag_core.orchestration.models import OrchestrationResult
from webrag_dagster.processes.celery_launcher import CeleryLauncher

pytestmark = [pytest.mark.alone, pytest.mark.slow]

ASYNCIO = "https://docs.python.org/3.11/library/asyncio.html"
QUESTION = "Are asyncio queues thread-safe, and how can get() be given a timeout?"
KUBERNETES = REPOSITORY / "docs" / "instances" / "kubernetes.yaml"
CELERY = REPOSITORY / "docs" / "instances" / "celery.yaml"
DOCKER = REPOSITORY / "docs" / "instances" / "docker-runs.yaml"


@pytest.fixture
def on_postgres(tmp_path: Path, corpus_environment: str) -> Iterator[dg.DagsterInstance]:
    """The instance of docker-compose.yml on the test's server: corpus and Dagster's tables in one database."""
    content = inline("instance")
    scheme = content["storage"]["postgres"]["postgres_db"]["scheme"]
    address = corpus_environment.replace("postgresql", scheme, 1)
    content["storage"]["postgres"] = {"postgres_url": address}
    content["compute_logs"]["config"]["base_dir"] = str(tmp_path / "logs")
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(content))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        yield instance


def test_an_answer_with_dagsters_storage_in_postgresql(
    definitions: dg.Definitions, on_postgres: dg.DagsterInstance
) -> None:
    job = definitions.resolve_job_def("answer")
    done = job.execute_in_process(instance=on_postgres, run_config={"urls": [ASYNCIO], "question": QUESTION})
    result = OrchestrationResult.model_validate(done.output_for_node("find_evidence"))
    [record] = on_postgres.fetch_materializations(dg.AssetKey("answers"), limit=10).records
    assert record.asset_materialization is not None
    assert record.asset_materialization.metadata["rounds"].value == len(result.rounds)
    assert on_postgres.get_dynamic_partitions("webrag_source") == ["docs.python.org"]
    [run] = on_postgres.get_runs(dg.RunsFilter(tags={"webrag/stop_reason": result.final_decision.rule}))
    assert run.status is dg.DagsterRunStatus.SUCCESS
    assert len(on_postgres.all_logs(run.run_id)) <= 60


def test_a_pool_can_be_given_a_limit_of_its_own(on_postgres: dg.DagsterInstance) -> None:
    on_postgres.event_log_storage.set_concurrency_slots("evals", 1)
    [limit] = on_postgres.event_log_storage.get_pool_limits()
    assert (limit.name, limit.limit) == ("evals", 1)


def test_the_kubernetes_instance_differs_in_where_runs_go_and_in_nothing_that_we_know_not(
    tmp_path: Path, corpus_environment: str
) -> None:
    cluster: dict[str, Any] = yaml.safe_load(KUBERNETES.read_text())
    launcher = cluster.pop("run_launcher")
    assert (launcher["module"], launcher["class"]) == ("dagster_k8s", "K8sRunLauncher")
    postgres = cluster["storage"].pop("postgres")["postgres_db"]
    assert postgres == inline("instance")["storage"]["postgres"]["postgres_db"]
    # what is left is checked by Dagster itself, with the one thing that differs here: where the server is
    address = corpus_environment.replace("postgresql", postgres["scheme"], 1)
    cluster["storage"]["postgres"] = {"postgres_url": address}
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(cluster))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.get_runs() == []
        assert instance.run_monitoring_enabled
    named = {value["env"] for value in postgres.values() if isinstance(value, dict)}
    assert named == {"POSTGRES_HOST", "POSTGRES_USER", "POSTGRES_PASSWORD"}


def test_the_celery_instance_is_valid_with_its_launcher(
    tmp_path: Path, corpus_environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://127.0.0.1:1/0")
    celery: dict[str, Any] = yaml.safe_load(CELERY.read_text())
    postgres = celery["storage"].pop("postgres")["postgres_db"]
    assert postgres == inline("instance")["storage"]["postgres"]["postgres_db"]
    celery["storage"]["postgres"] = {"postgres_url": corpus_environment.replace("postgresql", postgres["scheme"], 1)}
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(celery))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        launcher = instance.run_launcher
        assert isinstance(launcher, CeleryLauncher)
        assert not instance.run_launcher.supports_resume_run
        assert launcher.celery.conf.task_acks_late
        assert instance.run_monitoring_enabled


def test_the_snippet_for_a_container_per_run_names_what_the_compose_file_has() -> None:
    launcher = yaml.safe_load(DOCKER.read_text())["run_launcher"]
    compose = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())
    assert (launcher["module"], launcher["class"]) == ("dagster_docker", "DockerRunLauncher")
    assert launcher["config"]["image"] == compose["services"]["code"]["image"]
    assert launcher["config"]["network"] == f"{compose['name']}_default"
    names = {given.partition("=")[0] for given in launcher["config"]["env_vars"]}  # a value may be given with a name
    assert names <= set(compose["services"]["code"]["environment"])


@pytest.mark.parametrize("file", [CELERY, KUBERNETES, DOCKER], ids=lambda file: file.stem)
def test_no_secret_is_written_into_an_instance(file: Path) -> None:
    text = file.read_text()
    assert "postgresql://" not in text.replace("bare postgresql://", "")
    assert not [
        line for line in text.splitlines() if line.strip().startswith("password:") and line.strip() != "password:"
    ]
