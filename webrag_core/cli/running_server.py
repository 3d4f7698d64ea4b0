"""The file by which commands find a server of the same corpus on this machine.

`webrag serve` writes it when it listens, and removes it; the kernel's lock on it ends with the process, however it
ends. A command uses the server only where it would come to the same result itself: the same code, settings and files.
Light to import: it stands before everything that a command needs.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from contextlib import contextmanager, suppress

from webrag_core.corpus_home import ENV_FILE, home_folder, settings_file
from webrag_core.private_file import open_private

TYPE_CHECKING = False  # as typing's; that, pathlib and hashlib take as long to import as all of the rest
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

FILE = "serving.json"
"""Name of the file below WEBRAG_HOME."""
_LONGEST = 100_000  # bytes of it
_TRIES = 5  # to lock it, while commands look whether it is locked
_OF_SERVERS = frozenset(
    {
        "mcp_allowed_hosts",
        "mcp_auth_token",
        "mcp_host",
        "mcp_log_level",
        "mcp_port",
        "mcp_read_token",
        "webrag_home",  # compared by itself
        "webrag_serve_open",
        "webrag_ui_hosts",
        "webrag_ui_token",
    }
)
"""Settings that only say where a server listens and to whom: no answer depends on them."""
_FILES = frozenset(
    {"backup_folder", "prices_file", "retrieval_weights_file", "webrag_browser", "webrag_logins", "webrag_warc"}
)
"""Settings that name a file, which means another one in another folder, and something else when it has changed."""
_FILES_OF_HOME = ("prices.toml", "feedback/weights.json")
_OTHER_NAMES = frozenset({ENV_FILE.lower(), "webrag_port"})


class RunningServer:
    """A server: its process, where it listens, the `Host` that it answers to, where its token stands (a file of the
    home, a variable, or None where it needs none), the commands that it runs, and what it must have in common with
    whoever uses it: marks of its code and its settings, by the names of all settings and of the retired ones."""

    def __init__(
        self,
        *,
        pid: int,
        host: str,
        port: int,
        authority: str,
        token: str | None,
        commands: list[list[str]],
        code: str,
        settings: str,
        names: list[str],
        retired: list[str],
    ) -> None:
        self.pid = pid
        self.host = host
        self.port = port
        self.authority = authority
        self.token = token
        self.commands = commands
        self.code = code
        self.settings = settings
        self.names = names
        self.retired = retired

    def runs(self, arguments: Sequence[str]) -> bool:
        """Whether it runs the command that `arguments` begin with."""
        return any(list(arguments[: len(path)]) == path for path in self.commands)


@contextmanager
def announced(home: Path, server: RunningServer) -> Iterator[bool]:
    """Name the server in the file within the block. False where another server of the corpus is named there. Raises
    OSError where the file cannot be written."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = home / FILE
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        is_ours = _locked(descriptor) and os.path.samestat(os.fstat(descriptor), os.lstat(file))
        try:
            if is_ours:
                os.fchmod(descriptor, 0o600)
                os.ftruncate(descriptor, 0)
                os.write(descriptor, json.dumps(vars(server)).encode())
            yield is_ours
        finally:
            if is_ours:
                with suppress(FileNotFoundError):
                    file.unlink()
    finally:
        os.close(descriptor)


def find_server() -> RunningServer | None:
    """The server of this command's corpus, where one runs that has its code and its settings."""
    server = server_of_this_code()
    return None if server is None or has_other_settings(server) else server


def server_of_this_code() -> RunningServer | None:
    """The server of this command's corpus, where one runs that has its code, whatever its settings."""
    try:
        with open_private(os.path.join(home_folder(), FILE)) as stream:
            if stream is None or _is_free(stream.fileno()):
                return None
            server = RunningServer(**json.loads(stream.read(_LONGEST)))
        os.kill(server.pid, 0)
    except (OSError, ValueError, TypeError):
        return None  # none, or one of another version
    return server if server.code == code_mark() else None


def has_other_settings(server: RunningServer) -> bool:
    """Whether the environment or the files of this command set something else than those of the server."""
    return _has_other_names(server) or server.settings != settings_mark(home_folder(), server.names)


def code_mark() -> str:
    """What tells this code and its installation from others: the folder, the interpreter, and the newest file."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    number, newest, size = 0, 0, 0
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        waiting.append(entry.path)
                    continue
                status = entry.stat()
                number, newest, size = number + 1, max(newest, status.st_mtime_ns), size + status.st_size
    return f"{folder} {sys.prefix} {sys.version} {number} {newest} {size}"


def settings_mark(home: str, names: Iterable[str]) -> str:
    """What tells the settings from others: the variables with these names, and the file of settings. A hash where there
    are any, which may be secrets."""
    variables = {name.lower(): value for name, value in os.environ.items()}
    chosen = [name for name in sorted({*names, "openai_api_key"} - _OF_SERVERS) if name in variables]
    values = [f"{name}={_state(variables[name]) if name in _FILES else variables[name]}" for name in chosen]
    values += [] if (file := settings_file()) is None else [f"file={_content(file)}"]
    states = [f"home={os.path.realpath(home)}", *(_state(os.path.join(home, name)) for name in _FILES_OF_HOME)]
    return "\n".join(states + ([_digest("\0".join(values).encode("utf-8", "surrogateescape"))] if values else []))


def _has_other_names(server: RunningServer) -> bool:
    """Whether a variable is retired or unknown: a command says so."""
    known = _OTHER_NAMES.union(server.names)
    names = [name.lower() for name in os.environ]
    return any(name.startswith("webrag_") and name not in known for name in names) or not set(
        server.retired
    ).isdisjoint(names)


def _state(path: str) -> str:
    """A file in full, and when it changed last."""
    if not path:
        return ""
    full = os.path.abspath(os.path.expanduser(path))
    try:
        status = os.stat(full)
    except (OSError, ValueError):
        return full
    return f"{full} {status.st_mtime_ns} {status.st_size}"


def _content(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            return f"{os.path.abspath(file)} {_digest(stream.read())}"
    except OSError as error:
        return f"{os.path.abspath(file)} {error.errno}"


def _digest(text: bytes) -> str:
    from hashlib import sha256

    return sha256(text).hexdigest()


def _locked(descriptor: int) -> bool:
    """Lock the file for this process. False where another one has it for longer than a look takes."""
    from time import sleep

    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        sleep(0.02)
    return False


def _is_free(descriptor: int) -> bool:
    """Whether no process has locked the file: its server has ended."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
