"""The run launcher of docs/instances/celery.yaml: runs wait in a broker for a worker of the same code.

Beyond `CeleryRunLauncher`: each code version has a queue of its own; a run whose worker is silent ends as failed,
although nobody stored an end of its task; a broker that is away or empty fails no run that is in progress.
"""

from __future__ import annotations

import logging
import time
from typing import Any

import dagster as dg
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.tags import DAGSTER_CELERY_QUEUE_TAG, DAGSTER_CELERY_TASK_ID_TAG
from kombu.exceptions import OperationalError

from webrag_dagster.dagster_private import CheckRunHealthResult, WorkerStatus
from webrag_dagster.processes.code_identity import CODE, queue_of

WORKER = ".dagster/webrag_celery_worker"
"""Hidden tag of a run that a worker took: id of its task and name of the worker."""
_ANSWER_S = 3.0
_SILENCE_S = 60.0  # a worker finds a broker that was away again within half of this

_log = logging.getLogger(__name__)
_RUNNING = CheckRunHealthResult(WorkerStatus.RUNNING)


class CeleryLauncher(CeleryRunLauncher):
    """Launches runs by way of a broker, and asks the workers themselves whether they live."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._silent_since: dict[str, float] = {}

    @property
    def supports_resume_run(self) -> bool:
        """No: a run is launched again by Dagster's run retries, as another run."""
        return False

    def launch_run(self, context: Any) -> None:
        """Put the run into the queue of its code location's version. Raises OperationalError without a broker."""
        run = context.dagster_run
        origin = run.remote_job_origin.repository_origin
        location = context.workspace.get_code_location(origin.code_location_origin.location_name)
        code = location.get_repository(origin.repository_name).repository_snap.metadata[CODE].value
        # a run that is launched again has the tags of the one before
        tags = {CODE: code, DAGSTER_CELERY_QUEUE_TAG: queue_of(code), WORKER: "", DAGSTER_CELERY_TASK_ID_TAG: ""}
        self._instance.add_run_tags(run.run_id, tags)
        super().launch_run(context._replace(dagster_run=self._instance.get_run_by_id(run.run_id)))

    def terminate(self, run_id: str) -> bool:
        """Interrupt the run, or take it out of the queue. False when it has ended."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        task, _, worker = run.tags.get(WORKER, "").partition(" ")
        if worker:
            self._instance.report_run_canceling(run)
            self.celery.control.revoke(task, terminate=True, signal="SIGINT", destination=[worker])
        else:
            self._instance.report_run_canceled(run, "Canceled before a worker took it.")
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the run's worker still executes it, in the worker's own words. Without a worker it counts as running.

        A worker may be silent for a minute: its broker was away, or its machine is busy.
        """
        task, _, worker = run.tags.get(WORKER, "").partition(" ")
        if not worker:
            return _RUNNING
        try:
            answers = self.celery.control.inspect(destination=[worker], timeout=_ANSWER_S).active()
        except (OSError, OperationalError, *self.celery.connection_for_read().connection_errors) as error:
            # without a broker nothing is known of workers
            _log.warning("workers cannot be asked for their runs, which count as running: %s", error)
            self._silent_since.clear()
            return _RUNNING
        now = time.monotonic()
        if answers and worker in answers:
            self._silent_since.pop(worker, None)
            if any(active["id"] == task for active in answers[worker]):
                return _RUNNING
            return CheckRunHealthResult(
                WorkerStatus.FAILED, f"Its process on worker {worker} is gone. What it had stored is kept."
            )
        if now - self._silent_since.setdefault(worker, now) < _SILENCE_S:
            return _RUNNING
        return CheckRunHealthResult(
            WorkerStatus.FAILED, f"Worker {worker} does not answer. What the run had stored is kept."
        )

    def get_run_worker_debug_info(self, run: dg.DagsterRun, include_container_logs: bool | None = True) -> str | None:
        """Where the run is or waits, for the message with which it fails."""
        worker = run.tags.get(WORKER, "").partition(" ")[2]
        if worker:
            return f"It was with worker {worker}."
        return (
            f"No worker took it from queue {run.tags.get(DAGSTER_CELERY_QUEUE_TAG)}: all are busy, none has the code"
            f" and settings of the code location ({run.tags.get(CODE)}), or the broker lost it."
        )
