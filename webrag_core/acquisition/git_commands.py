"""`git`, called only to read: fixed arguments, no shell, and nothing of the repository's configuration that would run a
program or open a connection.

A repository is data of somebody else. Its configuration may name programs (hooks, monitors, pagers, filters, remotes
that are commands); of these none applies to the three commands used here, and the options below turn off what could.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from webrag_core.errors import InvalidInputError

MAX_BLOB_BYTES = 5_000_000
MAX_FIELD_BYTES = 100_000
"""Of a field of the log, such as a message; what is longer is cut."""
_SECONDS = 60  # for a short answer
_SILENT_SECONDS = 300  # without a byte: a long history is sorted before its first commit comes
_PIECE = 1 << 16
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

    def fields(self, *arguments: str) -> Iterator[tuple[bytes, bool]]:
        """Output of a git command that ends each field with a zero byte, field by field, with whether it was cut.

        Never more than one field and a piece is in memory. Raises InvalidInputError with what git says, and where
        nothing comes for too long. Blocking.
        """
        command = [*self._command, *arguments]
        with subprocess.Popen(
            command, env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            heard = _Heard(process.stderr)
            try:
                yield from _fields(_pieces(process, process.stdout))
                if process.wait():
                    raise InvalidInputError(f"git cannot read it: {heard.text()}")
            finally:
                process.kill()
                heard.join()

    def commit(self, revision: str) -> str:
        """Id of the commit that a revision names. Raises InvalidInputError."""
        return self.run("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()

    def read(self, blobs: Sequence[str]) -> list[bytes | None]:
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
            return [self._read_one(blob) for blob in blobs]

    def _read_one(self, blob: str) -> bytes | None:
        reader = self._reader
        assert reader is not None
        assert reader.stdin is not None
        assert reader.stdout is not None
        watch = threading.Timer(_SECONDS, reader.kill)  # of a repository whose files are pipes nothing ever comes
        watch.start()
        try:
            reader.stdin.write(f"{blob}\n".encode())
            reader.stdin.flush()
            return _content(reader.stdout)
        except OSError:
            raise InvalidInputError("git broke off while it read the repository") from None
        finally:
            watch.cancel()

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


class _Heard(threading.Thread):
    """What a program complains of, read to its end so that it never waits; the beginning is kept."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._kept = b""
        self.start()

    def run(self) -> None:
        """Read until the program ends."""
        while piece := self._stream.read(_PIECE):
            self._kept = (self._kept + piece)[:_PIECE]

    def text(self) -> str:
        """The first words, when the program has ended."""
        self.join()
        return " ".join(self._kept.decode(errors="replace").split())[:300]


def _pieces(process: subprocess.Popen[bytes], stream: IO[bytes]) -> Iterator[bytes]:
    """The output, piece by piece. Raises InvalidInputError where none comes for too long."""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            if not selector.select(_SILENT_SECONDS):
                process.kill()
                raise InvalidInputError(f"git has said nothing for {_SILENT_SECONDS} s")
            piece = os.read(stream.fileno(), _PIECE)
            if not piece:
                return
            yield piece


def _fields(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Fields that end with a zero byte, each cut to MAX_FIELD_BYTES, and whether it was."""
    kept, length = bytearray(), 0
    for piece in pieces:
        *ended, rest = piece.split(b"\0")
        for part in ended:
            length += len(part)
            yield bytes(kept + part)[:MAX_FIELD_BYTES], length > MAX_FIELD_BYTES
            kept, length = bytearray(), 0
        length += len(rest)
        kept += rest[: MAX_FIELD_BYTES - len(kept)]
    if length:
        yield bytes(kept), length > MAX_FIELD_BYTES


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
