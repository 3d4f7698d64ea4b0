"""The run launcher of dagster.yaml: runs are forked from a warm process, a child of the daemon.

Dagster's DefaultRunLauncher spawns an interpreter for each run, which imports everything first. Answers launched in the
UI, launch to end without the loop's own time, paired, median of 6 at load 15 to 21: default 40.7 s, this one 13.8 s.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from importlib.metadata import entry_points
from typing import Any

import dagster as dg
import psutil

from webrag_dagster.dagster_private import CheckRunHealthResult, ExecuteRunArgs, WorkerStatus

WORKER = ".dagster/webrag_worker"  # hidden tag of a run: id and start time of its process
_WARM = (sys.executable, "-m", "webrag_dagster.processes.launcher")
_PRELOADED = ("webrag_core.application.operations", "webrag_dagster.corpus.refreshing", "webrag_dagster.metadata")


class ForkingRunLauncher(dg.DefaultRunLauncher):
    """Launches runs on this machine, and knows their processes by id and start time."""

    supports_check_run_worker_health = True

    def __init__(self, inst_data: Any = None) -> None:
        super().__init__(inst_data)
        self._lock = threading.Lock()
        self._template: Any = None
        self._code: object = None

    def register_instance(self, instance: dg.DagsterInstance) -> None:
        """Start the warm process in the daemon; other processes open an instance, too."""
        super().register_instance(instance)
        if sys.argv[0].endswith("dagster-daemon"):
            self._warm(None)

    def launch_run(self, context: Any) -> None:
        """Fork a process for the run; it begins once the run's tag names it."""
        run = context.dagster_run
        arguments = ExecuteRunArgs(run.job_code_origin, run.run_id, self._instance.get_ref(), True)
        origin = run.remote_job_origin.repository_origin.code_location_origin
        with self._lock:
            template = self._warm(context.workspace.get_code_location(origin.location_name).server_id)
            print(arguments.get_command_args()[-1], file=template.stdin, flush=True)
            process = psutil.Process(int(template.stdout.readline()))
            try:
                self._instance.add_run_tags(run.run_id, {WORKER: f"{process.pid} {process.create_time()}"})
                template.stdin.write("go")
            finally:
                print(file=template.stdin, flush=True)

    def _warm(self, code: object) -> Any:
        """The warm process; a new one when it died, or when `code`, the id of the code server, changed (a reload)."""
        if self._template is None or self._template.poll() is not None or self._code not in (None, code):
            if self._template is not None:
                self._template.kill()
            self._template = subprocess.Popen(_WARM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._code = code
        return self._template

    def terminate(self, run_id: str) -> bool:
        """Interrupt the run's process. False when there is none."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished or (process := worker(run)) is None:
            return False
        self._instance.report_run_canceling(run)
        process.send_signal(signal.SIGINT)
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the run's process lives. Runs of other processes (`webrag demo`) count as running."""
        if WORKER not in run.tags or worker(run) is not None:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, "The run's process is gone. What it had stored is kept.")


def worker(run: dg.DagsterRun) -> psutil.Process | None:
    """The process of a run; None when it has none or it has ended."""
    with suppress(KeyError, psutil.Error):
        pid, started = run.tags[WORKER].split()
        process = psutil.Process(int(pid))
        if abs(process.create_time() - float(started)) < 1 and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None


def preload() -> None:
    """Import what runs need, so that processes forked from this one have it."""
    for name in _PRELOADED:
        importlib.import_module(name)
    importlib.import_module("webrag_dagster.definitions").definitions().get_repository_def().get_job("answer")


def _serve_forks() -> None:
    """The warm process: read the arguments of a run, fork a child, print its id, read "go", let the child begin.

    The end of the input ends the process; runs in progress go on.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel removes children that ended
    preload()
    dg.DagsterInstance.get().dispose()  # imports the instance's storage
    [main] = [script.load() for script in entry_points(group="console_scripts", name="dagster")]
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of runs goes where the daemon's goes
    while arguments := sys.stdin.readline():
        reading, writing = os.pipe()
        if not (child := os.fork()):
            os.close(writing)
            replies.close()
            if os.read(reading, 1):
                signal.signal(signal.SIGINT, signal.default_int_handler)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                sys.argv = ["dagster", "api", "execute_run", arguments.strip()]
                main()
            return
        os.close(reading)
        print(child, file=replies, flush=True)
        if sys.stdin.readline().strip():
            os.write(writing, b"g")
        os.close(writing)


if __name__ == "__main__":
    _serve_forks()
