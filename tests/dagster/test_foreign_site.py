"""A foreign web page against the UI, in a real browser. `make bench-security` attacks the bare
server in the same way, which shows that the attacks are real."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import psutil
import pytest
from playwright.sync_api import Browser

from benchmarks.security.foreign_site import attack
from tests.browsing import MILLISECONDS, needs_chromium
from tests.waiting import wait_until

TOKEN = "correct-horse-battery-staple"
ASK = """fetch("/graphql", {method: "POST", headers: {"Content-Type": "application/json"},
  body: JSON.stringify({query: "{ version }"})}).then(answer => answer.json())"""

pytestmark = [
    pytest.mark.alone,
    pytest.mark.slow,
    needs_chromium,
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An instance in SQLite and a workspace of no code location, in one folder."""
    (tmp_path / "dagster.yaml").touch()
    file = tmp_path / "workspace.yaml"
    file.write_text("load_from: []")
    return file


def test_the_guard_lets_none_of_it_through_even_when_the_user_is_logged_in(browser: Browser, workspace: Path) -> None:
    with served(workspace) as (port, log), browser.new_context() as context:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/?token={TOKEN}", timeout=MILLISECONDS)
        page.get_by_text("Overview").first.wait_for(timeout=MILLISECONDS)
        assert TOKEN not in page.url
        with dg.DagsterInstance.from_config(str(workspace.parent)) as instance:
            attempts = attack(context, port, instance, ("other port",))  # it is sent the cookie
        assert len(attempts) > 40
        assert [one for one in attempts if one.succeeded] == []
        assert page.evaluate(ASK) == {"data": {"version": dg.__version__}}
        text = log.read_text()
    assert TOKEN not in text
    assert "Traceback" not in text


@contextmanager
def served(workspace: Path) -> Iterator[tuple[int, Path]]:
    """`webrag ui` with a token; its port and log. It ends in order."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log = workspace.with_name("log.txt")
    environment = {**os.environ, "DAGSTER_HOME": str(workspace.parent), "WEBRAG_UI_TOKEN": TOKEN}
    command = [Path(sys.executable).with_name("webrag"), "ui", "--port", str(port), "--workspace", workspace]
    with log.open("wb") as stream, subprocess.Popen(command, env=environment, stderr=stream, stdout=stream) as server:
        try:

            def is_up() -> bool:
                assert server.poll() is None, log.read_text()
                return answers(port)

            wait_until(is_up)
            listening = [one.laddr for one in psutil.Process(server.pid).net_connections() if one.status == "LISTEN"]
            assert listening == [("127.0.0.1", port)]
            yield port, log
            server.send_signal(signal.SIGTERM)
            assert server.wait() == 128 + signal.SIGTERM
        finally:
            server.kill()


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/server_info"):
            return True
    except (OSError, urllib.error.URLError):
        return False
