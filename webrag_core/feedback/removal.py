"""Removal on request behind every door: what is stored goes, and so do the files that hold words of it."""

from __future__ import annotations

from webrag_core.config.backups import BackupSettings
from webrag_core.corpus.forget import Removal, forget
from webrag_core.corpus.page_files import delete_page_files
from webrag_core.corpus.removal_list import keep_removals
from webrag_core.feedback.goldens import renew_goldens
from webrag_core.store.database import Database


async def remove(
    database: Database, settings: BackupSettings, target: str, *, removed_by: str, dry_run: bool = False
) -> Removal:
    """`forget`, and then the files of `corpus.page_files` below the home of `settings`.

    The files are looked after even where nothing is stored under `target`: a removal that was killed may have left
    them, and may be missing from the list by which restored backups lose it again. Raises InvalidInputError as `forget`
    does, and for a file that can be neither deleted nor written.
    """
    try:
        return await forget(database, target, removed_by=removed_by, dry_run=dry_run)
    finally:
        if not dry_run:
            delete_page_files(settings.webrag_home)
            await renew_goldens(database, settings)
            await keep_removals(database, settings)
