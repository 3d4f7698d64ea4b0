"""`webrag demo` and `webrag up`, as the installed script where processes matter."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import dagster as dg
import psutil
import pytest

from tests.command_line import Webrag, webrag_here
from tests.conftest import REPOSITORY
from tests.dagster.conftest import QUICK
from tests.dagster.test_up import alive
from tests.waiting import wait_until
from webrag_core.cli import running_server
from webrag_core.config import load_settings
from webrag_dagster import commands
from webrag_dagster.instance import hold, storage_folder, use_instance

INSTANCE = Path(".webrag", "dagster")
SCRIPT = Path(sys.executable).with_name("webrag")
UNSET = ""
"""DAGSTER_HOME for a command in this process, which would leave its choice to the next one."""

__all__ = ["webrag_here"]


@pytest.mark.alone
@pytest.mark.slow
def test_demo_as_json_prints_an_answer_whose_run_is_in_the_instance(webrag_here: Webrag, tmp_path: Path) -> None:
    """The text is printed by the demo of the installed package, in a process of its own (test_wheel)."""
    data = tmp_path / "data"
    done = webrag_here("demo", "--json", DAGSTER_HOME=UNSET, XDG_DATA_HOME=str(data), **QUICK)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / ".webrag").exists(), "the history lies beside the user's corpus"
    assert done.stdout.count("\n") == 1
    result = json.loads(done.stdout)
    seed = result["url"]
    assert result["total_iterations"] >= 1
    assert any(citation["source_url"] != seed for citation in result["citations"])
    assert "round 0: " in done.stderr
    with dg.DagsterInstance.from_config(str(data / "webrag" / "dagster")) as instance:
        run = instance.get_run_by_id(result["run_id"])
    assert run is not None
    assert run.status is dg.DagsterRunStatus.SUCCESS


def test_an_instance_lies_where_the_corpus_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Or a folder in which `webrag up` ran would have a second corpus from then on."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def storage() -> Path:
        monkeypatch.delenv("DAGSTER_HOME", raising=False)
        return storage_folder(use_instance())

    assert storage() == tmp_path / "data" / "webrag" / "dagster"
    assert not Path(".webrag").exists()
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path / "own"))
    assert storage() == tmp_path / "own" / "dagster"
    monkeypatch.delenv("WEBRAG_HOME")
    shutil.copy(REPOSITORY / "dagster.yaml", tmp_path)
    assert storage() == tmp_path / ".webrag" / "dagster"
    assert Path(".webrag").is_dir(), "a folder with a history of its own has a corpus of its own"
    (tmp_path / "dagster.yaml").unlink()
    Path(".webrag", "dagster").mkdir()
    assert storage() == tmp_path / ".webrag" / "dagster", "of an earlier version"


@pytest.mark.slow
def test_demo_says_what_is_wrong(webrag_here: Webrag) -> None:
    unreachable = webrag_here("demo", "--json", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none", DAGSTER_HOME=UNSET)
    assert unreachable.returncode == 1
    assert json.loads(unreachable.stdout)["error"]["code"] == "database_unavailable"
    bad_setting = webrag_here("demo", CHILD_TARGET_TOKENS="many", DAGSTER_HOME=UNSET)
    assert bad_setting.returncode == 2
    assert "CHILD_TARGET_TOKENS" in bad_setting.stderr
    assert "Traceback" not in bad_setting.stderr
    no_home = webrag_here("demo", DAGSTER_HOME="nowhere")
    assert no_home.returncode == 2
    assert "DAGSTER_HOME" in no_home.stderr


def test_up_refuses_a_port_in_use(webrag_here: Webrag) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = webrag_here("up", "--port", str(port), DAGSTER_HOME=UNSET)
    assert done.returncode == 2
    assert f"port {port}" in done.stderr


def test_up_lives_without_the_page_where_its_port_is_in_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("MCP_PORT", str(port))
        assert not commands.can_serve_page(load_settings())
    stderr = capsys.readouterr().err
    assert f"the page to ask on is not served: port {port} of 127.0.0.1 is in use" in stderr
    assert "MCP_PORT" in stderr
    assert commands.can_serve_page(load_settings())


def test_up_refuses_a_token_that_can_be_guessed(webrag_here: Webrag) -> None:
    done = webrag_here("up", WEBRAG_UI_TOKEN="hunter2", DAGSTER_HOME=UNSET)
    assert done.returncode == 2
    assert "WEBRAG_UI_TOKEN is shorter than 16 characters" in done.stderr
    assert "hunter2" not in done.stderr


def test_up_refuses_an_instance_on_which_another_one_runs(webrag_here: Webrag, tmp_path: Path) -> None:
    lock = hold(tmp_path / INSTANCE, 4711)
    done = webrag_here("up", DAGSTER_HOME=UNSET)
    os.close(lock)
    assert done.returncode == 2
    assert f"process {os.getpid()}, http://127.0.0.1:4711" in done.stderr
    assert "--port" not in done.stderr


@pytest.mark.alone
@pytest.mark.slow
def test_nothing_of_up_goes_on_when_it_is_killed(database_url: str, tmp_path: Path) -> None:
    with socket.socket() as probe, socket.socket() as page:
        probe.bind(("127.0.0.1", 0))
        page.bind(("127.0.0.1", 0))
        port, page_port = probe.getsockname()[1], page.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "DAGSTER_HOME"}
    environment |= {**QUICK, "DATABASE_URL": database_url, "XDG_DATA_HOME": str(tmp_path / "data")}
    environment["MCP_PORT"] = str(page_port)
    up = subprocess.Popen([SCRIPT, "up", "--port", str(port)], cwd=tmp_path, env=environment)
    processes: list[psutil.Process] = []

    def all_started() -> bool:
        processes[:] = psutil.Process(up.pid).children(recursive=True)
        # supervisor, code server and its child, web server, daemon, page to ask on, which other commands then use
        return len(processes) >= 6 and (tmp_path / "data" / "webrag" / running_server.FILE).exists()

    try:
        wait_until(all_started)
    finally:
        up.kill()
        up.wait()
    wait_until(lambda: not any(alive(process.pid) for process in processes))
