"""What holds for every command: its place in the help, how it ends when it is interrupted, how it reports errors."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from tests.command_line import Webrag, webrag_here
from webrag_core.cli import output, progress
from webrag_core.cli.panels import PANELS
from webrag_core.cli.status_report import age
from webrag_core.env_file import warn_retired
from webrag_core.errors import Reason

__all__ = ["webrag_here"]

INTERRUPTED = """
import importlib.abc, os, sys
module, number = sys.argv[1], int(sys.argv[2])
sys.argv[1:] = ["source", "list"] if module == "evals.commands" else ["status"]
class Interruption(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == module:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Interruption())
from webrag_core.cli.entry import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("typer", signal.SIGINT),
        ("evals.commands", signal.SIGINT),
        ("webrag_core.corpus.status", signal.SIGINT),
        ("rich.console", signal.SIGTERM),
    ],
)
def test_an_interruption_is_silent_from_the_first_instant(module: str, number: signal.Signals) -> None:
    """At an import of the program's start, of the packages above the core, and of a command."""
    command = [sys.executable, "-c", INTERRUPTED, module, str(int(number))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + number, "", "")


def test_commands_stand_in_their_panels(webrag_here: Webrag) -> None:
    shown = webrag_here("--help", COLUMNS="100").stdout
    places = [shown.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert "─ Others ─" not in shown, "a new command has its place in PANELS"
    assert webrag_here().returncode == 2, "nothing was done"


def test_the_log_can_be_read_by_programs(webrag_here: Webrag) -> None:
    warn_retired.cache_clear()
    trace = "0af7651916cd43dd8448eb211c80319c"
    done = webrag_here("--log", "json", "source", "list", ROUTE_EXPLORE="1", TRACEPARENT=trace)
    assert done.returncode == 0
    [line] = [one for one in map(json.loads, done.stderr.splitlines()) if one["level"] == "warning"]
    assert line["message"].startswith("ROUTE_EXPLORE is retired and is ignored")
    assert (line["trace_id"], line["logger"]) == (trace, "webrag_core.env_file")
    assert datetime.fromisoformat(line["time"]).tzinfo is not None


@pytest.mark.parametrize(
    "arguments", [("nope",), ("--nope",), ("answer",), ("source", "pause"), ("ask", "x", "--budget", "y")]
)
def test_wrong_usage_obeys_json(webrag_here: Webrag, arguments: tuple[str, ...]) -> None:
    done = webrag_here(*arguments, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "usage"


def test_the_way_out_names_what_was_typed(webrag_here: Webrag) -> None:
    blocked = webrag_here("source", "add", "localhost:8123/docs/")
    assert "localhost:8123/docs/ means http://localhost:8123/docs/" in blocked.stderr
    assert "here WEBRAG_ALLOW_HOSTS=localhost:8123" in blocked.stderr
    assert "is no web address" in webrag_here("source", "add", "a question?").stderr


@pytest.mark.slow
def test_a_completion_knows_the_policies() -> None:
    words = {"_WEBRAG_COMPLETE": "complete_bash", "COMP_WORDS": "webrag answer --policy ", "COMP_CWORD": "3"}
    script = Path(sys.executable).with_name("webrag")
    done = subprocess.run([script], env={**os.environ, **words}, capture_output=True, text=True, check=False)
    assert "fixed-k:2" in done.stdout.split()


def test_every_reason_has_words() -> None:
    assert all(reason.words for reason in Reason)


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "just now"), (60, "1 minute ago"), (7_300, "2 hours ago"), (90_000, "1 day ago")]
)
def test_an_age_is_said_in_words(seconds: float, words: str) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert age(now - timedelta(seconds=seconds), now) == words


def test_a_quote_is_folded_behind_its_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    words = " one two three four five"
    for terminal, printed in ((True, "|  one two three four\n|  five\n"), (False, f"| {words}\n")):
        shown = io.StringIO()
        monkeypatch.setattr(
            output, "out", Console(file=shown, force_terminal=terminal, color_system=None, width=22, soft_wrap=True)
        )
        output.print_wrapped("| ", Text(words))
        assert shown.getvalue() == printed


@pytest.mark.parametrize(("style", "lines"), [("plain", "following links\n"), ("none", "")])
def test_progress_can_be_plain_or_absent(
    monkeypatch: pytest.MonkeyPatch, style: progress.ProgressStyle, lines: str
) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(output, "err", Console(file=shown, force_terminal=True, color_system=None))
    monkeypatch.setattr(logging.root, "handlers", [])  # warnings of results are kept out of those that are there
    progress.set_style(style)
    try:
        with progress.show_progress() as show:
            show("expand_breadth", None)
    finally:
        progress.set_style("auto")
    assert shown.getvalue() == lines
