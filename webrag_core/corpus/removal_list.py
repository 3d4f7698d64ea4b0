"""What was removed on request, as a file beside the database: digests, by which a restored backup loses it again.

A backup holds what was there when it was made. The list holds no address and no text; it is written anew after each
removal, into the home and into the folder of backups, and is complete each time.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

from psycopg import AsyncConnection
from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from webrag_core.config.backups import BackupSettings
from webrag_core.errors import InvalidInputError
from webrag_core.private_file import replace_private
from webrag_core.store.database import Database

logger = logging.getLogger(__name__)

_LONGEST = 1_000_000_000  # bytes of the file: some 5 million pages

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ListedRemoval(BaseModel):
    """A row of `removals`."""

    kind: Literal["page", "source", "answer"]
    subject: Digest
    at: AwareDatetime


class ListedUrl(BaseModel):
    """A row of `forgotten_urls`; `source` is the digest of the source that was removed with the page."""

    url: Digest
    source: Digest | None = None
    at: AwareDatetime


class RemovalList(BaseModel):
    """All that was removed from a corpus and was not wanted again since."""

    format: Literal[1] = 1
    corpus: UUID
    removals: list[ListedRemoval]
    urls: list[ListedUrl]

    def since(self, earlier: RemovalList) -> RemovalList:
        """What is in this list, and not in one of an earlier moment. Compared by rows: clocks may differ."""
        keys = {(removal.kind, removal.subject, removal.at) for removal in earlier.removals}
        urls = {(url.url, url.at) for url in earlier.urls}
        return RemovalList(
            corpus=self.corpus,
            removals=[each for each in self.removals if (each.kind, each.subject, each.at) not in keys],
            urls=[each for each in self.urls if (each.url, each.at) not in urls],
        )


async def corpus_identity(connection: AsyncConnection) -> UUID | None:
    """The random number of the corpus; None for a schema of before it was kept, and where nobody needed it so far."""
    if not await _is_kept(connection):
        return None
    row = await (await connection.execute("SELECT id FROM corpus_identity")).fetchone()
    return None if row is None else row[0]


async def identify(connection: AsyncConnection, corpus: UUID | None = None) -> None:
    """Give the corpus its number, a random one by default, where it has none and the schema keeps it."""
    if await _is_kept(connection):
        await connection.execute(
            "INSERT INTO corpus_identity (id) VALUES (coalesce(%s, gen_random_uuid())) ON CONFLICT DO NOTHING",
            (corpus,),
        )


async def _is_kept(connection: AsyncConnection) -> bool:
    cursor = await connection.execute("SELECT to_regclass('corpus_identity') IS NOT NULL")
    return await cursor.fetchone() == (True,)


async def removals_of(connection: AsyncConnection) -> RemovalList:
    """The list as the tables have it, of a corpus that has its number (`identify`)."""
    corpus = await corpus_identity(connection)
    assert corpus is not None
    cursor = await connection.execute("SELECT kind, subject_sha256, removed_at FROM removals ORDER BY id")
    removals = [ListedRemoval(kind=row[0], subject=row[1], at=row[2]) for row in await cursor.fetchall()]
    cursor = await connection.execute("SELECT url_sha256, source_sha256, forgotten_at FROM forgotten_urls ORDER BY 1")
    urls = [ListedUrl(url=row[0], source=row[1], at=row[2]) for row in await cursor.fetchall()]
    return RemovalList(corpus=corpus, removals=removals, urls=urls)


async def keep_removals(database: Database, settings: BackupSettings) -> None:
    """Write the list anew, wherever it is kept; where nothing was ever removed there is none.

    Raises InvalidInputError for a home that cannot be written. A folder of backups that is not there gets it with the
    next backup.
    """
    async with database.connection() as connection:
        await identify(connection)
    async with database.snapshot() as connection:
        removal_list = await removals_of(connection)
    files = [folder / list_name(removal_list.corpus) for folder in list_folders(settings)]
    if removal_list.removals or removal_list.urls or any(file.exists() for file in files):
        content = removal_list.model_dump_json(exclude_none=True)
        for file in files:
            _write(file, content)
    missing = settings.backup_folder
    if missing is not None and not missing.is_dir() and removal_list.removals:
        logger.warning("the list of removals is not in %s, which is not there; the next backup puts it there", missing)


def list_name(corpus: UUID) -> str:
    """Name of the file of a corpus, in the home and in the folder of backups, which others may share."""
    return f"removals-{corpus.hex[:8]}.json"


def list_folders(settings: BackupSettings) -> list[Path]:
    """Where the list is kept: the home, and the folder of backups where it is there."""
    folder = settings.folder_of_backups
    return [settings.webrag_home, *([folder] if folder.is_dir() else [])]


def read_list(file: Path) -> RemovalList:
    """Read a list. Raises InvalidInputError for a file that is none."""
    try:
        with open(file, "rb") as stream:
            content = stream.read(_LONGEST + 1)
        if len(content) > _LONGEST:
            raise InvalidInputError(f"{file} is too long for a list of removals")
        return RemovalList.model_validate_json(content)
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError:
        raise InvalidInputError(f"{file} is no list of removals, or one of a newer version") from None


def lists_beside(folders: Iterable[Path], corpus: UUID) -> list[Path]:
    """Lists of a corpus in these folders, each once."""
    files = [folder / list_name(corpus) for folder in folders]
    return [*dict.fromkeys(file.resolve() for file in files if file.is_file())]


def _write(file: Path, content: str) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_private(file, content.encode("ascii"))
    except OSError as error:
        raise InvalidInputError(
            f"{file}, the list of what was removed, cannot be written: {error.strerror}; without it a restored backup"
            " brings that back. Run the same command again"
        ) from error
