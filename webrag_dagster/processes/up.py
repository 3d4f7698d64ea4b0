"""`webrag up`: code server, web server and daemon of one instance, and the page to ask on, restarted when they die,
ended together.

The command's child, the supervisor, leads a process group of all it starts. Each ends the group if the other is gone.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

import psutil

from webrag_dagster.instance import HOST
from webrag_dagster.processes.ui_guard import OPEN

_TICK, _PAUSE, _GRACE, _SECONDS_TO_DIE = 0.5, 5.0, 12.0, 5.0
_ANSWER_SECONDS = 5.0
_WRONG_USAGE = 2
_ENDING = b"ending Dagster and the database, which takes up to 20 s\n"

logger = logging.getLogger(__name__)


def run(port: int, prepare: Callable[[], None], listening: Callable[[], None], *, with_page: bool) -> int:
    """Serve the UI on `port`, and the page to ask on `with_page`, until interrupted; returns the exit code. `prepare`
    runs in the supervisor, `listening` in this process once the UI answers."""
    command = os.getpid()
    if supervisor := os.fork():
        threading.Thread(target=_tell, args=(port, listening), daemon=True).start()
        return _wait(supervisor)
    os.setsid()
    prepare()
    with tempfile.TemporaryDirectory(prefix="webrag-") as folder:
        supervise(services(Path(folder), port, with_page=with_page), command)
    prepare()  # so that the database forgets owners that were killed, and stops with this process
    return 0


def _tell(port: int, listening: Callable[[], None]) -> None:
    """Call `listening` once the UI on `port` answers."""
    while True:
        connection = http.client.HTTPConnection(HOST, port, timeout=_ANSWER_SECONDS)
        try:
            connection.request("GET", OPEN)
            if connection.getresponse().status == HTTPStatus.OK:
                listening()
                return
        except (OSError, http.client.HTTPException):
            pass  # it does not listen yet
        finally:
            connection.close()
        time.sleep(_TICK)


@dataclass(slots=True)
class Service:
    """A process to keep running, once the file `after` exists; with `has_child`, also when only its child has ended.
    One that `may_lack` is left away after it has ended with 2, wrong usage: it has said why."""

    command: Sequence[str]
    after: Path = Path("/")
    has_child: bool = False
    may_lack: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    started: float = -_PAUSE
    child_seen: bool = False

    def keep_running(self) -> None:
        """Start the process if there is none."""
        if self._alive() or not self.after.exists() or time.monotonic() < self.started + _PAUSE:
            return
        if self.process is not None:
            if self.may_lack and self.process.poll() == _WRONG_USAGE:
                return
            name = f"{Path(self.command[0]).name} {self.command[1]}"
            logger.warning("%s ended with %s; restarting it", name, self.process.wait())
        # PYTHONSAFEPATH: files in the working directory must not stand in for packages
        self.process = subprocess.Popen(self.command, env={**os.environ, "PYTHONSAFEPATH": "1", **self.environment})
        self.started, self.child_seen = time.monotonic(), False

    def _alive(self) -> bool:
        if self.process is None or self.process.poll() is not None:
            return False
        children = self.has_child and psutil.Process(self.process.pid).children()
        if self.child_seen and not children:
            self.process.kill()
            return False
        self.child_seen = bool(children)
        return True


def services(folder: Path, port: int, *, with_page: bool) -> list[Service]:
    """Code server, web server and daemon, and the page to ask on `with_page`. `folder` holds the
    code server's sockets: its path must be short."""
    code, workspace = folder / "code", folder / "workspace.yaml"
    workspace.write_text(json.dumps({"load_from": [{"grpc_server": {"socket": str(code), "location_name": "webrag"}}]}))
    scripts, quiet = Path(sys.executable).parent, ("--log-level", "warning")
    module = ("-m", "webrag_dagster.definitions", "--location-name", "webrag")
    serve = (f"{scripts}/dagster", "code-server", "start", "-s", str(code), *module, *quiet)
    show = (f"{scripts}/webrag", "ui", "--host", HOST, "--port", str(port), "--workspace", str(workspace))
    launch = (f"{scripts}/dagster-daemon", "run", "-w", str(workspace), *quiet)
    # the code server's child makes its socket in TMPDIR; the folder is closed to other users
    return [
        Service(serve, has_child=True, environment={"TMPDIR": str(folder)}),
        Service(show, after=code),
        Service(launch, after=code),
        *([Service((f"{scripts}/webrag", "serve"), after=code, may_lack=True)] if with_page else []),
    ]


def supervise(running: Sequence[Service], parent: int) -> None:
    """Keep the services running until SIGTERM, or until `parent` is gone; then end this process's group."""
    received: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    while not received and os.getppid() == parent:
        for service in running:
            service.keep_running()
        time.sleep(_TICK)
    _end_group(os.getpid())


def _wait(supervisor: int) -> int:
    """Pass signals on to the supervisor, say so once, and wait for it; end its group if it was killed. Returns the exit
    code."""
    ending: list[int] = []

    def end(number: int, _: object) -> None:
        if not ending:
            os.write(sys.stderr.fileno(), _ENDING)
        ending.append(number)
        os.kill(supervisor, signal.SIGTERM)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP:  # ignored under nohup
            signal.signal(number, end)
    code = os.waitstatus_to_exitcode(os.waitpid(supervisor, 0)[1])
    _end_group(supervisor)
    return abs(code)


def _end_group(leader: int) -> None:
    """Ask the other processes of the group to end, then kill what is left."""
    for number, seconds in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _SECONDS_TO_DIE)):
        for member in (members := list(_group(leader))):
            with suppress(psutil.NoSuchProcess):
                member.send_signal(number)
        psutil.wait_procs(members, timeout=seconds)


def _group(leader: int) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with suppress(ProcessLookupError):
            if os.getpgid(process.pid) == leader and process.pid != os.getpid():
                yield process
