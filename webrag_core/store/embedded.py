"""The embedded PostgreSQL 18 with pgvector: started on first use, shared by processes, stopped with the last.

WEBRAG_HOME/server holds two locks. Whoever starts or stops the server holds `lock`; whoever uses it shares `users`
until the process ends, however it ends: the one who gets that lock alone is the last. With kept seconds the last one
leaves its share to a process that waits (`server_keeper`).
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import psutil

from webrag_core.corpus_home import announce_new
from webrag_core.errors import StoreError
from webrag_core.store.kept_server import end_keeper, keep
from webrag_core.store.postgres_server import PostgresServer
from webrag_core.store.private_folders import open_data_folder, open_home, open_run_folder, server_account
from webrag_core.store.server_resources import ServerResources

logger = logging.getLogger(__name__)

_LOCK_SECONDS = 120.0  # making a cluster, or a recovery, takes a minute at most
_POLL_SECONDS = 0.02
_this_process = threading.Lock()
_shares: dict[Path, int] = {}  # run folder -> descriptor that shares `users`


def embedded_url(home: Path, resources: ServerResources | None = None) -> str:
    """Connection URL of the server whose data lies in `home`/postgres, starting it when it does not run: with
    `resources`, or those of the machine. One that runs keeps what it has.

    Only this system user (and root) can connect. Safe to call from several processes and threads at once.
    Raises StoreError when the server cannot be started, or a folder belongs to somebody else.
    """
    announce_new(home)
    try:
        with _this_process:
            account = server_account()
            home = open_home(home, account)
            run_folder = open_run_folder(home, account)
            with _locked(run_folder) as lock:
                chosen = resources or ServerResources.of_machine()
                server = PostgresServer(open_data_folder(home, account), run_folder, account, chosen)
                _share(run_folder, server, chosen.kept_seconds)
                return server.ensure_running(lock)
    except OSError as error:
        cause = f"{os.strerror(error.errno) if error.errno else error} ({error.filename})"
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            cause += "; set WEBRAG_HOME to a folder that you may write to"
        code = "disk_full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else None
        raise StoreError(f"the embedded PostgreSQL in {home} cannot be started: {cause}", code=code) from error
    except psutil.Error as error:
        raise StoreError(f"the embedded PostgreSQL in {home} cannot be started: {error}") from error


def restarted(home: Path, resources: ServerResources) -> str:
    """Start the server of a process that uses it, after it ended without being stopped. Raises StoreError as
    `embedded_url`, and where the data is gone: a new, empty server is no way back."""
    if not (home / "postgres" / "PG_VERSION").exists():
        raise StoreError(f"the data of the embedded PostgreSQL in {home} is gone")
    return embedded_url(home, resources)


def _share(run_folder: Path, server: PostgresServer, kept_seconds: float) -> None:
    """Share `users` until this process ends, and `kept_seconds` longer."""
    held = _shares.get(run_folder)
    if held is not None:
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(held), (run_folder / "users").stat()):
                return
        os.close(held)  # of a folder that was deleted
    else:
        atexit.register(leave, run_folder, server, kept_seconds)
    _shares[run_folder] = held = _open(run_folder / "users")
    fcntl.flock(held, fcntl.LOCK_SH)


def keep_share(home: Path, share: int) -> tuple[Path, PostgresServer]:
    """Hold the share of a process that ends; what `leave` takes to give it up. Raises StoreError, OSError."""
    account = server_account()
    run_folder = open_run_folder(home, account)
    _shares[run_folder] = share
    server = PostgresServer(open_data_folder(home, account), run_folder, account, ServerResources.of_machine())
    return run_folder, server


def leave(run_folder: Path, server: PostgresServer, kept_seconds: float = 0.0) -> None:
    """Stop sharing, after `kept_seconds` in a process of its own, and stop the server when nobody else shares it."""
    try:
        with _this_process, _locked(run_folder):
            share = _shares.pop(run_folder)
            if kept_seconds > 0:
                keep(run_folder, share, kept_seconds)
            os.close(share)
            alone = _open(run_folder / "users")
            try:
                fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
                server.stop()
            except BlockingIOError:
                return  # another process uses it
            finally:
                os.close(alone)
    except FileNotFoundError:
        return  # the folder was deleted; a server without its folder ends by itself
    except (OSError, StoreError, psutil.Error) as error:
        logger.warning("the embedded PostgreSQL may still run: %s", error)


@contextmanager
def only_user(home: Path) -> Iterator[bool]:
    """Whether this process alone uses the server of `home`, which it must use already; others wait outside the block.

    Raises StoreError, OSError.
    """
    run_folder = open_run_folder(open_home(home, account := server_account()), account)
    with _this_process, _locked(run_folder):
        end_keeper(run_folder)
        shared = _shares[run_folder]
        try:
            fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
        fcntl.flock(shared, fcntl.LOCK_SH)  # where the first one failed, nothing is held any more
        yield alone


def empty_server_log(home: Path) -> None:
    """Empty the log of the embedded server: what it says of a failed statement can hold values of rows."""
    log = home / "postgres" / "log"
    if log.exists():
        os.truncate(log, 0)


@contextmanager
def _locked(run_folder: Path) -> Iterator[int]:
    """Hold the lock of whoever starts or stops the server; yields its descriptor. Raises StoreError after a while."""
    lock = _open(run_folder / "lock")
    try:
        begun = time.monotonic()
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - begun > _LOCK_SECONDS:
                    raise StoreError(
                        f"another process has been starting or stopping the embedded PostgreSQL for {_LOCK_SECONDS:g} s"
                        f" and holds {run_folder / 'lock'}",
                        code="database_busy",
                    ) from None
                time.sleep(_POLL_SECONDS)
        yield lock
    finally:
        os.close(lock)


def _open(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def exit_on_sigterm() -> None:
    """A plain SIGTERM skips atexit, and with it stopping the server: turn it into SystemExit.

    Does nothing outside the main thread, where signals cannot be handled, or when somebody handles it already.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:

        def leave(signum: int, frame: FrameType | None) -> None:
            raise SystemExit(128 + signum)

        signal.signal(signal.SIGTERM, leave)
