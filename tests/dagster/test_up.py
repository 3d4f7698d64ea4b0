"""`webrag up` keeps its services running, once per instance, and nothing of it outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.conftest import REPOSITORY
from tests.waiting import wait_until
from webrag_core.errors import InvalidInputError
from webrag_dagster.instance import hold, storage_folder

pytestmark = [pytest.mark.alone, pytest.mark.slow]

UP = """
import sys
from pathlib import Path
from webrag_dagster import instance
from webrag_dagster.processes import up
log, program = Path(sys.argv[1]), sys.argv[2]
instance.hold(log.parent, 4711)
up.services = lambda folder, port, with_page: [up.Service((sys.executable, "-c", program, str(log)), has_child=True)]
up._PAUSE, up._GRACE = 0.1, 5.0
sys.exit(up.run(4711, lambda: None, lambda: None, with_page=False))
"""

PARENT_AND_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open(sys.argv[1], "a").write(f"{os.getppid()} {os.getpid()} {child.pid}\\n")
child.wait()
time.sleep(60)
"""

SLOW_TO_END = """
import os, pathlib, signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
def end(*_):
    time.sleep(0.5)
    pathlib.Path(sys.argv[1] + ".ended").touch()
    os._exit(0)
signal.signal(signal.SIGTERM, end)
open(sys.argv[1], "a").write(f"{os.getppid()} {os.getpid()} {child.pid}\\n")
time.sleep(60)
"""


class Kettle:
    """A running `up` with one service."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "starts"
        self.command: subprocess.Popen[bytes] | None = None

    def up(self, program: str = PARENT_AND_CHILD) -> subprocess.Popen[bytes]:
        self.command = subprocess.Popen([sys.executable, "-c", UP, str(self.log), program], cwd=REPOSITORY)
        self.await_start(1)
        return self.command

    def starts(self) -> list[list[int]]:
        """For each start: ids of the supervisor, the service, and the service's child."""
        lines = self.log.read_text().splitlines(keepends=True) if self.log.exists() else []
        return [[int(pid) for pid in line.split()] for line in lines if line.endswith("\n")]

    def await_start(self, number: int) -> list[int]:
        wait_until(lambda: len(self.starts()) >= number)
        return self.starts()[number - 1]

    def await_end(self) -> None:
        wait_until(lambda: not any(alive(pid) for pids in self.starts() for pid in pids))


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def kettle(tmp_path: Path) -> Iterator[Kettle]:
    made = Kettle(tmp_path)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the suite itself may run under nohup
    yield made
    signal.signal(signal.SIGHUP, before)
    for pid in [pid for pids in reversed(made.starts()) for pid in pids]:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
    if made.command is not None:
        made.command.kill()
        made.command.wait()


@pytest.mark.parametrize("place", [1, 2], ids=["service", "its child"])
def test_a_killed_service_comes_back(kettle: Kettle, place: int) -> None:
    up = kettle.up()
    wait_until(lambda: len(psutil.Process(kettle.starts()[0][1]).children()) == 1)
    time.sleep(1)  # a look of the supervisor at the child
    os.kill(kettle.starts()[0][place], signal.SIGKILL)
    kettle.await_start(2)
    up.send_signal(signal.SIGINT)
    assert up.wait() == 0
    kettle.await_end()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_everything_and_leaves_time_to_end(kettle: Kettle, number: signal.Signals) -> None:
    up = kettle.up(SLOW_TO_END)
    up.send_signal(number)
    assert up.wait() == 0
    assert Path(f"{kettle.log}.ended").exists()
    kettle.await_end()


def test_a_killed_command_leaves_nothing(kettle: Kettle) -> None:
    kettle.up().kill()
    kettle.await_end()


def test_a_killed_supervisor_leaves_nothing(kettle: Kettle) -> None:
    up = kettle.up()
    os.kill(kettle.starts()[0][0], signal.SIGKILL)
    assert up.wait() == signal.SIGKILL
    kettle.await_end()


def test_under_nohup_a_closed_terminal_ends_nothing(kettle: Kettle) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        up = kettle.up()
    finally:
        signal.signal(signal.SIGHUP, before)
    up.send_signal(signal.SIGHUP)
    os.kill(kettle.starts()[0][1], signal.SIGKILL)
    kettle.await_start(2)  # still supervised
    up.send_signal(signal.SIGTERM)
    assert up.wait() == 0


def test_a_second_one_is_refused_until_the_last_process_of_the_first_has_ended(kettle: Kettle) -> None:
    up = kettle.up()
    with pytest.raises(InvalidInputError, match=rf"process {up.pid}, http://127.0.0.1:4711"):
        hold(kettle.log.parent, 4712)
    supervisor = kettle.starts()[0][0]
    os.kill(supervisor, signal.SIGSTOP)
    up.kill()
    up.wait()
    with pytest.raises(InvalidInputError):
        hold(kettle.log.parent, 4712)
    os.kill(supervisor, signal.SIGCONT)
    kettle.await_end()
    os.close(hold(kettle.log.parent, 4712))


def test_the_lock_lies_where_the_instance_keeps_its_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert storage_folder(REPOSITORY) == tmp_path / ".webrag" / "dagster", "as relative folders are read by Dagster"
    assert storage_folder(tmp_path) == tmp_path, "an instance without a file"
    monkeypatch.setenv("HISTORY", str(tmp_path / "history"))
    (tmp_path / "dagster.yaml").write_text("storage: {sqlite: {base_dir: {env: HISTORY}}}")
    assert storage_folder(tmp_path) == tmp_path / "history"
    (tmp_path / "dagster.yaml").write_text("storage: {postgres: {postgres_url: {env: URL}}}")
    assert storage_folder(tmp_path) == tmp_path
    (tmp_path / "dagster.yaml").write_text("storage: {")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        storage_folder(tmp_path)
