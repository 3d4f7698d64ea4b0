"""The launcher of dagster.yaml: a run in a process of its own that succeeds, is terminated, or is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest
import yaml  # type: ignore[import-untyped]

from tests.conftest import REPOSITORY
from tests.dagster.test_answer_job import ASYNCIO, QUESTION
from tests.waiting import wait_until
from webrag_dagster.dagster_private import WorkerStatus
from webrag_dagster.processes.launcher import WORKER, ForkingRunLauncher

pytestmark = [pytest.mark.alone, pytest.mark.slow]


def answer_job() -> dg.JobDefinition:
    """Job `answer`, as the process of a run finds it."""
    from webrag_dagster.definitions import definitions

    return definitions().resolve_job_def("answer")


@pytest.fixture
def local(tmp_path: Path, corpus_environment: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """The instance of dagster.yaml in a folder of its own."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    settings = yaml.safe_load((REPOSITORY / "dagster.yaml").read_text())
    for part in ("local_artifact_storage", "compute_logs"):
        settings[part]["config"]["base_dir"] = str(tmp_path / part)
    settings["storage"]["sqlite"]["base_dir"] = str(tmp_path / "storage")
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(settings))
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        yield instance
        template = launcher(instance)._template
        if template is not None:
            template.kill()
            template.wait()


def launcher(instance: dg.DagsterInstance) -> ForkingRunLauncher:
    assert isinstance(instance.run_launcher, ForkingRunLauncher)
    return instance.run_launcher


@pytest.fixture
def launch(local: dg.DagsterInstance) -> Callable[..., str]:
    """Launches job `answer` as the daemon does, from the code server `code`."""
    origin = dg.reconstructable(answer_job).get_python_origin()

    def start(code: str = "first") -> str:
        run = local.create_run_for_job(
            answer_job(),
            run_config={"urls": [ASYNCIO], "question": QUESTION},
            status=dg.DagsterRunStatus.STARTING,
            job_code_origin=origin,
        )
        location = SimpleNamespace(location_name="webrag")
        launched = SimpleNamespace(
            run_id=run.run_id,
            job_code_origin=origin,
            remote_job_origin=SimpleNamespace(repository_origin=SimpleNamespace(code_location_origin=location)),
        )
        workspace = SimpleNamespace(get_code_location=lambda name: SimpleNamespace(server_id=code))
        launcher(local).launch_run(SimpleNamespace(dagster_run=launched, workspace=workspace))
        return run.run_id

    return start


def wait_for(instance: dg.DagsterInstance, run_id: str, condition: Callable[[dg.DagsterRun], bool]) -> dg.DagsterRun:
    def reached() -> bool:
        return condition(run_of(instance, run_id))

    wait_until(reached)
    return run_of(instance, run_id)


def run_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRun:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run


def test_runs_are_forked_from_one_process_that_a_reload_replaces(
    local: dg.DagsterInstance, launch: Callable[..., str]
) -> None:
    done, killed = launch(), launch()
    template = launcher(local)._template
    run = wait_for(local, killed, lambda run: run.status is dg.DagsterRunStatus.STARTED)
    assert launcher(local).check_run_worker_health(run).status is WorkerStatus.RUNNING
    os.kill(int(run.tags[WORKER].split()[0]), signal.SIGKILL)
    wait_for(local, killed, lambda run: launcher(local).check_run_worker_health(run).status is WorkerStatus.FAILED)
    wait_for(local, done, lambda run: run.status is dg.DagsterRunStatus.SUCCESS)
    assert len(local.fetch_materializations(dg.AssetKey("answers"), limit=10).records) == 1
    assert not launcher(local).terminate(done), "it has ended"

    cancelled = launch("reloaded")
    assert launcher(local)._template is not template
    wait_for(local, cancelled, lambda run: "webrag/source" in run.tags)
    assert launcher(local).terminate(cancelled)
    wait_for(local, cancelled, lambda run: run.status is dg.DagsterRunStatus.CANCELED)


def test_a_run_without_a_process_of_the_launcher_is_left_alone(local: dg.DagsterInstance) -> None:
    run = local.create_run_for_job(answer_job(), status=dg.DagsterRunStatus.STARTED)
    assert launcher(local).check_run_worker_health(run).status is WorkerStatus.RUNNING
    assert not launcher(local).terminate(run.run_id)
