"""The page on the code names the functions that real commands enter, in the order in which they do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from docs_tools.function_trace import Step
from docs_tools.pages import DOCS
from tests.conftest import REPOSITORY
from tests.local_site import page

PAGE = (DOCS / "explanation" / "code.md").read_text()
HOURS = page("Opening hours", "The library opens at nine in the morning. It closes at five. Books may be kept a month.")
_SECTION = re.compile(r"^## .*`webrag (\w+)[^`]*`.*\n((?:(?!## ).*\n?)*)", re.MULTILINE)
_STEP = re.compile(r"^(\d+)\. `([\w.]+)` in `([\w/]+\.py)` \S.*\.$", re.MULTILINE)

Ways = list[tuple[str, list[Step]]]


def ways(text: str) -> Ways:
    """The command of each section, and the steps that the section names."""
    return [
        (command, [(file, name) for _, name, file in _STEP.findall(body)]) for command, body in _SECTION.findall(text)
    ]


def first_wrong(way: list[Step], entered: list[Step]) -> Step | None:
    """The first step that was not entered, or not after the step before it."""
    rest = iter(entered)
    return next((step for step in way if step not in rest), None)


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = HOURS.encode() if self.path == "/hours" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.slow
def test_each_step_is_entered_after_the_step_before_it(database_url: str, site: str) -> None:
    commands = [f"ingest http://{site}/hours", "ask 'When does the library open?'", "verify"]
    done = subprocess.run(
        [sys.executable, "-m", "docs_tools.function_trace", *commands],
        env={**os.environ, "DATABASE_URL": database_url, "WEBRAG_ALLOW_HOSTS": site, "WEBRAG_READER": "none"},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    runs: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [run["exit_code"] for run in runs] == [0, 0, 0], done.stderr
    entered = {run["command"].split()[0]: [(file, name) for file, name in run["steps"]] for run in runs}
    assert [(command, first_wrong(way, entered[command])) for command, way in ways(PAGE)] == [
        (command, None) for command, _ in ways(PAGE)
    ]


def test_every_numbered_line_is_a_step() -> None:
    assert {command for command, _ in ways(PAGE)} == {"ingest", "ask", "verify"}
    numbers = [int(number) for _, body in _SECTION.findall(PAGE) for number, _, _ in _STEP.findall(body)]
    assert numbers == [n for _, way in ways(PAGE) for n in range(1, len(way) + 1)]
    assert len(numbers) == len(re.findall(r"^\d+\.", PAGE, re.MULTILINE))


def test_a_step_that_is_absent_or_too_early_is_named() -> None:
    entered = [("a.py", "A.first"), ("b.py", "second"), ("c.py", "third")]
    assert first_wrong([entered[0], entered[2]], entered) is None
    assert first_wrong([entered[2], entered[1]], entered) == entered[1]
    assert first_wrong([("a.py", "second")], entered) == ("a.py", "second")
