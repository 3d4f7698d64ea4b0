"""Files of this user that nobody else may read or write."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO


@contextmanager
def open_private(file: str | os.PathLike[str]) -> Iterator[BinaryIO | None]:
    """Open a file to read; None where it is no plain file, belongs to another user, or is open to one. A link is not
    followed. Raises OSError."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        is_private = stat.S_ISREG(status.st_mode) and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        yield stream if is_private and status.st_uid == os.geteuid() else None


def replace_private(file: Path, content: bytes) -> None:
    """Write a file anew, whole or not at all, even where the machine stops meanwhile. Raises OSError."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)
