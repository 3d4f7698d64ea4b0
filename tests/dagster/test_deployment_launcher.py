"""The launcher of dagster.yaml: a run in a process of its own that ends well, is killed, or is terminated."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
import yaml  # type: ignore[import-untyped]
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.launcher.base import LaunchRunContext, WorkerStatus

from tests.conftest import REPOSITORY
from tests.dagster.test_answer_job import ASYNCIO, QUESTION
from webrag_dagster.processes.launcher import WORKER, LocalRunLauncher
from webrag_dagster.processes.orphans import settle_orphans

Launch = Callable[[], str]
SECONDS = 60


@pytest.fixture
def local(tmp_path: Path, corpus_environment: str) -> Iterator[dg.DagsterInstance]:
    """The instance of dagster.yaml in a folder of its own."""
    settings = yaml.safe_load((REPOSITORY / "dagster.yaml").read_text())
    for part in ("local_artifact_storage", "compute_logs"):
        settings[part]["config"]["base_dir"] = str(tmp_path / part)
    settings["storage"]["sqlite"]["base_dir"] = str(tmp_path / "storage")
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(settings))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert isinstance(instance.run_launcher, LocalRunLauncher)
        yield instance


@pytest.fixture
def launch(local: dg.DagsterInstance, definitions: dg.Definitions) -> Launch:
    """Launches job `answer` as the daemon does."""
    repository = ReconstructableRepository.for_module("webrag_dagster.definitions", "definitions", str(REPOSITORY))
    origin = repository.get_reconstructable_job("answer").get_python_origin()

    def start() -> str:
        run = local.create_run_for_job(
            definitions.resolve_job_def("answer"),
            run_config={"url": ASYNCIO, "query": QUESTION},
            status=dg.DagsterRunStatus.STARTING,
            job_code_origin=origin,
        )
        local.run_launcher.launch_run(LaunchRunContext(run, workspace=None))
        return run.run_id

    return start


def wait_for(instance: dg.DagsterInstance, run_id: str, *statuses: dg.DagsterRunStatus) -> dg.DagsterRun:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        run = instance.get_run_by_id(run_id)
        assert run is not None
        if run.status in statuses:
            return run
        time.sleep(0.05)
    pytest.fail(f"{run_id} is {run.status} after {SECONDS} s")


def test_a_run_in_its_own_process_and_one_that_is_killed(local: dg.DagsterInstance, launch: Launch) -> None:
    done, killed = launch(), launch()
    run = wait_for(local, killed, dg.DagsterRunStatus.STARTED)
    assert local.run_launcher.check_run_worker_health(run).status is WorkerStatus.RUNNING
    os.kill(int(run.tags[WORKER].split()[1]), signal.SIGKILL)
    run = wait_for(local, killed, dg.DagsterRunStatus.FAILURE)
    assert local.run_launcher.check_run_worker_health(run).status is WorkerStatus.FAILED, "what a later daemon finds"
    told = [entry.message for entry in local.all_logs(killed, of_type=dg.DagsterEventType.RUN_FAILURE)]
    assert len(told) == 1
    assert "signal 9" in told[0]
    wait_for(local, done, dg.DagsterRunStatus.SUCCESS)
    assert len(local.fetch_materializations(dg.AssetKey("answers"), limit=10).records) == 1


def test_terminating_reaches_the_process_and_nothing_else(local: dg.DagsterInstance, launch: Launch) -> None:
    run_id = launch()
    wait_for(local, run_id, dg.DagsterRunStatus.STARTED)
    assert local.run_launcher.terminate(run_id)
    wait_for(local, run_id, dg.DagsterRunStatus.CANCELED)
    assert not local.run_launcher.terminate(run_id), "it is gone already"


def test_a_run_without_a_process_of_ours_is_left_alone(local: dg.DagsterInstance, definitions: dg.Definitions) -> None:
    run = local.create_run_for_job(definitions.resolve_job_def("answer"), status=dg.DagsterRunStatus.STARTED)
    assert local.run_launcher.check_run_worker_health(run).status is WorkerStatus.RUNNING
    assert not local.run_launcher.terminate(run.run_id)


def test_runs_that_went_with_their_code_server_are_settled(tmp_path: Path) -> None:
    @dg.job
    def tea() -> None:
        """Nothing."""

    launched = {".dagster/grpc_info": "{}"}
    states = {
        dg.DagsterRunStatus.STARTED: launched,
        dg.DagsterRunStatus.CANCELING: launched,
        dg.DagsterRunStatus.STARTING: {},
    }
    settings = {"storage": {"sqlite": {"base_dir": str(tmp_path / "storage")}}, "telemetry": {"enabled": False}}
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(settings))  # Dagster's own launcher, as docker-compose.yml
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        runs = {status: instance.create_run_for_job(tea, status=status, tags=tags) for status, tags in states.items()}
        assert settle_orphans(instance, datetime.now(UTC) - timedelta(minutes=1)) == [], "they were heard of since"
        settle_orphans(instance, datetime.now(UTC) + timedelta(minutes=1))
        found = {status: instance.get_run_by_id(run.run_id) for status, run in runs.items()}
    assert {status: run.status for status, run in found.items() if run is not None} == {
        dg.DagsterRunStatus.STARTED: dg.DagsterRunStatus.FAILURE,
        dg.DagsterRunStatus.CANCELING: dg.DagsterRunStatus.CANCELED,
        dg.DagsterRunStatus.STARTING: dg.DagsterRunStatus.STARTING,
    }
