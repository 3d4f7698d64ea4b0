"""A corpus out of the file of a backup, into a home that has none.

All of it happens in one transaction: whatever ends it early leaves an empty database and a mark in the home, by which
other commands say what is the matter, until it is restored again.

What was taken back after the backup was made does not come back with it: links to answers are left out, and what was
removed on request goes again, before anybody can read it.
"""

from __future__ import annotations

import errno
import logging
from dataclasses import dataclass
from pathlib import Path

from psycopg import AsyncConnection, sql

from webrag_core.backup.archive import DATA_TABLES, Archive, Manifest, StoredTable, open_archive
from webrag_core.backup.dagster_history import load_history, require_no_history
from webrag_core.backup.dump import public_settings
from webrag_core.config import Settings
from webrag_core.config.backups import BackupSettings
from webrag_core.corpus.forget import Removal
from webrag_core.corpus.removal_list import RemovalList, identify, keep_removals, list_folders, lists_beside, read_list
from webrag_core.corpus.removed_again import remove_again
from webrag_core.corpus.verification import VerificationCounts, Violation, verify_corpus
from webrag_core.errors import InvalidInputError, StoreError
from webrag_core.history.shares import remove_all_shares
from webrag_core.indexing.embedding_models import create_vector_table, ensure_vector_index, show_in_contract
from webrag_core.indexing.lexical import drop_terms, unused_terms
from webrag_core.store.database import Database
from webrag_core.store.migrate import files_of, migrate, require_known
from webrag_core.store.scrub import rewrite
from webrag_core.store.unfinished import mark_finished, mark_unfinished, unfinished

logger = logging.getLogger(__name__)

_MOST_VIOLATIONS = 20


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was restored, what `verify` says of it, and the settings of the backup that differ from those here.

    `links` counts those to answers that were left out, `removed` what was removed again by the lists `lists`;
    `warnings` are sentences.
    """

    tables: int
    rows: int
    documents: int
    versions: int
    violations: tuple[Violation, ...]
    settings: tuple[str, ...]
    links: int
    removed: tuple[Removal, ...]
    lists: tuple[Path, ...]
    warnings: tuple[str, ...]
    dagster_files: int
    """Of Dagster's history, where it was asked for."""


async def restore(
    settings: Settings, file: Path, removals: Path | None = None, *, with_dagster: bool = False
) -> RestoreReport:
    """Restore the corpus of `file` into WEBRAG_HOME (or the database of DATABASE_URL), which has no page and no answer,
    and verify it. What the list `removals` names, and those that lie beside the file or in the home, is removed again.
    Dagster's history goes into the home where it is wanted.

    Raises InvalidInputError for a file that is no whole backup, one of a newer version, one without the history that is
    wanted, a list of another corpus, and where a corpus or a history is already; StoreError.
    """
    with open_archive(file) as archive:
        manifest = archive.manifest
        require_known(manifest.migrations, manifest.version)
        if with_dagster and not manifest.history:
            raise InvalidInputError(f"{file} holds no history of Dagster: it was made without --with-dagster")
        lists, warnings = _lists(settings, file, removals, manifest)
        if manifest.history and not with_dagster:
            warnings.append(
                "Dagster's history in the backup was left out; --with-dagster restores it into an empty home"
            )
        database = await Database.reach(settings)
        links, removed = 0, list[Removal]()
        async with database.long_job() as connection:
            is_empty = await _is_empty(connection)
            if not is_empty and (settings.database_url or unfinished(settings.webrag_home) != archive.digest):
                raise InvalidInputError(
                    "there is a corpus already; a backup is restored into an empty home (set WEBRAG_HOME to a new"
                    " folder)"
                )
            if is_empty and with_dagster:
                require_no_history(settings)
            if is_empty:  # otherwise an earlier call was killed after it had restored every row
                if settings.database_url is None:
                    mark_unfinished(settings.webrag_home, archive.digest)
                async with connection.transaction():
                    await _load(connection, archive)
                    await connection.execute("SET LOCAL session_replication_role = origin")
                    await migrate(connection)
                    links = await remove_all_shares(connection)
                    removed = await _remove_again(connection, manifest, list(lists.values()))
        try:
            for stored in manifest.files:
                target = settings.webrag_home / stored.path
                target.parent.mkdir(mode=0o700, exist_ok=True)
                target.write_bytes(archive.content(stored))
            if with_dagster:
                await load_history(settings, archive)
        except OSError as error:
            code = "disk_full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else None
            raise StoreError(f"a file of the backup cannot be written: {error.strerror}", code=code) from error
        if with_dagster and lists:
            warnings.append("Dagster's history may hold what was removed: run `webrag forget --scrub`")
        mark_finished(settings.webrag_home)
        if removed or (lists and not is_empty):
            warnings += await _scrub(database)
            warnings.append(f"what was removed is still in the backup {file}: delete it")
    counted = VerificationCounts()
    violations: list[Violation] = []
    async with await Database.open(settings) as opened:
        await keep_removals(opened, settings)
        for model in manifest.models:
            await ensure_vector_index(opened, model.id)
        async with opened.long_job() as connection:
            await connection.execute("ANALYZE")
        async for violation in verify_corpus(opened, counted):
            violations.append(violation)
            if len(violations) == _MOST_VIOLATIONS:
                break
    return RestoreReport(
        len(manifest.tables),
        sum(table.rows for table in manifest.tables),
        counted.documents,
        counted.versions,
        tuple(violations),
        _other_settings(manifest, settings),
        links,
        tuple(removed),
        tuple(lists),
        tuple(warnings),
        len(manifest.history) if with_dagster else 0,
    )


