"""Backups that are made again and again: one folder, the latest ones kept."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from webrag_core.backup.dump import BackupReport, back_up
from webrag_core.config import Settings
from webrag_core.corpus.removal_list import keep_removals
from webrag_core.errors import InvalidInputError
from webrag_core.store.database import Database

_NAME = re.compile(r"corpus-\d{8}-\d{6}\.zip")


@dataclass(frozen=True, slots=True)
class SeriesReport:
    """The new backup, and the names of those that went for it."""

    backup: BackupReport
    deleted: tuple[str, ...]


async def add_backup(database: Database, settings: Settings) -> SeriesReport:
    """Make a backup, then delete the oldest ones beyond BACKUPS_KEPT: files of other names stay.

    Raises InvalidInputError for a folder that cannot be written, StoreError; nothing is deleted then.
    """
    folder = settings.folder_of_backups
    await asyncio.to_thread(_make, folder)
    report = await back_up(database, settings, folder / f"corpus-{datetime.now(UTC):%Y%m%d-%H%M%S}.zip")
    await keep_removals(database, settings)
    return SeriesReport(report, await asyncio.to_thread(_delete_old, folder, settings.backups_kept))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"the folder of backups {folder} cannot be made: {error.strerror}") from None


def _delete_old(folder: Path, kept: int) -> tuple[str, ...]:
    ours = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    old = ours[:-kept]
    for path in old:
        path.unlink(missing_ok=True)
    return tuple(path.name for path in old)
