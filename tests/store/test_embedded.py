"""The embedded server, shared and left by real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.conftest import REPOSITORY
from webrag_core.errors import StoreError
from webrag_core.store.embedded import embedded_url

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
        code = self._process.wait(60)
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


def _owners(data: Path) -> set[int]:
    return set(json.loads((data / ".handle_pids.json").read_text()))


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
        assert _owners(data) == {first.pid, second.pid}
        assert second.end(signal.SIGTERM) == 128 + signal.SIGTERM
        assert _owners(data) == {first.pid}
        assert _words(first.url) == ["first"]
    finally:
        first.end()


def test_a_killed_owner_loses_no_committed_row_and_is_forgotten(home: Path, data: Path) -> None:
    killed = Owner(home)
    with psycopg.connect(killed.url, autocommit=True) as connection:
        connection.execute("INSERT INTO kept VALUES ('second')")
        assert killed.end(signal.SIGKILL) == -signal.SIGKILL
    assert _owners(data) == {killed.pid}
    owner = Owner(home)
    try:
        assert _owners(data) == {owner.pid}
        assert "second" in _words(owner.url)
    finally:
        owner.end()
    with open(data / "log") as log:
        assert "PANIC" not in log.read()


@pytest.mark.parametrize(
    ("owners", "lines"), [("[{dead}]", 8), ("[{dead}, ", 8), ("null", 8), ("", 8), ("[{dead}]", 1)]
)
def test_leftovers_do_not_keep_the_server_from_starting(home: Path, data: Path, owners: str, lines: int) -> None:
    dead = _dead_pid()
    (data / ".handle_pids.json").write_text(owners.format(dead=dead))
    # a whole file with the number of a living stranger, or one cut off after the number of a dead process
    pid = os.getpid() if lines == 8 else dead
    content = [str(pid), str(data), "1700000000", "5432", str(data), "", "  1234567 0", "ready   "]
    (data / "postmaster.pid").write_text("\n".join(content[:lines]) + "\n")
    if lines == 8:  # a server that was killed leaves the lock of its socket as well
        (data / ".s.PGSQL.5432.lock").write_text("\n".join(content[:5]) + "\n")
    owner = Owner(home)
    try:
        assert _owners(data) == {owner.pid}
        assert "first" in _words(owner.url)
    finally:
        owner.end()
    assert psutil.pid_exists(os.getpid())


@pytest.mark.parametrize("kind", ["file", "below a file"])
def test_an_impossible_folder_is_our_error(tmp_path: Path, kind: str) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    with pytest.raises(StoreError):
        embedded_url(taken if kind == "file" else taken / "below")
