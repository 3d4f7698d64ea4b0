"""The embedded server, shared and left by real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.conftest import REPOSITORY
from tests.waiting import wait_until
from webrag_core.errors import StoreError
from webrag_core.store.embedded import embedded_url
from webrag_core.store.private_folders import server_account

pytestmark = [pytest.mark.alone, pytest.mark.slow]

# opens the database, prints its URL, and ends when its standard input does
OWNER = """
import asyncio, sys
from pathlib import Path
from webrag_core.config import load_settings
from webrag_core.store.database import Database

async def main():
    async with await Database.open(load_settings(webrag_home=Path(sys.argv[1]))) as database:
        print(database.url, flush=True)
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(0, ended.set)
        await ended.wait()

asyncio.run(main())
"""


class Owner:
    """A process that uses the embedded server of `home`."""

    def __init__(self, home: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(home)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        self.pid = self._process.pid
        assert self.url, "the owner did not come up"

    def end(self, signum: signal.Signals | None = None) -> int:
        """Close its input, or send `signum`; its exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if signum is None:
            self._process.stdin.close()
        else:
            self._process.send_signal(signum)
        code = self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        return code


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose server was made, holds a table with one row, and is stopped."""
    folder = tmp_path_factory.mktemp("embedded")
    owner = Owner(folder)
    with psycopg.connect(owner.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('first')")
    assert owner.end() == 0
    return folder


@pytest.fixture
def data(home: Path) -> Iterator[Path]:
    """The stopped server's folder; stopped again afterwards."""
    data = home / "postgres"
    assert not (data / "postmaster.pid").exists(), "the last owner stops the server"
    yield data
    assert not (data / "postmaster.pid").exists(), "the last owner stops the server"


def _postmaster(data: Path) -> psutil.Process:
    return psutil.Process(int((data / "postmaster.pid").read_text().split("\n", 1)[0]))


