"""`webrag demo` and `webrag up` as the installed script runs them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from tests.conftest import REPOSITORY

Webrag = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def webrag(database_url: str, tmp_path: Path) -> Webrag:
    """Run the installed script in an empty working directory, on a fresh database."""

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if name != "DAGSTER_HOME"}
        return subprocess.run(
            [Path(sys.executable).with_name("webrag"), *arguments],
            cwd=tmp_path,
            env={**inherited, "DATABASE_URL": database_url, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


def test_demo_answers_from_pages_beyond_the_seed_and_twice_the_same(webrag: Webrag, tmp_path: Path) -> None:
    first = webrag("demo")
    assert first.returncode == 0, first.stderr
    assert "[1] " in first.stdout
    assert "round 1, depth 1" in first.stdout
    assert "Stopped " in first.stdout
    assert "/assets/answers" in first.stdout
    second = webrag("demo")

    def evidence(text: str) -> str:
        return text.split("\nPages, in the order", 1)[0]

    assert evidence(first.stdout) == evidence(second.stdout)
    assert [path.name for path in tmp_path.iterdir()] == [".webrag"]


def test_demo_as_json_is_one_object_and_its_run_is_in_the_instance(
    webrag: Webrag, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = webrag("demo", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    result = json.loads(done.stdout)
    seed = result["url"]
    assert result["total_iterations"] >= 1
    assert any(citation["source_url"] != seed for citation in result["citations"])
    assert "round 0: top score" in done.stderr
    monkeypatch.chdir(tmp_path)
    with dg.DagsterInstance.from_config(str(REPOSITORY)) as instance:
        run = instance.get_run_by_id(result["run_id"])
    assert run is not None
    assert run.status is dg.DagsterRunStatus.SUCCESS


def test_demo_says_what_is_wrong(webrag: Webrag) -> None:
    unreachable = webrag("demo", "--json", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert unreachable.returncode == 1
    assert json.loads(unreachable.stdout)["error"]["code"] == "database_unavailable"
    bad_setting = webrag("demo", CHILD_TARGET_TOKENS="many")
    assert bad_setting.returncode == 2
    assert "CHILD_TARGET_TOKENS" in bad_setting.stderr
    assert "Traceback" not in bad_setting.stderr
    no_home = webrag("demo", DAGSTER_HOME="nowhere")
    assert no_home.returncode == 2
    assert "DAGSTER_HOME" in no_home.stderr


def test_up_refuses_a_port_in_use(webrag: Webrag) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = webrag("up", "--port", str(port))
    assert done.returncode == 2
    assert f"port {port}" in done.stderr
