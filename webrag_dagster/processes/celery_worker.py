"""The application of Celery workers: `celery --app webrag_dagster.processes.celery_worker worker --concurrency 1`.

Broker and options are those of the run launcher in $DAGSTER_HOME/dagster.yaml. Each run is a fresh fork of a process
that has everything imported.
"""

from __future__ import annotations

import json
import os
from typing import Any

import dagster as dg
from celery import Task
from dagster_celery.tasks import create_execute_job_task
from kombu import Queue  # type: ignore[attr-defined]

from webrag_core.errors import InvalidInputError
from webrag_dagster.dagster_private import ExecuteRunArgs
from webrag_dagster.processes.celery_launcher import WORKER, CeleryLauncher
from webrag_dagster.processes.code_identity import CODE, code_identity, queue_of
from webrag_dagster.processes.launcher import preload

_STARTING = (dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.NOT_STARTED)


class RunTask(Task):  # type: ignore[misc]
    """One run: says who executes it, refuses it when the code is another's, then does what `dagster-celery` does."""

    def __call__(self, execute_job_args_packed: dict[str, Any]) -> int:
        """Execute the run. One that was delivered twice is Dagster's to ignore."""
        arguments = dg.deserialize_value(json.dumps(execute_job_args_packed), ExecuteRunArgs)
        run_id, name = arguments.run_id, self.request.hostname
        with dg.DagsterInstance.get() as instance:
            run = instance.get_run_by_id(run_id)
            if run is None:
                return 1
            if run.status in _STARTING:
                wanted_code, code = run.tags.get(CODE), code_identity()
                if wanted_code != code:
                    instance.report_run_failed(
                        run,
                        f"Worker {name} runs other code or settings ({code}) than the code location ({wanted_code}).",
                    )
                    return 1
                instance.add_run_tags(run_id, {WORKER: f"{self.request.id} {name}"})
                instance.report_engine_event(f"Worker {name} took the run; its code: {code}", run)
        return int(super().__call__(execute_job_args_packed))


def _application() -> Any:
    if "DAGSTER_HOME" not in os.environ:
        raise InvalidInputError("set DAGSTER_HOME to the folder of the dagster.yaml that names the broker")
    with dg.DagsterInstance.get() as instance:
        launcher = instance.run_launcher
        if not isinstance(launcher, CeleryLauncher):
            raise InvalidInputError("the dagster.yaml in DAGSTER_HOME has no CeleryLauncher as run launcher")
        celery = launcher.celery
    preload()
    queue = queue_of(code_identity())
    celery.conf.task_default_queue = queue
    celery.conf.task_queues = [Queue(queue)]  # type: ignore[no-untyped-call]
    return celery


app = _application()
execute_job = create_execute_job_task(app, base=RunTask)  # type: ignore[arg-type]  # it is a keyword of the task
