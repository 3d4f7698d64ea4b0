"""`git`, called only to read: fixed arguments, no shell, and nothing of the repository's configuration that would run a
program or open a connection.

A repository is data of somebody else. Its configuration may name programs (hooks, monitors, pagers, filters, remotes
that are commands); of these none applies to the three commands used here, and the options below turn off what could.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from webrag_core.errors import InvalidInputError

MAX_BLOB_BYTES = 5_000_000
_SECONDS = 600
_OPTIONS = (
    "safe.directory=*",  # who owns it does not matter where its configuration does not
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "gc.auto=0",
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",  # wins over every protocol.* of the repository
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}


class Repository:
    """A folder under git, or a bare repository."""

    def __init__(self, folder: Path) -> None:
        """Raises InvalidInputError when there is no git, or the folder is not under it."""
        if not folder.is_dir():
            raise InvalidInputError(f"{folder} is no folder")
        options = [part for option in _OPTIONS for part in ("-c", option)]
        self._command = ["git", "--no-pager", *options, "-C", os.fspath(folder.absolute())]
        self._environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT}
        self._guard = threading.Lock()
        self._reader: subprocess.Popen[bytes] | None = None
        self.prefix = self.run("rev-parse", "--show-prefix").decode(errors="surrogateescape").removesuffix("\n")
        """Path of the folder in the repository, with a slash at the end; empty for all of it."""
        inner = self.run("rev-parse", "--absolute-git-dir").decode(errors="surrogateescape").removesuffix("\n")
        self._command[-1] = inner  # from here on, paths are those of the repository
        self._command.append(f"--git-dir={inner}")

    def run(self, *arguments: str) -> bytes:
        """Output of a git command. Raises InvalidInputError with what git says."""
        try:
            done = subprocess.run(
                [*self._command, *arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise InvalidInputError("reading a folder under git needs the program git") from None
        except subprocess.TimeoutExpired:
            raise InvalidInputError(f"git took more than {_SECONDS} s") from None
        if done.returncode:
            message = " ".join(done.stderr.decode(errors="replace").split())
            raise InvalidInputError(f"git cannot read it: {message[:300]}")
        return done.stdout

    def commit(self, revision: str) -> str:
        """Id of the commit that a revision names. Raises InvalidInputError."""
        return self.run("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()

    def read(self, blobs: Sequence[str]) -> Iterator[bytes | None]:
        """Contents of these blobs, in order; None for one that is missing or larger than MAX_BLOB_BYTES. Blocking.

        Raises InvalidInputError when git breaks off.
        """
        with self._guard:
            if self._reader is None:
                self._reader = subprocess.Popen(
                    [*self._command, "cat-file", "--batch"],
                    env=self._environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            assert self._reader.stdin is not None
            assert self._reader.stdout is not None
            for blob in blobs:
                try:
                    self._reader.stdin.write(f"{blob}\n".encode())
                    self._reader.stdin.flush()
                except OSError:
                    raise InvalidInputError("git broke off while it read the repository") from None
                yield _content(self._reader.stdout)

    def close(self) -> None:
        """End the reading process."""
        if self._reader is not None:
            assert self._reader.stdin is not None
            assert self._reader.stdout is not None
            self._reader.stdin.close()
            self._reader.stdout.close()
            self._reader.kill()
            self._reader.wait()
            self._reader = None


def _content(stream: IO[bytes]) -> bytes | None:
    """One answer of `cat-file --batch`: a line `id type size` and the content, or a line that says it is missing."""
    header = stream.readline()
    parts = header.split()
    if not header.endswith(b"\n"):
        raise InvalidInputError("git broke off while it read the repository")
    if len(parts) != 3 or parts[1] == b"missing" or not parts[2].isdigit():
        return None
    size, fits = int(parts[2]), int(parts[2]) <= MAX_BLOB_BYTES
    pieces, left = [], size + 1  # a line feed follows
    while left:
        piece = stream.read(min(left, 1 << 20))
        if not piece:
            raise InvalidInputError("git broke off while it read the repository")
        left -= len(piece)
        if fits:
            pieces.append(piece)
    return b"".join(pieces)[:size] if fits and parts[1] == b"blob" else None
