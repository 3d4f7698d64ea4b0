"""Processes that are kept running: killed ones come back, with nothing of theirs left; hopeless ones are given up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.conftest import REPOSITORY

SUPERVISOR = """
import os, sys
from webrag_dagster.processes.services import Service, Supervisor
command = (sys.executable, "-c", sys.argv[1], *sys.argv[2:])
gone = lambda: open(sys.argv[2] + ".gone", "a").write("gone\\n")
sys.exit(Supervisor([Service("kettle", command, gone=gone)], os.environ).run())
"""

PARENT_AND_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open(sys.argv[1], "a").write(f"{os.getpid()} {child.pid}\\n")
time.sleep(60)
"""

SLOW_TO_END = """
import os, pathlib, signal, sys, time
log = sys.argv[1]
def end(*_):
    pathlib.Path(log + ".asked").touch()
    while not os.path.exists(log + ".go"):
        time.sleep(0.02)
    time.sleep(0.5)
    pathlib.Path(log + ".ended").touch()
    sys.exit()
signal.signal(signal.SIGTERM, end)
open(log, "a").write(f"{os.getpid()}\\n")
time.sleep(60)
"""


def supervise(program: str, log: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SUPERVISOR, program, str(log)], cwd=REPOSITORY)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def started(log: Path) -> list[list[int]]:
    """Process ids of each start: the service's own, its child's."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [[int(pid) for pid in line.split()] for line in lines]


def test_a_killed_service_comes_back_and_what_it_left_behind_is_gone(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    supervisor = supervise(PARENT_AND_CHILD, log)
    wait_for(lambda: len(started(log)) == 1)
    [first] = started(log)
    os.kill(first[0], signal.SIGKILL)
    wait_for(lambda: len(started(log)) == 2)
    assert not psutil.pid_exists(first[1]) or psutil.Process(first[1]).status() == psutil.STATUS_ZOMBIE
    assert (tmp_path / "starts.gone").read_text() == "gone\n", "whoever has to settle something was told"
    supervisor.send_signal(signal.SIGINT)
    assert supervisor.wait(30) == 0
    wait_for(lambda: not any(alive(pid) for pids in started(log) for pid in pids))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_everything(tmp_path: Path, number: signal.Signals) -> None:
    log = tmp_path / "starts"
    supervisor = supervise(PARENT_AND_CHILD, log)
    wait_for(lambda: len(started(log)) == 1)
    supervisor.send_signal(number)
    assert supervisor.wait(30) == 0
    wait_for(lambda: not any(alive(pid) for pid in started(log)[0]))


def test_a_service_that_never_works_is_given_up(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    supervisor = supervise("import os, sys; open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); sys.exit(3)", log)
    assert supervisor.wait(30) == 1
    assert len(started(log)) == 4


def test_a_closed_terminal_of_which_two_tell_leaves_services_the_time_to_end(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    supervisor = supervise(SLOW_TO_END, log)
    wait_for(lambda: len(started(log)) == 1)
    supervisor.send_signal(signal.SIGHUP)
    wait_for((tmp_path / "starts.asked").exists)
    supervisor.send_signal(signal.SIGHUP)
    (tmp_path / "starts.go").touch()
    assert supervisor.wait(30) == 0
    assert (tmp_path / "starts.ended").exists()


def test_under_nohup_the_end_of_the_terminal_is_nothing(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        supervisor = supervise(PARENT_AND_CHILD, log)
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(lambda: len(started(log)) == 1)
    supervisor.send_signal(signal.SIGHUP)
    os.kill(started(log)[0][0], signal.SIGKILL)
    wait_for(lambda: len(started(log)) == 2)  # it goes on with its work
    supervisor.send_signal(signal.SIGTERM)
    assert supervisor.wait(30) == 0


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
