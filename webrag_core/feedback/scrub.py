"""`forget --scrub`: take what was removed off the disk, and out of records that are kept beside the corpus.

What cannot be reached is named in the report. A scrub that was killed is run again: it needs no target.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel

from webrag_core.config import Settings
from webrag_core.config.backups import BackupSettings
from webrag_core.corpus.forget import Removal
from webrag_core.corpus.page_files import delete_page_files
from webrag_core.errors import StoreError
from webrag_core.feedback.goldens import renew_goldens
from webrag_core.feedback.removal import remove
from webrag_core.feedback.removed_text import RemovedText
from webrag_core.indexing.lexical import drop_terms, unused_terms
from webrag_core.plugins import RECORDS
from webrag_core.store.database import Database
from webrag_core.store.embedded import empty_server_log, only_user
from webrag_core.store.scrub import rewrite


@dataclass(slots=True)
class ClearedRecords:
    """Records that were deleted, by kind, and what could not be reached, as sentences."""

    counts: dict[str, int] = field(default_factory=dict)
    not_reached: list[str] = field(default_factory=list)


class RecordKeeper(Protocol):
    """What a plugin of `webrag.records` makes from the settings. Making it raises InvalidInputError while others write
    to its records."""

    def clear(self, removed: RemovedText) -> ClearedRecords:
        """Delete the records that hold something of what was removed, for good."""
        ...


class ScrubReport(BaseModel):
    """What was written anew and deleted, and what holds the removed text still, as far as it is known."""

    removal: Removal | None
    tables: int
    terms: int
    records: dict[str, int]
    not_reached: list[str]


async def scrub(
    database: Database, settings: Settings, target: str | None, *, removed_by: str, beside_others: bool = False
) -> ScrubReport:
    """Remove `target` where there is one (as `remove`), then scrub what this and earlier removals left.

    The embedded server must have no other user, unless it is to be done `beside_others`: then readers wait for each
    table, and what cannot be reached meanwhile is named (words of the vocabulary, records that others write to). Of
    earlier removals other records are recognised by addresses alone. Raises as `remove`; StoreError (database_busy)
    where something else uses the corpus, or a table for too long.
    """
    embedded = settings.database_url is None
    if embedded and not beside_others:
        with only_user(settings.webrag_home) as alone:
            if not alone:
                raise StoreError(
                    "`forget --scrub` needs the corpus to itself: end `webrag serve`, `webrag up` and what else uses"
                    f" {settings.webrag_home}, then run it again; nothing was removed",
                    code="database_busy",
                )
    not_reached: list[str] = []
    plugins = RECORDS.plugins()
    if beside_others:  # a job would delete its own run
        not_reached += [
            f"the records of {name}: end what writes to them, then run `webrag forget --scrub`" for name in plugins
        ]
        plugins = {}
    keepers: list[RecordKeeper] = [plugin.make(settings) for plugin in plugins.values()]
    removed = RemovedText()
    removal = None
    if target is not None:
        await removed.read(database, target)
        removal = await remove(database, settings, target, removed_by=removed_by)
    else:
        delete_page_files(settings.webrag_home)
        await renew_goldens(database, settings)
    async with database.connection() as connection:
        await removed.read_digests(connection)
        with only_user(settings.webrag_home) if embedded else nullcontext(False) as alone:
            terms = await unused_terms(connection)
            if alone:
                await drop_terms(connection, terms)
    removed.only(terms)
    if not alone and terms:
        not_reached.append(
            f"{len(terms)} single words in the vocabulary of the index, which lead to no page: they go where the"
            " embedded server has no other user"
        )
    records: dict[str, int] = {}
    for keeper in keepers:
        cleared = await asyncio.to_thread(keeper.clear, removed)
        records |= cleared.counts
        not_reached += cleared.not_reached
    rewritten = await rewrite(database)
    if embedded:
        empty_server_log(settings.webrag_home)
    else:
        not_reached.append("the log of the database server, which may quote values of failed statements")
    not_reached += [*rewritten.not_reached, *map(_backup, _backups(settings))]
    return ScrubReport(
        removal=removal,
        tables=rewritten.tables,
        terms=len(terms) if alone else 0,
        records=records,
        not_reached=not_reached,
    )


def _backups(settings: BackupSettings) -> list[Path]:
    """Backups in the places that are known; others may lie anywhere."""
    folders = {settings.folder_of_backups, settings.webrag_home / "backups"}
    return sorted(file for folder in folders if folder.is_dir() for file in folder.glob("*.zip"))


def _backup(file: Path) -> str:
    return f"the backup {file}"
