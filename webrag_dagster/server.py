"""Dagster's UI, daemon and code server as one process tree that ends as one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import FrameType

from webrag_core.cli_output import err
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_dagster.instance import use_instance

_HOST = "127.0.0.1"
_WORKSPACE = Path(__file__).resolve().parent.parent / "workspace.yaml"


def serve(port: int, frozen_site: Path | None) -> int:
    """Serve until interrupted; returns the exit code. `frozen_site` is what runs read unless WEBRAG_WARC is set.

    Raises InvalidInputError for bad settings or a port in use, StoreError when the database cannot be started.
    """
    use_instance()
    _require_free(port)
    settings = load_settings()
    if settings.webrag_warc is None and frozen_site is not None:
        os.environ["WEBRAG_WARC"] = str(frozen_site.resolve())
        settings = load_settings()
    if settings.database_url is None:
        from webrag_core.store.embedded import embedded_url

        embedded_url(settings.webrag_home)  # held here, so that no run waits for a server to start
    pages = f"the frozen site {settings.webrag_warc.name}" if settings.webrag_warc else "the live web"
    command = (sys.executable, "-m", "dagster", "dev", "-h", _HOST, "-p", str(port), "-w", str(_WORKSPACE))
    quiet = {"PYTHONWARNINGS": "ignore:Function `dev_command` is superseded"}
    err.print(f"http://{_HOST}:{port}  pages come from {pages}; Ctrl-C ends it", markup=False, highlight=False)
    return _supervise(command, {**os.environ, **quiet})


def _supervise(command: tuple[str, ...], environment: dict[str, str]) -> int:
    """Run `command` until it ends or is told to: the first signal asks the whole tree, a second one kills it."""
    asked: list[int] = []
    children: list[subprocess.Popen[bytes]] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        asked.append(signum)
        for child in children:
            if len(asked) == 1:
                child.send_signal(signal.SIGINT)
            else:
                os.killpg(child.pid, signal.SIGKILL)

    # set before the start: a child of a shell's background job would otherwise inherit that Ctrl-C is ignored
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # its own session: Ctrl-C reaches Dagster once, from here, and not from the terminal as well
    children.append(subprocess.Popen(command, start_new_session=True, env=environment))
    code = children[0].wait()
    return 0 if asked else int(code != 0)


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            raise InvalidInputError(f"port {port} on {_HOST} cannot be used: {error.strerror}; try --port") from error
