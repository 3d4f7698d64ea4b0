"""A corpus out of the file of a backup, into a home that has none.

All of it happens in one transaction: whatever ends it early leaves an empty database and a mark in the home, by which
other commands say what is the matter, until it is restored again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from psycopg import AsyncConnection, sql

from webrag_core.backup.archive import DATA_TABLES, Archive, Manifest, StoredTable, open_archive
from webrag_core.backup.dump import public_settings
from webrag_core.config import Settings
from webrag_core.corpus.verification import VerificationCounts, Violation, verify_corpus
from webrag_core.errors import InvalidInputError
from webrag_core.indexing.embedding_models import create_vector_table, ensure_vector_index, show_in_contract
from webrag_core.store.database import Database
from webrag_core.store.migrate import migrate, require_known
from webrag_core.store.unfinished import mark_finished, mark_unfinished

_MOST_VIOLATIONS = 20


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was restored, what `verify` says of it, and the settings of the backup that differ from those here."""

    tables: int
    rows: int
    documents: int
    versions: int
    violations: tuple[Violation, ...]
    settings: tuple[str, ...]


async def restore(settings: Settings, file: Path) -> RestoreReport:
    """Restore the corpus of `file` into WEBRAG_HOME (or the database of DATABASE_URL), which has no page and no answer,
    and verify it.

    Raises InvalidInputError for a file that is no whole backup, one of a newer version, and where a corpus is already;
    StoreError.
    """
    with open_archive(file) as archive:
        manifest = archive.manifest
        require_known(manifest.migrations, manifest.version)
        database = await Database.reach(settings)
        async with database.long_job() as connection:
            await _require_empty(connection)
            if settings.database_url is None:
                mark_unfinished(settings.webrag_home)
            async with connection.transaction():
                await _load(connection, archive)
        for stored in manifest.files:
            target = settings.webrag_home / stored.path
            target.parent.mkdir(mode=0o700, exist_ok=True)
            target.write_bytes(archive.content(stored))
        mark_finished(settings.webrag_home)
    counted = VerificationCounts()
    violations: list[Violation] = []
    async with await Database.open(settings) as opened:
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
    )


async def _require_empty(connection: AsyncConnection) -> None:
    cursor = await connection.execute("SELECT to_regclass('documents') IS NOT NULL")
    if await cursor.fetchone() != (True,):
        return
    cursor = await connection.execute(
        "SELECT EXISTS (SELECT FROM sources) OR EXISTS (SELECT FROM documents) OR EXISTS (SELECT FROM answer_runs)"
    )
    if await cursor.fetchone() == (True,):
        raise InvalidInputError(
            "there is a corpus already; a backup is restored into an empty home (set WEBRAG_HOME to a new folder)"
        )


async def _load(connection: AsyncConnection, archive: Archive) -> None:
    manifest = archive.manifest
    await migrate(connection, only=frozenset(manifest.migrations))
    cursor = await connection.execute("SELECT name FROM schema_migrations")
    if {row[0] for row in await cursor.fetchall()} != set(manifest.migrations):
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
    # some migrations fill tables
    here = sql.SQL(", ").join(sql.Identifier(row[0]) for row in await cursor.fetchall())
    await connection.execute(sql.SQL("TRUNCATE {}").format(here))
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
