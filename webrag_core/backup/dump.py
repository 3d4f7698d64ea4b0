"""A corpus into one file: every table by COPY in one repeatable-read snapshot, so that all of it is of one moment.

Nobody waits for it: it takes no lock that readers or writers of rows would meet.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection, sql
from pydantic import SecretStr

from webrag_core.backup.archive import (
    DATA_TABLES,
    FORMAT,
    ArchiveWriter,
    Manifest,
    StoredFile,
    StoredModel,
    StoredTable,
    new_archive,
)
from webrag_core.backup.dagster_history import dump_history, require_history
from webrag_core.config import Settings
from webrag_core.corpus.removal_list import corpus_identity, identify
from webrag_core.store.database import Database

VECTORS = re.compile(r"vectors_[1-9][0-9]{0,8}")
"""Names of the tables that are made for a model."""
_FOLDER = "feedback"  # of the home, beside the database: weights that were learnt
_PRIVATE = {"database_url", "webrag_home"}
_TABLES = """
SELECT c.relname, (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns
FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
ORDER BY c.relname
"""
_SEQUENCES = """
SELECT q.sequencename, q.last_value FROM pg_sequences q
JOIN pg_depend d ON d.objid = format('%%I.%%I', q.schemaname, q.sequencename)::regclass AND d.deptype = 'i'
JOIN pg_class t ON t.oid = d.refobjid
WHERE q.schemaname = current_schema() AND t.relname = ANY(%s) AND q.last_value IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What a backup holds: rows of all tables, files of Dagster's history, bytes of the file."""

    file: Path
    tables: int
    rows: int
    bytes: int
    dagster_files: int


async def back_up(database: Database, settings: Settings, file: Path, *, with_dagster: bool = False) -> BackupReport:
    """Write the corpus to `file`, which must not be there, and Dagster's history where it is wanted. `database` need
    not be migrated or open.

    Raises InvalidInputError for a file that cannot be written and for a history that is not in the home, StoreError.
    """
    history = require_history(settings) if with_dagster else None
    with new_archive(file) as archive:
        async with database.long_job() as connection:
            await identify(connection)
            async with connection.transaction():
                await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                manifest = await _dump(connection, archive, settings)
        for stored, content in _files(settings.webrag_home):
            archive.write_file(stored, content)
            manifest.files.append(stored)
        if history is not None:
            manifest.history = await dump_history(history, archive)
        archive.finish(manifest)
    return _report(file, manifest)


def _report(file: Path, manifest: Manifest) -> BackupReport:
    rows = sum(table.rows for table in manifest.tables)
    return BackupReport(file, len(manifest.tables), rows, file.stat().st_size, len(manifest.history))


async def _dump(connection: AsyncConnection, archive: ArchiveWriter, settings: Settings) -> Manifest:
    cursor = await connection.execute(_TABLES)
    stored = [(str(name), list(columns)) for name, columns in await cursor.fetchall()]
    tables = []
    for name, columns in stored:
        if name not in DATA_TABLES and not VECTORS.fullmatch(name):
            continue
        table = StoredTable(name=name, columns=columns, rows=0, sha256="")
        # closed before the transaction ends: rows that nobody reads would hold it up for ever
        async with aclosing(_rows(connection, table)) as pieces:
            rows, digest = await archive.write(table.member, pieces)
        tables.append(table.model_copy(update={"rows": rows, "sha256": digest}))
    cursor = await connection.execute("SELECT name FROM schema_migrations ORDER BY name")
    migrations = [str(row[0]) for row in await cursor.fetchall()]
    cursor = await connection.execute("SELECT id, provider, name, dimensions, state FROM embedding_models ORDER BY id")
    models = [
        StoredModel(id=row[0], provider=row[1], name=row[2], dimensions=row[3], state=row[4])
        for row in await cursor.fetchall()
    ]
    # after the rows: a number that was given meanwhile is not given again
    cursor = await connection.execute(_SEQUENCES, ([table.name for table in tables],))
    sequences = {str(name): int(last) for name, last in await cursor.fetchall()}
    return Manifest(
        format=FORMAT,
        version=version("webrag"),
        made=datetime.now(UTC),
        migrations=migrations,
        tables=tables,
        sequences=sequences,
        models=models,
        settings=public_settings(settings),
        corpus=await corpus_identity(connection),
    )


async def _rows(connection: AsyncConnection, table: StoredTable) -> AsyncGenerator[bytes, None]:
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    statement = sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(table.name), columns)
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        async for piece in copy:
            yield bytes(piece)


def public_settings(settings: Settings) -> dict[str, Any]:
    """The settings that were chosen, without secrets and without what is of this machine."""
    secret = {name for name in settings.model_fields_set if isinstance(getattr(settings, name, None), SecretStr)}
    return settings.model_dump(mode="json", exclude_unset=True, exclude=secret | _PRIVATE)


def _files(home: Path) -> list[tuple[StoredFile, bytes]]:
    files = []
    for path in sorted((home / _FOLDER).glob("*.json")):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            name, digest = f"{_FOLDER}/{path.name}", hashlib.sha256(content).hexdigest()
            files.append((StoredFile(path=name, sha256=digest), content))
    return files
