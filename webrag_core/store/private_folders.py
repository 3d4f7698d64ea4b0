"""Folders of the embedded server: whom they belong to, and that nobody else can enter or replace them."""

from __future__ import annotations

import logging
import os
import pwd
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from webrag_core.errors import StoreError

logger = logging.getLogger(__name__)

_ROOTS_SERVER = "pgserver"
_LONGEST_SOCKET = 103  # bytes of a socket's path: macOS takes 103, Linux 107
PORT = "5432"  # only a part of the socket's name; PGPORT must not change it
SOCKET = f".s.PGSQL.{PORT}"
SOCKET_LOCK = f"{SOCKET}.lock"
_ALL_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITING_OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Account:
    """System user that the server runs as."""

    name: str
    uid: int
    gid: int

    @property
    def is_ours(self) -> bool:
        """True when it is the user of this process."""
        return self.uid == os.geteuid()


def server_account() -> Account:
    """Our own user; `pgserver` when we are root, as which PostgreSQL refuses to run. Raises StoreError without one."""
    try:
        entry = pwd.getpwuid(os.geteuid()) if os.geteuid() else _roots_server()
    except KeyError:
        raise _refusal(
            f"PostgreSQL needs a user with a name; number {os.geteuid()} has none; DATABASE_URL names a server of your"
            " own"
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _roots_server() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(_ROOTS_SERVER)
    except KeyError:
        options = ("--system", "--user-group", "--no-create-home", "--shell", "/bin/false")
        try:
            subprocess.run(["useradd", *options, _ROOTS_SERVER], capture_output=True, check=False)
            return pwd.getpwnam(_ROOTS_SERVER)  # another process may have been faster than this one
        except (OSError, KeyError):
            raise _refusal(f"root cannot run PostgreSQL; create a system user {_ROOTS_SERVER}") from None


def open_home(home: Path, account: Account) -> Path:
    """`home` as an absolute path, created where it is missing.

    Raises StoreError when it belongs to somebody else, or others may replace what lies in it.
    """
    home.mkdir(mode=0o700 if account.is_ours else 0o711, parents=True, exist_ok=True)
    home = home.resolve()
    if "\n" in str(home):
        raise _refusal(f"{home} has a line break in its name")
    status = home.stat()
    if status.st_uid not in (os.geteuid(), 0):
        raise _not_ours(home, status, "chown it, or set WEBRAG_HOME to a folder of your own")
    if status.st_mode & _WRITING_OF_OTHERS and not status.st_mode & stat.S_ISVTX:
        if status.st_uid != os.geteuid():
            raise _not_ours(home, status, "set WEBRAG_HOME to a folder of your own")
        logger.warning("others could write in %s; they no longer can", home)
        home.chmod(stat.S_IMODE(status.st_mode) & ~_WRITING_OF_OTHERS)
    if not account.is_ours:
        open_way(home / "below")
    return home


def open_run_folder(home: Path, account: Account) -> Path:
    """Folder of our locks and of the server's rules of access: ours alone; the server's user may pass."""
    folder = home / "server"
    mode = 0o700 if account.is_ours else 0o710
    folder.mkdir(mode=mode, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise _not_ours(folder, status, "remove it")
    if not account.is_ours:
        os.chown(folder, 0, account.gid, follow_symlinks=False)
    folder.chmod(mode)
    return folder


def open_data_folder(home: Path, account: Account) -> Path:
    """The data folder, resolved (it may be a link to another disk), created where it is missing.

    Raises StoreError unless it is the account's and closed to others. An empty one of ours is made so; nothing else is
    changed, for what it holds may have been put there by somebody else.
    """
    data = (home / "postgres").resolve()
    data.mkdir(mode=0o700, exist_ok=True)
    status = data.stat()
    if status.st_uid in (os.geteuid(), account.uid) and not any(data.iterdir()):
        data.chmod(0o700)
        os.chown(data, account.uid, account.gid)
        status = data.stat()
    if status.st_uid != account.uid or status.st_mode & _ALL_OF_OTHERS:
        raise _not_ours(
            data, status, f"{account.name} must own it, with mode 0700; if its content is yours, see to that"
        )
    if not account.is_ours:
        open_way(data)
    return data


def open_socket_folder(data: Path, account: Account) -> Path:
    """The data folder; a new private folder where its path is too long for a socket, or has a comma (libpq splits
    there). PostgreSQL records it in its postmaster.pid."""
    if _holds_socket(data):
        return data
    runtime = os.environ.get("XDG_RUNTIME_DIR") if account.is_ours else None  # nobody but its user enters that one
    for parent in filter(None, (runtime, tempfile.gettempdir(), "/tmp")):
        if not _holds_socket(Path(parent) / "webrag-12345678") or not os.access(parent, os.W_OK):
            continue
        folder = Path(tempfile.mkdtemp(prefix="webrag-", dir=parent))
        os.chown(folder, account.uid, account.gid)
        return folder
    raise _refusal(f"{data} is too long for a socket, and no temporary folder can hold one")


def require_private(folder: Path, account: Account) -> None:
    """Raise StoreError unless the folder is the account's and closed to others."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != account.uid or status.st_mode & _ALL_OF_OTHERS:
        raise _not_ours(folder, status, "stop the server")


def open_way(path: Path) -> None:
    """Let others pass the folders above `path`, without letting them read there: the server's user needs the way."""
    for folder in path.parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            logger.warning("others may pass %s now: PostgreSQL runs as another user than root", folder)
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def _holds_socket(folder: Path) -> bool:
    return len(os.fsencode(folder / SOCKET_LOCK)) <= _LONGEST_SOCKET and "," not in str(folder)


def _not_ours(folder: Path, status: os.stat_result, remedy: str) -> StoreError:
    try:
        owner = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        owner = str(status.st_uid)
    return _refusal(f"{folder} belongs to {owner} with mode {stat.S_IMODE(status.st_mode):04o}; {remedy}")


def _refusal(message: str) -> StoreError:
    return StoreError(f"the embedded PostgreSQL is not started: {message}", code="database_folder_refused")
