"""What a picture is taken of: commands on an empty home, and servers that start when a picture first needs them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from playwright.sync_api import Page

from docs_tools.pages import REPOSITORY
from webrag_core.config import Settings

SITES = REPOSITORY / "evals" / "sites"
PYTHON = SITES / "python-3.11.warc.gz"
DEMO = SITES / "demo.warc.gz"
"""What `make demo` reads: a part of it."""
_SECONDS_TO_START = 180
_SECONDS_OF_A_COMMAND = 300


class Stage:
    """An empty home for commands, another one for each server; the browser's page is new for each picture."""

    page: Page

    def __init__(self, folder: Path, servers: ExitStack) -> None:
        self.folder = folder
        self._servers = servers

    def _environment(self, home: str, warc: Path) -> dict[str, str]:
        """The caller's environment without settings of ours, but for the home and the site in place of the web."""
        ours = {name.upper() for name in Settings.model_fields} | {"WEBRAG_ENV_FILE", "DAGSTER_HOME"}
        inherited = {name: value for name, value in os.environ.items() if name.upper() not in ours}
        chosen = {"WEBRAG_HOME": str(self.folder / home), "WEBRAG_WARC": str(warc), "WEBRAG_SERVE_OPEN": "1"}
        return {**inherited, **chosen}

    def webrag(self, *arguments: str, warc: Path = PYTHON) -> None:
        """Run a command in the folder. Raises CalledProcessError with its output printed."""
        subprocess.run(
            [_program(), *arguments],
            cwd=self.folder,
            env=self._environment("home", warc),
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=_SECONDS_OF_A_COMMAND,
        )

    def show(self, path: str) -> None:
        """Open a file of the folder."""
        self.page.goto((self.folder / path).as_uri())

    @property
    def home_of_up(self) -> Path:
        """WEBRAG_HOME of Dagster's UI."""
        return self.folder / "home-of-up"

    @cached_property
    def ui(self) -> str:
        """Address of Dagster's UI, without a slash at the end."""
        return self._servers.enter_context(self._server("up", "/server_info"))

    @cached_property
    def web(self) -> str:
        """Address of the page to ask on, without a slash at the end. The demonstration's site is stored."""
        subprocess.run(
            [_program(), "ingest", "--warc", str(DEMO)],
            cwd=self.folder,
            env=self._environment("home-of-serve", DEMO),
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=_SECONDS_OF_A_COMMAND,
        )
        return self._servers.enter_context(self._server("serve", "/health"))

    @contextmanager
    def _server(self, command: str, path: str) -> Iterator[str]:
        """`webrag COMMAND --port N`, from its answer at `path` on."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        log = self.folder / f"{command}.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [_program(), command, "--port", str(port)],
                cwd=self.folder,
                env=self._environment(f"home-of-{command}", PYTHON),
                start_new_session=True,  # its signals are its own
                stdout=stream,
                stderr=stream,
            )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for(address + path, process, log)
            yield address
        finally:
            process.terminate()
            process.wait(60)


def _program() -> Path:
    return Path(sys.executable).with_name("webrag")


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.3)
    raise SystemExit(f"{url} does not answer:\n{log.read_text()[-3000:]}")
