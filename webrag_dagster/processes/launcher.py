"""Runs as processes of this machine, one each, one of them always warm.

Set in dagster.yaml. Dagster's default launcher starts a process under the code server for every run, which spends
seconds on imports before the run begins, and whose death goes unnoticed when the code server dies with it. Here the
process is known by its id and start time, so that any daemon, also a new one, can tell whether it lives.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import dagster as dg
import psutil
from dagster._core.launcher.base import CheckRunHealthResult, LaunchRunContext, RunLauncher, WorkerStatus
from dagster._grpc.types import ExecuteRunArgs
from dagster._serdes import ConfigurableClass, ConfigurableClassData, serialize_value

WORKER = ".dagster/webrag_worker"
"""Hidden tag of a run: host, process id and start time of its process."""

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("webrag_core", "webrag_dagster", "evals")
_CODE = (".py", ".json", ".yaml", ".npy")
_SECONDS_TO_END = 15.0
_SECONDS_UNTIL_NEXT = 2.0
_keep_warm = False


def keep_warm() -> None:
    """From now on launchers of this process keep a warm worker from their start on. For the daemon's process."""
    global _keep_warm
    _keep_warm = True


class LocalRunLauncher(RunLauncher[dg.DagsterInstance], ConfigurableClass):
    """Launches runs on the machine of the daemon."""

    def __init__(self, inst_data: ConfigurableClassData | None = None) -> None:
        self._inst_data = inst_data
        self._lock = threading.Lock()
        self._warm: _Warm | None = None
        self._directory = os.getcwd()
        self._active: dict[str, subprocess.Popen[bytes]] = {}
        super().__init__()  # type: ignore[no-untyped-call]  # Dagster's

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        """As Dagster wants it of a class that instance configuration names."""
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Nothing to set."""
        return {}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]) -> Self:
        """From dagster.yaml."""
        return cls(inst_data)

    def register_instance(self, instance: dg.DagsterInstance) -> None:
        """Called once, when the instance is made."""
        super().register_instance(instance)
        if _keep_warm:
            self._prepare()

    def launch_run(self, context: LaunchRunContext) -> None:
        """Hand the run to the warm worker, or to a cold one."""
        run, origin = context.dagster_run, context.job_code_origin
        if origin is None:
            raise dg.DagsterInvariantViolationError(f"run {run.run_id} does not say where its code is")
        arguments = ExecuteRunArgs(
            job_origin=origin,
            run_id=run.run_id,
            instance_ref=self._instance.get_ref(),
            set_exit_code_on_failure=True,
        )
        self._directory = getattr(origin.repository_origin.code_pointer, "working_directory", None) or self._directory
        worker = self._take()
        # before the run can begin: whoever finds it begun must be able to find its process
        started = psutil.Process(worker.pid).create_time()
        self._instance.add_run_tags(run.run_id, {WORKER: f"{socket.gethostname()} {worker.pid} {started}"})
        assert worker.stdin is not None
        with worker.stdin as stream:
            stream.write(serialize_value(arguments).encode() + b"\n")
        self._active[run.run_id] = worker
        threading.Thread(target=self._watch, args=(run.run_id, worker), daemon=True).start()
        if _keep_warm:
            # not at once: the run that was just launched has better use for the processor
            timer = threading.Timer(_SECONDS_UNTIL_NEXT, self._prepare)
            timer.daemon = True
            timer.start()

    def terminate(self, run_id: str) -> bool:
        """Interrupt the run's process; False when it is not there. What it has stored it still reports."""
        run = self._instance.get_run_by_id(run_id)
        process = _process_of(run) if run is not None and not run.is_finished else None
        if run is None or process is None:
            return False
        self._instance.report_run_canceling(run)
        process.send_signal(signal.SIGINT)
        return True

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Dagster's run monitoring asks for it."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Runs without a worker of ours (`webrag demo`), or on another machine, are taken to be well."""
        if WORKER not in run.tags or run.tags[WORKER].split()[0] != socket.gethostname():
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        if _process_of(run) is not None:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, "its process is gone")

    def dispose(self) -> None:
        """The daemon ends: so do its runs, after they have stored and reported what they have."""
        with self._lock:
            warm, self._warm = self._warm, None
        if warm is not None:
            warm.process.kill()
            warm.process.wait()
        for worker in list(self._active.values()):
            worker.send_signal(signal.SIGTERM)
        for worker in list(self._active.values()):
            try:
                worker.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                worker.kill()

    def _watch(self, run_id: str, worker: subprocess.Popen[bytes]) -> None:
        code = worker.wait()
        self._active.pop(run_id, None)
        if not self.has_instance:
            return
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return
        if run.status is dg.DagsterRunStatus.CANCELING:
            self._instance.report_run_canceled(run)
        else:
            told = f"signal {-code}" if code < 0 else f"exit status {code}"
            self._instance.report_run_failed(
                run, message=f"The run's process ended with {told} before the run did. What it had stored is kept."
            )

    def _take(self) -> subprocess.Popen[bytes]:
        with self._lock:
            warm, self._warm = self._warm, None
        if warm is not None and warm.process.poll() is None:
            if warm.newest_file == _newest_file():
                return warm.process
            warm.process.kill()  # it has imported code that was edited since
            warm.process.wait()
        return _start(self._directory)

    def _prepare(self) -> None:
        with self._lock:
            if self._warm is None and self.has_instance:
                self._warm = _Warm(_start(self._directory))


class _Warm:
    """A worker without a run, and how old its code is."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.newest_file = _newest_file()


def _start(directory: str) -> subprocess.Popen[bytes]:
    # a session of its own: the end of the daemon is not the end of a run
    command = (sys.executable, "-m", "webrag_dagster.processes.worker", directory)
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def _process_of(run: dg.DagsterRun) -> psutil.Process | None:
    """The living process of a run; None when it is gone, or was never told."""
    try:
        _, pid, started = run.tags[WORKER].split()
        process = psutil.Process(int(pid))
        alive = abs(process.create_time() - float(started)) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except (KeyError, psutil.Error):
        return None
    return process if alive else None


def _newest_file() -> float:
    """When the newest file of our packages was written, in seconds since 1970."""
    files = (path for package in _PACKAGES for path in (_ROOT / package).rglob("*") if path.suffix in _CODE)
    return max(path.stat().st_mtime for path in files)