def _words(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT word FROM kept").fetchall()]


def _dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_processes_share_one_server_and_sigterm_is_a_way_to_leave(home: Path, data: Path) -> None:
    first, second = Owner(home), Owner(home)
    try:
        assert first.url == second.url
        assert second.end(signal.SIGTERM) == 128 + signal.SIGTERM
        assert _words(first.url) == ["first"]
    finally:
        first.end()


def test_a_killed_owner_loses_no_committed_row_and_keeps_no_server(home: Path, data: Path) -> None:
    killed = Owner(home)
    with psycopg.connect(killed.url, autocommit=True) as connection:
        connection.execute("INSERT INTO kept VALUES ('second')")
        assert killed.end(signal.SIGKILL) == -signal.SIGKILL
    owner = Owner(home)
    try:
        assert "second" in _words(owner.url)
    finally:
        owner.end()
    with open(data / "log") as log:
        assert "PANIC" not in log.read()


def test_an_unlogged_relation_whose_mark_is_gone_keeps_no_server_from_starting(home: Path, data: Path) -> None:
    owner = Owner(home)
    with psycopg.connect(owner.url, autocommit=True) as connection:
        connection.execute("CREATE UNLOGGED TABLE leases (host text)")
        row = connection.execute("SELECT pg_relation_filepath('leases')").fetchone()
        assert row is not None
        server = int((data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(server, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(server)] if psutil.pid_exists(server) else [], timeout=30)
    (data / f"{row[0]}_init").unlink()  # as a transaction does that is taken back while the server dies
    owner.end()
    again = Owner(home)
    try:
        assert "first" in _words(again.url)
        with psycopg.connect(again.url) as connection:
            assert connection.execute("SELECT count(*) FROM leases").fetchone() == (0,)
    finally:
        again.end()
    assert "File exists" in (data / "log").read_text()


def test_the_last_to_leave_stops_the_server_that_another_process_started(home: Path, data: Path) -> None:
    first = Owner(home)
    try:
        postmaster = _postmaster(data)
        postmaster.kill()
        postmaster.wait()
        second = Owner(home)
        assert _postmaster(data).pid != postmaster.pid
        second.end()
        assert "first" in _words(first.url)
    finally:
        first.end()


@pytest.mark.parametrize(
    ("pid", "lines"),
    [("{living}", 8), ("1", 8), ("-5", 8), (str(2**70), 8), ("rubbish", 8), ("", 0), ("{dead}", 1)],
)
def test_leftovers_do_not_keep_the_server_from_starting(home: Path, data: Path, pid: str, lines: int) -> None:
    # a whole file with the number of a living stranger or of nobody, or one cut off after the number of a dead process
    content = [
        pid.format(living=os.getpid(), dead=_dead_pid()),
        str(data),
        "1700000000",
        "5432",
        str(data),
        "",
        "  1234567 0",
        "ready   ",
    ]
    (data / "postmaster.pid").write_text("\n".join(content[:lines]) + "\n" * (lines > 0))
    if lines == 8:  # a server that was killed leaves the lock of its socket as well
        (data / ".s.PGSQL.5432.lock").write_text("\n".join(content[:5]) + "\n")
    owner = Owner(home)
    try:
        assert "first" in _words(owner.url)
    finally:
        owner.end()
    assert psutil.pid_exists(os.getpid())


# as the first process of a container, which gets the server when the process that started it ends, and reaps nobody
FIRST_PROCESS = """
import ctypes, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
started = "from webrag_core.store.embedded import embedded_url; from pathlib import Path; import sys;"
subprocess.run([sys.executable, "-c", started + "embedded_url(Path(sys.argv[1]))", sys.argv[1]], check=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's")
def test_a_server_that_nobody_reaps_stops_too(home: Path, data: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PROCESS, str(home)], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_a_cluster_whose_making_was_killed_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "initialising").touch()
    torn = tmp_path / "postgres"
    (torn / "base" / "1").mkdir(parents=True)
    (torn / "PG_VERSION").write_text("18\n")
    account = server_account()
    torn.chmod(0o700)
    os.chown(torn, account.uid, account.gid)
    owner = Owner(tmp_path)
    with psycopg.connect(owner.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    owner.end()


def test_a_server_that_is_kept_serves_the_next_user_and_ends_by_itself(
    home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBRAG_KEEP_DATABASE_SECONDS", "3600")
    assert Owner(home).end() == 0
    server = _postmaster(data)
    keeper = _keeper(home)
    second = Owner(home)
    assert second.end() == 0
    assert _postmaster(data) == server
    assert _keeper(home) == keeper, "one process waits for all"
    soon = time.time() + 0.1
    os.utime(home / "server" / "kept", (soon, soon))
    wait_until(lambda: _has_ended(server) and _has_ended(keeper))


def test_a_kept_server_stops_by_sigterm_and_for_who_wants_to_be_alone(
    home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBRAG_KEEP_DATABASE_SECONDS", "3600")
    assert Owner(home).end() == 0
    server, keeper = _postmaster(data), _keeper(home)
    keeper.terminate()
    wait_until(lambda: _has_ended(server) and _has_ended(keeper))
    assert Owner(home).end() == 0
    keeper = _keeper(home)
    script = (
        "import sys; from pathlib import Path; from webrag_core.store.embedded import embedded_url, only_user;"
        " home = Path(sys.argv[1]); embedded_url(home)\nwith only_user(home) as alone: print(alone)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(home)], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
    assert _has_ended(keeper)


def _keeper(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "server" / "kept").read_text()))


def _has_ended(process: psutil.Process) -> bool:
    """Whether it ended, reaped or not: not every machine's first process reaps."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_an_error_names_its_cause(home: Path, data: Path) -> None:
    configuration = data / "postgresql.auto.conf"
    before = configuration.read_text()
    configuration.write_text(before + "no_such_setting = 1\n")
    try:
        with pytest.raises(StoreError, match=r"configuration file .* contains errors"):
            embedded_url(home)
    finally:
        configuration.write_text(before)


@pytest.mark.parametrize("kind", ["file", "below a file"])
def test_an_impossible_folder_is_our_error(tmp_path: Path, kind: str) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    with pytest.raises(StoreError, match="taken"):
        embedded_url(taken if kind == "file" else taken / "below")
