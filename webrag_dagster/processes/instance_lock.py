"""One `webrag up` per instance: two daemons on one would launch every run twice.

The lock is the kernel's, so it goes with its process however that ends. What the file says survives, for the next
`webrag up`: whatever a killed one left behind is ended first.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from webrag_core.cli.output import err
from webrag_core.errors import InvalidInputError
from webrag_dagster.processes.leftovers import await_guard, end_leftovers
from webrag_dagster.processes.record import Record

FILE = "up.lock"
_LONGEST = 64 * 1024


class InstanceLock:
    """Held. `record` is what the file says now."""

    def __init__(self, descriptor: int, record: Record) -> None:
        self._descriptor = descriptor
        self.record = record
        self.write(record)

    def write(self, record: Record) -> None:
        """Replace what the file says."""
        self.record = record
        line = record.model_dump_json().encode() + b"\n"
        # cut afterwards: killed in between, the first line is whole either way
        os.pwrite(self._descriptor, line, 0)
        os.ftruncate(self._descriptor, len(line))


@contextmanager
def hold(folder: Path, port: int) -> Iterator[InstanceLock]:
    """The lock of the instance whose storage is `folder`, for the supervisor of the UI on `port`.

    Raises InvalidInputError, naming process and address of the one that runs, when the lock is held, and for a folder
    that cannot be written.
    """
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InvalidInputError(_refusal(folder, _read(descriptor))) from error
        yield _take(descriptor, port)
    finally:
        os.close(descriptor)


def _take(descriptor: int, port: int) -> InstanceLock:
    own = Record(pid=os.getpid(), port=port)
    left = _read(descriptor)
    if left is None:
        return InstanceLock(descriptor, own)
    # named at once, and what is left stays written down until it has ended
    lock = InstanceLock(descriptor, left.model_copy(update={"pid": own.pid, "port": port}))
    if left.groups:
        err.print("ending what a `webrag up` left behind that was killed", markup=False, highlight=False)
    await_guard(left)
    end_leftovers(left)
    lock.write(own)
    return lock


def _read(descriptor: int) -> Record | None:
    """What the file says; None for a new one, or one that is of no use."""
    line = os.pread(descriptor, _LONGEST, 0).partition(b"\n")[0]
    try:
        return Record.model_validate_json(line)
    except ValidationError:
        return None


def _refusal(folder: Path, running: Record | None) -> str:
    if running is None:
        return f"`webrag up` already runs on this instance ({folder})"
    return (
        f"`webrag up` already runs on this instance ({folder}), as process {running.pid}: "
        f"open {running.address}, or end it with Ctrl-C or `kill {running.pid}`"
    )
