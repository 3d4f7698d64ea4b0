"""`kill -9` at any point loses nothing: no half file has the name of a backup, no half home is taken for a corpus."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import fresh_database
from tests.web.tea_corpus import LOST, store

pytestmark = [pytest.mark.slow, pytest.mark.alone]
_SHARES = (0.3, 0.6, 0.8, 0.95)  # of the time that the whole takes


@pytest.fixture(scope="module")
def backup_file(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("killed")
    with fresh_database(server_url) as url:
        store(url, folder)
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM documents WHERE canonical_url = %s", (LOST,))  # which nobody fetched
        webrag("backup", str(folder / "tea.zip"), DATABASE_URL=url)
        yield folder / "tea.zip"


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "webrag", *arguments],
        env={**os.environ, "WEBRAG_READER": "none", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def webrag(*arguments: str, code: int = 0, **environment: str) -> str:
    process = start(*arguments, **environment)
    printed, problems = process.communicate()
    assert process.returncode == code, problems
    return printed + problems


def killed_after(seconds: float, *arguments: str, **environment: str) -> bool:
    """Kill a command with all its children; False when it ended before."""
    process = start(*arguments, **environment)
    time.sleep(seconds)
    was_running = process.poll() is None
    if was_running:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return was_running


def test_a_killed_backup_leaves_no_file_of_its_name(server_url: str, tmp_path: Path) -> None:
    with fresh_database(server_url) as url:
        store(url, tmp_path)
        begun = time.monotonic()
        webrag("backup", str(tmp_path / "whole.zip"), DATABASE_URL=url)
        whole = time.monotonic() - begun
        for share in _SHARES:
            file = tmp_path / f"{share}.zip"
            if killed_after(share * whole, "backup", str(file), DATABASE_URL=url) or not file.exists():
                assert not file.exists() or file.stat().st_size > 10_000
                if not file.exists():
                    webrag("backup", str(file), DATABASE_URL=url)
        assert all(file.stat().st_size > 10_000 for file in tmp_path.glob("*.zip"))


def test_a_killed_restore_says_so_and_is_done_again(backup_file: Path, tmp_path: Path) -> None:
    begun = time.monotonic()
    assert "0 violations" in webrag("restore", str(backup_file), WEBRAG_HOME=str(tmp_path / "whole"))
    whole = time.monotonic() - begun
    unfinished = 0
    for share in _SHARES:
        home = str(tmp_path / f"home-{share}")
        was_killed = killed_after(share * whole, "restore", str(backup_file), WEBRAG_HOME=home)
        is_marked = (Path(home) / "restore-unfinished").exists()
        if was_killed and is_marked:
            unfinished += 1
            assert "webrag restore" in webrag("status", WEBRAG_HOME=home, code=1)
        printed = start("restore", str(backup_file), WEBRAG_HOME=home).communicate()
        assert "0 violations" in printed[0] or (not is_marked and "a corpus already" in printed[1]), printed
        assert "5" in webrag("verify", WEBRAG_HOME=home)