def _lists(
    settings: BackupSettings, file: Path, named: Path | None, manifest: Manifest
) -> tuple[dict[Path, RemovalList], list[str]]:
    """The lists of removals of this corpus, and what there is to say where there is none.

    A backup of a version that kept no number of the corpus is taken to be of the list that is named.
    """
    lists, warnings = {}, []
    folders = (file.parent, *list_folders(settings))
    if named is not None:
        lists[named] = read_list(named)
        if manifest.corpus not in (None, lists[named].corpus):
            raise InvalidInputError(f"{named} is the list of another corpus than {file}")
    if manifest.corpus is not None:
        for place in lists_beside(folders, manifest.corpus):
            lists[place] = read_list(place)
            if lists[place].corpus != manifest.corpus:
                raise InvalidInputError(f"{place} has the name of a list of this corpus and is that of another one")
    if not lists:
        which = "name the removals-….json of the home that the backup was made of with --removals"
        if manifest.corpus is None:  # the name of a list says of which corpus it is, the backup does not
            near = {file.resolve() for folder in folders for file in folder.glob("removals-*.json")}
            which += "; the backup is of a version that gave a corpus no number, so that none is taken by its name"
            which += f" ({', '.join(map(str, sorted(near)))} may be it)" if near else ""
        warnings.append(
            f"no list of removals was there: what `webrag forget` removed after {manifest.made:%Y-%m-%d %H:%M} UTC is"
            f" back; restore the backup again, into another empty home, and {which}"
        )
    return lists, warnings


async def _remove_again(connection: AsyncConnection, manifest: Manifest, lists: list[RemovalList]) -> list[Removal]:
    if manifest.corpus is None:
        await identify(connection, lists[0].corpus if lists else None)
    removed = []
    for removals in lists:
        removed += await remove_again(connection, removals, removed_by="webrag restore")
    if removed:
        await drop_terms(connection, await unused_terms(connection))
    return removed


async def _scrub(database: Database) -> list[str]:
    """Take rows that were written and deleted again off the disk. Returns what was not reached."""
    try:
        rewritten = await rewrite(database)
    except StoreError as error:
        logger.warning("what was removed again is not off the disk: %s", error)
        return ["what was removed is still on the disk: run `webrag forget --scrub`"]
    return [f"what was removed is still in {place}" for place in rewritten.not_reached]


async def _is_empty(connection: AsyncConnection) -> bool:
    cursor = await connection.execute("SELECT to_regclass('documents') IS NOT NULL")
    if await cursor.fetchone() != (True,):
        return True
    cursor = await connection.execute(
        "SELECT EXISTS (SELECT FROM sources) OR EXISTS (SELECT FROM documents) OR EXISTS (SELECT FROM answer_runs)"
    )
    return await cursor.fetchone() != (True,)


async def _load(connection: AsyncConnection, archive: Archive) -> None:
    manifest = archive.manifest
    await migrate(connection, only=frozenset(manifest.migrations))
    cursor = await connection.execute("SELECT name FROM schema_migrations")
    if {row[0] for row in await cursor.fetchall()} != files_of(manifest.migrations):
        raise InvalidInputError(
            "the database has a newer schema than the backup, and no page; set WEBRAG_HOME to a new folder"
        )
    # rows come as they were: no trigger makes others of them, and no reference is looked up twice
    await connection.execute("SET LOCAL session_replication_role = replica")
    for model in manifest.models:
        await create_vector_table(connection, model.id, model.dimensions)
        await _add_earlier_columns(connection, model.id, manifest)
    cursor = await connection.execute(
        "SELECT n FROM unnest(%s::text[]) n WHERE to_regclass(n) IS NOT NULL", ([*DATA_TABLES],)
    )
    # some migrations fill tables; earlier schemas have tables that refer to these
    here = sql.SQL(", ").join(sql.Identifier(row[0]) for row in await cursor.fetchall())
    await connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(here))
    names = DATA_TABLES | {f"vectors_{model.id}" for model in manifest.models}
    for stored in manifest.tables:
        if stored.name not in names:
            raise InvalidInputError(f"the backup has a table {stored.name}, which this version does not know")
        await _fill(connection, archive, stored)
    for sequence, last in manifest.sequences.items():
        await connection.execute("SELECT setval(%s::regclass, %s)", (sequence, last))
    live = [model.id for model in manifest.models if model.state == "live"]
    if live:
        await show_in_contract(connection, live[0])


async def _add_earlier_columns(connection: AsyncConnection, model_id: int, manifest: Manifest) -> None:
    """Give a model's table the column that it had in earlier schemas; the migration that drops it comes later."""
    table = f"vectors_{model_id}"
    if any(stored.name == table and "source_id" in stored.columns for stored in manifest.tables):
        await connection.execute(sql.SQL("ALTER TABLE {} ADD COLUMN source_id integer").format(sql.Identifier(table)))


async def _fill(connection: AsyncConnection, archive: Archive, table: StoredTable) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table.name), columns)
    async with connection.cursor() as cursor:
        async with cursor.copy(statement) as copy:
            async for piece in archive.pieces(table):
                await copy.write(piece)
        if cursor.rowcount != table.rows:
            raise InvalidInputError(f"{cursor.rowcount} of {table.rows} rows of {table.name} came back")


def _other_settings(manifest: Manifest, settings: Settings) -> tuple[str, ...]:
    here = public_settings(settings)
    return tuple(
        sorted(
            f"{name.upper()}={value}"
            for name, value in manifest.settings.items()
            if here.get(name, value) != value or name not in here
        )
    )
