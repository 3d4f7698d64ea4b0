"""Dagster's history in a backup: runs, events, logs, outputs and the state of schedules, in SQLite and other files.

They lie in `dagster` of the home, unless DAGSTER_HOME or a dagster.yaml of the working directory says otherwise. The
package Dagster is not needed here.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, closing
from pathlib import Path

from webrag_core.backup.archive import Archive, ArchiveWriter, StoredRecord
from webrag_core.config.home import HomeSettings
from webrag_core.errors import InvalidInputError, StoreError

FOLDER = "dagster"
"""Of the home."""
_COPY = ".backup"  # without the suffix of a database, so that a scrub looks into one that a killed backup left
_OURS = {"dagster.yaml", "up.lock"}  # written again at each start
_SQLITE = b"SQLite format 3\0"
_BESIDE_SQLITE = ("-wal", "-shm", "-journal")
_PIECE = 1 << 20
_BUSY_SECONDS = 60.0


def require_history(settings: HomeSettings) -> Path:
    """The folder of the history. Raises InvalidInputError where there is none, or it is kept elsewhere."""
    folder = settings.webrag_home / FOLDER
    elsewhere = os.environ.get("DAGSTER_HOME")
    if elsewhere and Path(elsewhere).resolve() != folder.resolve():
        raise InvalidInputError(
            f"Dagster's history is where DAGSTER_HOME says ({elsewhere}), not in the home: copy that, or dump its"
            " database"
        )
    if not any(_files(folder)):
        raise InvalidInputError(f"there is no history of Dagster in {folder}: `webrag up` makes one")
    return folder


async def dump_history(folder: Path, archive: ArchiveWriter) -> list[StoredRecord]:
    """Write every file of the history; each database as it is at one moment, while `webrag up` may be at work.

    Raises StoreError for a database that cannot be read.
    """
    stored = []
    for path in list(_files(folder)):
        record = StoredRecord(path=path.relative_to(folder).as_posix(), bytes=0, sha256="")
        try:
            async with aclosing(_content(folder, path)) as pieces:
                _, digest = await archive.write(record.member, pieces)
        except FileNotFoundError:
            continue  # Dagster deleted it meanwhile
        except sqlite3.Error as error:
            raise StoreError(f"{path} cannot be read: {error}", code="backup_failed") from error
        stored.append(record.model_copy(update={"bytes": archive.size(record.member), "sha256": digest}))
    return stored


def require_no_history(settings: HomeSettings) -> None:
    """Raise InvalidInputError where the home has a history of Dagster already."""
    folder = settings.webrag_home / FOLDER
    if any(_files(folder)):
        raise InvalidInputError(f"there is a history of Dagster in {folder} already")


async def load_history(settings: HomeSettings, archive: Archive) -> None:
    """Write the files of the history into the home. Raises InvalidInputError for one that is not what was written."""
    folder = settings.webrag_home / FOLDER
    for record in archive.manifest.history:
        target = folder / record.path
        for parent in reversed(target.relative_to(settings.webrag_home).parents):
            (settings.webrag_home / parent).mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with await asyncio.to_thread(open, descriptor, "wb") as stream:
            async for piece in archive.record(record):
                await asyncio.to_thread(stream.write, piece)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        is_ours = path.parent == folder and (path.name in _OURS or path.name.startswith("dagster.yaml."))
        is_passing = path.name == _COPY or path.name.endswith(_BESIDE_SQLITE)
        if not is_ours and not is_passing and path.is_file() and not path.is_symlink():
            yield path


async def _content(folder: Path, path: Path) -> AsyncGenerator[bytes, None]:
    with await asyncio.to_thread(open, path, "rb") as stream:
        is_database = stream.read(len(_SQLITE)) == _SQLITE
    copy = folder / _COPY
    if is_database:
        copy.unlink(missing_ok=True)
        await asyncio.to_thread(_copy, path, copy)
    try:
        with await asyncio.to_thread(open, copy if is_database else path, "rb") as stream:
            while piece := await asyncio.to_thread(stream.read, _PIECE):
                yield piece
    finally:
        copy.unlink(missing_ok=True)


def _copy(database: Path, copy: Path) -> None:
    """A database at one moment, without what was deleted from it."""
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(database, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
