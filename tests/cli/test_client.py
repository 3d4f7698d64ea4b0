"""Commands that a running server of the same corpus runs: the same output, and nothing imported for it."""

from __future__ import annotations

import json
import os
import pty
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.command_line import Webrag, _command, webrag_here
from tests.conftest import FROZEN_SITE
from tests.web.serving import web_server
from webrag_core.access_token import SERVE_TOKEN, local_token
from webrag_core.application.command_calls import CommandRunner
from webrag_core.cli import client, running_server
from webrag_core.cli.entry import here_first
from webrag_core.cli.running_server import RunningServer, announced, find_server
from webrag_core.cli.served import command_runner, described
from webrag_core.config import Settings, load_settings

__all__ = ["webrag_here"]

HEAPQ = "https://docs.python.org/3.11/library/heapq.html"
QUESTION = "Which heap operation keeps the smallest items?"
HEAVY = ("asyncio", "email", "logging", "numpy", "psycopg", "pydantic", "rich", "typer", "webrag_core.config")
"""What no command needs that a server runs."""
LATE = ("dataclasses", "datetime", "pathlib", "typing", "urllib")
"""Of Python's library: what takes as long as the rest of such a command, unless the interpreter's start imports it."""
TIMES = (r"\d+ ms|\d+\.\d\d s|Answer \d+|show \d+", "…")


@pytest.fixture
def filled(webrag_here: Webrag, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Webrag:
    """A page of the frozen site, in a corpus whose home is here."""
    for name, value in (
        ("WEBRAG_WARC", str(FROZEN_SITE)),
        ("WEBRAG_HOME", str(tmp_path / "home")),
        ("DATABASE_URL", database_url),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert webrag_here("ingest", HEAPQ).returncode == 0
    return webrag_here


def is_named(server: RunningServer) -> bool:
    """Whether commands find just this server."""
    server_there = find_server()
    return server_there is not None and vars(server_there) == vars(server)


@contextmanager
def serving(run: Callable[[CommandRunner], CommandRunner] = lambda runner: runner) -> Iterator[Settings]:
    """A server of the corpus that the environment names, which commands find."""
    chosen = load_settings()
    token = local_token(chosen.webrag_home, SERVE_TOKEN)
    settings = chosen.model_copy(update={"mcp_auth_token": token})
    with web_server(settings, commands=run(command_runner(_command(), settings))) as http:
        port = http.base_url.port
        settings = settings.model_copy(update={"mcp_port": port})
        with announced(chosen.webrag_home, described(chosen, settings)) as is_ours:
            assert is_ours
            yield settings


@pytest.mark.slow
def test_every_command_prints_what_it_prints_here(filled: Webrag, capsys: pytest.CaptureFixture[str]) -> None:
    with serving():
        for arguments, code in (
            (("search", QUESTION), 0),
            (("search", QUESTION, "--json", "--top-k", "2"), 0),
            (("ask", QUESTION), 0),
            (("ask", QUESTION, "--url", HEAPQ.removeprefix("https://"), "--budget", "0"), 0),
            (("ask", "x" * 20_000, "--json"), 2),
            (("ask", "What does a licence cost?", "--fail-unless-answered"), 3),
            (("answers", "list"), 0),
            (("answers", "show", "999"), 2),
            (("source", "list", "--json"), 0),
            (("history", HEAPQ), 0),
            (("status",), 0),
        ):
            assert client.run(arguments) == code, arguments
            served = capsys.readouterr()
            here = filled(*arguments)
            assert here.returncode == code
            if arguments[-1] == "--json" or "--top-k" in arguments:
                assert json.loads(served.out).keys() == json.loads(here.stdout).keys()
            for shown, own in ((served.out, here.stdout), (served.err, here.stderr)):
                if "--json" not in arguments and arguments[0] not in ("answers", "status"):
                    assert re.sub(*TIMES, shown) == re.sub(*TIMES, own)


def test_a_command_imports_nothing_that_the_server_needs(filled: Webrag) -> None:
    with serving():
        script = (
            "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
            "from webrag_core.cli.entry import main; main()"
        )
        begun = "import sys; print(*sys.modules)"
        started = set(subprocess.run([sys.executable, "-c", begun], capture_output=True, text=True).stdout.split())
        for options in ([], ["--json"]):
            done = subprocess.run(
                [sys.executable, "-c", script, "search", QUESTION, *options], capture_output=True, text=True, check=True
            )
            modules = set(done.stderr.split())
            assert HEAPQ in done.stdout
            assert modules.isdisjoint(HEAVY)
            assert modules.intersection(LATE) <= started
            assert {name for name in modules if name.startswith("webrag_core.")} == {
                "webrag_core.posix",
                "webrag_core.cli",
                "webrag_core.cli.entry",
                "webrag_core.cli.client",
                "webrag_core.cli.running_server",
                "webrag_core.corpus_home",
                "webrag_core.private_file",
            }


@pytest.mark.slow
def test_a_terminal_gets_its_colours_and_its_width(filled: Webrag) -> None:
    def on_terminal(*options: str) -> bytes:
        reading, writing = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "60", "LINES": "20"}
        script = [sys.executable, "-m", "webrag", *options, "search", QUESTION, "--quotes", "2"]
        process = subprocess.Popen(
            script, stdout=writing, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment
        )
        os.close(writing)
        text = b""
        try:
            while part := os.read(reading, 65_536):
                text += part
        except OSError:
            pass  # the other end is closed
        os.close(reading)
        assert process.wait() == 0
        return re.sub(rb"id=\d+", b"id=", text)  # of a link

    with serving():
        served, here = on_terminal(), on_terminal("--here")
    assert b"\x1b[1;36m" in served
    assert served.split(b"Searched")[0] == here.split(b"Searched")[0]


def test_a_server_that_ends_half_way_leaves_the_command_to_this_process(
    filled: Webrag, capsys: pytest.CaptureFixture[str]
) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(60)

    def die() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b'HTTP/1.1 200 OK\r\n\r\n{"out": "half of it"}\n')

    thread = threading.Thread(target=die)
    thread.start()
    settings = load_settings().model_copy(update={"mcp_port": listening.getsockname()[1]})
    with announced(settings.webrag_home, described(settings, settings)):
        assert client.run(("search", QUESTION)) is None
    thread.join()
    listening.close()
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith("ended before the command did; this command goes on without it\n")


