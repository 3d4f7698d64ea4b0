"""The mark of a home into which a backup is being restored: until it is whole, nothing else opens it."""

from __future__ import annotations

import os
from pathlib import Path

from webrag_core.errors import StoreError

_MARK = "restore-unfinished"


def mark_unfinished(home: Path, backup: str) -> None:
    """Say in the home that a restore of a backup, by its digest, has begun."""
    descriptor = os.open(home / _MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="ascii") as stream:
        stream.write(backup)
        stream.flush()
        os.fsync(descriptor)


def unfinished(home: Path) -> str | None:
    """The digest of the backup whose restore broke off; None where none did."""
    try:
        return (home / _MARK).read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return None


def mark_finished(home: Path) -> None:
    """Take the mark away, where there is one."""
    (home / _MARK).unlink(missing_ok=True)


def require_finished(home: Path) -> None:
    """Raise StoreError for a home whose restore broke off."""
    if (home / _MARK).exists():
        raise StoreError(
            f"a backup was being restored into {home} and that broke off; run `webrag restore FILE` again",
            code="restore_unfinished",
        )
