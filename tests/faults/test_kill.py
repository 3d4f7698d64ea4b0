"""`kill -9` of a command, and of the database server under it, while it prunes, switches models or migrates."""

from __future__ import annotations

import lzma
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.homes import PAGES, Home
from webrag_core.store.postgres_server import programs

pytestmark = [pytest.mark.slow, pytest.mark.alone]

_SHARES = (0.4, 0.7, 0.9)  # of the time that the whole takes
_OLD = Path(__file__).parents[1] / "corpus" / "data" / "corpus-0477561.sql.xz"
_ALL = {"VERSION_RETENTION_DAYS": "1", "LEDGER_RETENTION_DAYS": "1", "OUTBOX_RETENTION_DAYS": "1"}
_AGE = """
import psycopg, os
from pathlib import Path
from webrag_core.store.embedded import embedded_url
with psycopg.connect(embedded_url(Path(os.environ["WEBRAG_HOME"]))) as connection:
    connection.execute("UPDATE document_versions SET superseded_at = superseded_at - interval '9 days'")
"""
_MAKE_OLD_MODEL = """
import psycopg, os
from pathlib import Path
from webrag_core.store.embedded import embedded_url
with psycopg.connect(embedded_url(Path(os.environ["WEBRAG_HOME"]))) as connection:
    connection.execute("UPDATE embedding_models SET name = name || '-before' WHERE state = 'live'")
"""
_LOAD = """
import os, subprocess, sys
from pathlib import Path
from webrag_core.store.embedded import embedded_url
url = embedded_url(Path(os.environ["WEBRAG_HOME"]))
command = [sys.argv[1], "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", sys.argv[2], url]
subprocess.run(command, check=True, env={**os.environ, "LC_ALL": "C"})
"""


def seconds_of(home: Home, *command: str, **environment: str) -> float:
    begun = time.monotonic()
    home.webrag(*command, **environment)
    return time.monotonic() - begun


def kill_server(home: Home, seconds: float, *command: str, **environment: str) -> str:
    """Kill the database server under a command after so long; what the command says."""
    process = home.start(*command, **environment)
    time.sleep(seconds)
    server = home.server()
    if server is not None:
        os.kill(server, signal.SIGKILL)
    printed, problems = process.communicate()
    assert "Traceback" not in problems, problems
    if process.returncode:
        assert "database" in problems, problems
    return printed + problems


@pytest.mark.parametrize("what", ["command", "server"])
def test_a_killed_prune_is_done_again(what: str, template: Home, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    before = template.state()
    aged = template.copied(tmp_path / "aged")
    aged.python(_AGE)
    whole = aged.copied(tmp_path / "whole")
    seconds = seconds_of(whole, "prune", **_ALL)
    expected = whole.state(digest=True)
    assert len(expected["texts"]) < len(before["texts"])  # the superseded one went
    for share in _SHARES:
        home = aged.copied(tmp_path / f"{share}")
        if what == "command":
            home.killed(share * seconds, "prune", **_ALL)
        else:
            kill_server(home, share * seconds, "prune", **_ALL)
        home.check({**before, "texts": expected["texts"]})
        home.webrag("prune", **_ALL)
        assert home.state(digest=True) == expected


@pytest.mark.parametrize("what", ["command", "server"])
def test_a_killed_switch_of_models_goes_on(what: str, template: Home, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    earlier = template.copied(tmp_path / "earlier")
    earlier.python(_MAKE_OLD_MODEL)
    whole = earlier.copied(tmp_path / "whole")
    building = seconds_of(whole, "model", "build")
    switching = seconds_of(whole, "model", "switch")
    expected = whole.state(digest=True)
    for share in _SHARES:
        home = earlier.copied(tmp_path / f"{share}")
        for seconds, command in ((building, "build"), (switching, "switch")):
            if what == "command":
                home.killed(share * seconds, "model", command)
            else:
                kill_server(home, share * seconds, "model", command)
            home.check(expected)
            home.webrag("model", "build", code=None)  # which may not be needed any more
        home.webrag("model", "switch", code=None)  # which may have been done
        assert home.state(digest=True) == expected


@pytest.mark.parametrize("what", ["command", "server"])
def test_a_killed_migration_leaves_the_corpus_as_it_was_or_as_it_becomes(
    what: str, template: Home, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    dump = tmp_path / "old.sql"
    dump.write_bytes(lzma.decompress(_OLD.read_bytes()))
    old = Home(tmp_path / "old", template.warc)
    old.python(_LOAD, str(programs() / "psql"), str(dump))
    whole = old.copied(tmp_path / "whole")
    seconds = seconds_of(whole, "db", "migrate")
    expected = whole.state(digest=True)
    assert len(expected["texts"]) == 5
    for share in _SHARES:
        home = old.copied(tmp_path / f"{share}")
        if what == "command":
            home.killed(share * seconds, "db", "migrate")
        else:
            kill_server(home, share * seconds, "db", "migrate")
        home.webrag("db", "migrate")
        home.check(expected)
        assert home.state(digest=True) == expected
        backups = list((home.folder / "backups").glob("before-*.zip"))
        restored = Home(tmp_path / f"{share}-restored", template.warc)
        assert backups, "a migration makes a backup first"
        for backup in backups:
            restored.webrag("restore", str(backup))
            assert restored.state(digest=True) == expected
            break


def test_a_killed_server_costs_a_running_command_and_nothing_else(
    template: Home, undisturbed: str, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    before = template.state()
    seconds = seconds_of(
        template.copied(tmp_path / "whole"), "ingest", *[f"https://tea.example/p{n}" for n in range(PAGES)]
    )
    for share in _SHARES:
        home = template.copied(tmp_path / f"{share}")
        kill_server(home, share * seconds, "ingest", *[f"https://tea.example/p{n}" for n in range(PAGES)])
        home.check(before)
        home.ingest(*range(PAGES))
        assert home.state(digest=True)["digest"] == undisturbed


def test_killed_for_its_memory_a_server_process_takes_no_row_with_it(template: Home, tmp_path: Path) -> None:
    """The kernel kills a process of the server and not the server: all its sessions end, and it recovers."""
    tmp_path.chmod(0o755)
    before = template.state()
    home = template.copied(tmp_path / "home")
    process = home.start("ingest", *[f"https://tea.example/p{n}" for n in range(PAGES)])
    killed = 0
    while process.poll() is None and killed < 3:
        time.sleep(0.7)
        listed = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(home.server() or 0)], capture_output=True, text=True, check=False
        )
        sessions = [int(line.split()[0]) for line in listed.stdout.splitlines() if "postgres postgres" in line]
        for session in sessions[:1]:
            os.kill(session, signal.SIGKILL)
            killed += 1
    _, problems = process.communicate()
    assert killed
    assert "Traceback" not in problems, problems
    home.check(before)