def test_a_server_that_fails_is_not_the_end_of_the_command(filled: Webrag, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(runner: CommandRunner) -> CommandRunner:
        def run(*arguments: object) -> int:
            raise ZeroDivisionError

        return run

    with serving(failing):
        assert client.run(("search", QUESTION)) is None
    assert re.search(r"the server failed at it: .*\(trace [0-9a-f]{32}\)", " ".join(capsys.readouterr().err.split()))


def test_the_word_for_this_process_may_stand_anywhere_before_a_double_dash() -> None:
    assert here_first(["search", "x", "--here", "--json"]) == ["--here", "search", "x", "--json"]
    assert here_first(["search", "--", "--here"]) == ["search", "--", "--here"]


def test_what_a_server_cannot_do_stays_here(filled: Webrag) -> None:
    with serving():
        for arguments in (
            ("search", "x", "--bogus"),
            ("ask", QUESTION, "--html", "a.html"),
            ("ask", QUESTION, "--stream"),
            ("ingest", HEAPQ),
            ("answers",),
            ("search", "--help"),
            ("--here", "search", QUESTION),
            ("--env-file", "x", "search", QUESTION),
            ("--progress", "bogus", "search", QUESTION),
            (),
        ):
            assert client.run(arguments) is None, arguments
    assert not Path("a.html").exists()


def test_only_a_server_with_the_same_corpus_code_and_settings_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEBRAG_HOME", str(home))
    monkeypatch.setenv("WEBRAG_WARC", "site.warc.gz")
    monkeypatch.setenv("TERM", "xterm")  # with a dumb terminal no server is used
    settings = load_settings().model_copy(update={"mcp_auth_token": SecretStr("a" * 20)})
    server = described(load_settings(), settings)
    assert find_server() is None
    with announced(home, server):
        file = home / running_server.FILE
        assert file.stat().st_mode & 0o777 == 0o600
        assert is_named(server)
        assert "a" * 20 not in file.read_text()
        with announced(home, server) as is_ours:
            assert not is_ours, "another server of the corpus is named there"
        monkeypatch.setenv("MCP_PORT", "9999")
        assert is_named(server), "where a server listens changes no answer"
        for name, value in (
            ("RERANKER_TOP_N", "3"),
            ("reranker_top_n", "3"),
            ("DATABASE_URL", "postgresql://other/"),
            ("WEBRAG_USE_SERVER", "0"),
            ("WEBRAG_MISSPELT", "1"),
            ("MAX_RETRIES", "1"),
            ("WEBRAG_HOME", str(tmp_path)),
            ("WEBRAG_ENV_FILE", "other.env"),
        ):
            with monkeypatch.context() as changed:
                changed.setenv(name, value)
                if name != "MAX_RETRIES":  # which other programs may have
                    assert find_server() is None, name
                    is_noted = name not in ("WEBRAG_USE_SERVER", "WEBRAG_HOME")
                    assert client.run(["search", "x"]) is None
                    assert ("other settings" in capsys.readouterr().err) == is_noted, name
        (home / ".env").write_text("RERANKER_TOP_N=3\n")
        assert find_server() is None
        (home / ".env").unlink()
        (tmp_path / "site.warc.gz").touch()
        assert find_server() is None, "the file that a setting names is another one now"
        (tmp_path / "site.warc.gz").unlink()
        (home / "prices.toml").touch()
        assert find_server() is None
        (home / "prices.toml").unlink()
        with monkeypatch.context() as changed:
            changed.setattr(running_server, "code_mark", lambda: "another version")
            assert find_server() is None
        file.chmod(0o644)
        assert find_server() is None, "others could have read it"
        file.chmod(0o600)
        assert is_named(server)
    assert not file.exists()
    file.write_text(json.dumps(vars(server)))
    file.chmod(0o600)
    assert find_server() is None, "no process holds the file"
    file.write_text("{}")
    assert find_server() is None


def test_a_server_that_is_gone_is_not_spoken_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEBRAG_HOME", str(tmp_path))
    free = socket.create_server(("127.0.0.1", 0))
    settings = load_settings().model_copy(update={"mcp_port": free.getsockname()[1]})
    free.close()
    server: RunningServer = described(settings, settings)
    with announced(tmp_path, server):
        assert client.run(("search", QUESTION)) is None
    assert capsys.readouterr() == ("", "")
