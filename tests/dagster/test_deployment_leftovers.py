"""One supervisor per instance, and nothing of a killed one goes on: at once, or at the latest at the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.dagster.test_deployment_services import PARENT_AND_CHILD, alive, started, wait_for
from webrag_core.errors import InvalidInputError
from webrag_dagster.instance import storage_folder
from webrag_dagster.processes.instance_lock import FILE, hold
from webrag_dagster.processes.record import Mark, Record

PORT = 4711
UP = """
import os, sys, tempfile
from pathlib import Path
from webrag_dagster.processes.instance_lock import hold
from webrag_dagster.processes.services import Service
from webrag_dagster.processes.supervision import supervise
log = sys.argv[2]
command = (sys.executable, "-c", sys.argv[1], log)
with hold(Path(log).parent, 4711) as lock:
    folder = Path(tempfile.mkdtemp(prefix="webrag-", dir=Path(log).parent))
    sys.exit(supervise(lock, folder, [Service("kettle", command)], os.environ))
"""


def recorded(folder: Path) -> Record | None:
    """What the lock's file in `folder` says; None while it says nothing."""
    file = folder / FILE
    line = file.read_text().partition("\n")[0] if file.exists() else ""
    return Record.model_validate_json(line) if line else None


class Instances:
    """Supervisors on one instance, all of one service; the processes of all are ended with the test."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "starts"
        self._all: list[subprocess.Popen[bytes]] = []

    def up(self) -> subprocess.Popen[bytes]:
        """Another supervisor, when its service is there."""
        before = len(started(self.log))
        up = subprocess.Popen([sys.executable, "-c", UP, PARENT_AND_CHILD, str(self.log)], cwd=REPOSITORY)
        self._all.append(up)
        wait_for(lambda: len(started(self.log)) > before and self.record().groups != ())
        return up

    def record(self) -> Record:
        """What the lock's file says."""
        record = recorded(self.log.parent)
        assert record is not None
        return record

    def end(self) -> None:
        """Whatever the test has left."""
        for up in self._all:
            up.kill()
            up.wait()
        for pid in [pid for pids in started(self.log) for pid in pids]:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def instances(tmp_path: Path) -> Iterator[Instances]:
    """An instance of the test's own."""
    made = Instances(tmp_path)
    yield made
    made.end()


def test_a_second_one_is_refused_and_the_first_is_named(instances: Instances) -> None:
    first = instances.up()
    told = rf"process {first.pid}: open http://127.0.0.1:{PORT}, or end it"
    with pytest.raises(InvalidInputError, match=told), hold(instances.log.parent, PORT + 1):
        pytest.fail("both hold it")
    assert instances.record().port == PORT
    first.send_signal(signal.SIGTERM)
    assert first.wait(30) == 0
    record = instances.record()
    assert (record.groups, record.guard, record.folder) == ((), None, None)
    with hold(instances.log.parent, PORT + 1) as lock:
        assert lock.record.pid == os.getpid()


def test_what_a_killed_one_ran_ends_with_it(instances: Instances) -> None:
    first = instances.up()
    record = instances.record()
    assert record.folder is not None
    assert record.guard is not None
    first.kill()
    first.wait()
    [pids] = started(instances.log)
    theirs = (*pids, record.guard.pid)
    wait_for(lambda: not any(alive(pid) for pid in theirs))
    assert not record.folder.exists()
    instances.up()  # the lock went with it


def test_what_nobody_ended_is_ended_by_the_next_start_before_anything_begins(instances: Instances) -> None:
    first = instances.up()
    left = instances.record()
    assert left.folder is not None
    assert left.guard is not None
    os.kill(left.guard.pid, signal.SIGSTOP)  # it sees nothing of what follows
    first.kill()
    first.wait()
    os.kill(left.guard.pid, signal.SIGKILL)
    [pids] = started(instances.log)
    assert all(alive(pid) for pid in pids)
    with hold(instances.log.parent, PORT):
        assert not any(alive(pid) for pid in pids)
        assert not left.folder.exists()


def test_of_a_service_that_is_gone_what_it_started_is_ended(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    service = subprocess.Popen([sys.executable, "-c", PARENT_AND_CHILD, str(log)], start_new_session=True)
    wait_for(lambda: len(started(log)) == 1)
    left = Record(pid=1, port=PORT, groups=(Mark.of(service.pid),))
    service.kill()
    service.wait()
    [[_, child]] = started(log)
    assert alive(child)
    (tmp_path / FILE).write_text(left.model_dump_json() + "\n")
    with hold(tmp_path, PORT):
        assert not alive(child)


def test_a_process_that_only_has_the_id_of_an_old_one_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as innocent:
        older = Mark(pid=innocent.pid, started=Mark.of(innocent.pid).started - 3600)
        old = Record(pid=1, port=PORT, folder=tmp_path, groups=(older,), guard=older)
        (tmp_path / FILE).write_text(old.model_dump_json() + "\n")
        with hold(tmp_path, PORT):
            assert innocent.poll() is None
            assert tmp_path.exists(), "a folder that is not of ours"
        innocent.communicate(b"\n")
    assert innocent.returncode == 0


def test_a_guard_that_is_gone_is_replaced(instances: Instances) -> None:
    first = instances.up()
    before = instances.record().guard
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    [[service, _]] = started(instances.log)
    os.kill(service, signal.SIGKILL)
    wait_for(lambda: len(started(instances.log)) == 2 and instances.record().guard != before)
    first.kill()
    wait_for(lambda: not any(alive(pid) for pids in started(instances.log) for pid in pids))


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
