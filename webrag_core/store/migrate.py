"""Plain SQL migrations: numbered files, each applied once, in one transaction under one lock."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files

import psycopg
from psycopg import AsyncConnection

from webrag_core.errors import StoreError

_LOCK = 0x57454252  # "WEBR"
_SCHEMA = "0034_schema.sql"
"""What corpora had when each migration up to this number was a file."""
_LAST_BEFORE = "0034_answer_origins.sql"  # the last of those files
_VERSIONED = "0047_applied_by.sql"  # from which on the database says which version changed it
_EXTENSION = "CREATE EXTENSION"
_NO_EXTENSION = ("0A000", "58P01", "42704")  # the versions of PostgreSQL differ


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of the `migrations` folder."""

    name: str
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations in the order they apply."""
    folder = files("webrag_core.store") / "migrations"
    entries = [Migration(entry.name, entry.read_text()) for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return tuple(sorted(entries, key=lambda migration: migration.name))


async def migrate(connection: AsyncConnection, *, only: Collection[str] | None = None) -> list[str]:
    """Apply missing migrations, or of those `only` some, and return their names. Concurrent callers wait for each
    other.

    A database that is up to date is only read. Raises StoreError when a newer version of this package made it, or one
    too old, or it lacks pgvector.
    """
    if not await pending(connection):
        return []
    files = None if only is None else files_of(only)
    async with connection.transaction():
        cursor = await connection.execute("SELECT current_setting('lock_timeout')")
        (lock_timeout,) = await cursor.fetchone() or ("0",)
        # a table is rewritten, and others wait for it: both may take long; a lock on a table may not
        await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        await connection.execute("SELECT set_config('lock_timeout', %s, true)", (lock_timeout,))
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_migrations"
            " (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        missing = [migration for migration in await pending(connection) if files is None or migration.name in files]
        for migration in missing:
            await apply(connection, migration)
            await connection.execute("INSERT INTO schema_migrations (name) VALUES (%s)", (migration.name,))
        names = [migration.name for migration in missing]
        if names and _VERSIONED in await _applied(connection):
            await connection.execute(
                "UPDATE schema_migrations SET version = %s WHERE name = ANY(%s)", (version("webrag"), names)
            )
    return names


async def pending(connection: AsyncConnection) -> list[Migration]:
    """Migrations to apply, in order. Raises StoreError when a newer version of this package made the database, or one
    too old."""
    return _missing(await _applied(connection))


def files_of(names: Collection[str]) -> frozenset[str]:
    """The files in which these migrations stand: the first of today holds what were 34. Raises StoreError for those of
    a corpus older than it."""
    return frozenset(_by_files(dict.fromkeys(names)))


def require_known(names: Collection[str], made_by: str) -> None:
    """Raise StoreError when one of these migrations is of a newer version than this package, or the last is too old."""
    _missing(dict.fromkeys(names, made_by))


async def apply(connection: AsyncConnection, migration: Migration) -> None:
    """Run one migration. Raises StoreError where it wants an extension that the server does not have."""
    try:
        await connection.execute(migration.sql.encode())
    except psycopg.Error as error:
        if _EXTENSION in migration.sql and error.sqlstate in _NO_EXTENSION:
            raise StoreError(f"the database lacks the pgvector extension (SQLSTATE {error.sqlstate})") from error
        raise


async def _applied(connection: AsyncConnection) -> dict[str, str | None]:
    """What was applied, and by which version of this package, where that is known."""
    cursor = await connection.execute("SELECT to_regclass('schema_migrations') IS NOT NULL")
    if await cursor.fetchone() != (True,):
        return {}
    # as JSON, since the column came later
    cursor = await connection.execute("SELECT m.name, to_jsonb(m)->>'version' FROM schema_migrations m")
    return {row[0]: row[1] for row in await cursor.fetchall()}


def _by_files(applied: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """What was applied, by the files that there are. Raises StoreError for a corpus older than the first of them."""
    if not applied or _SCHEMA in applied:
        return applied
    if _LAST_BEFORE not in applied:
        raise StoreError(
            f"the corpus is too old (its last migration is {max(applied)}): open it once with WebRAG at commit 0477561"
            " (`git checkout 0477561`), which migrates it, then with this version",
            code="database_too_old",
        )
    return {_SCHEMA: None} | {name: made_by for name, made_by in applied.items() if name > _LAST_BEFORE}


def _missing(applied: Mapping[str, str | None]) -> list[Migration]:
    """Migrations to apply, in order. Raises StoreError when the database has one that this package does not know, or is
    too old."""
    known, applied = migrations(), _by_files(applied)
    unknown = sorted(applied.keys() - {migration.name for migration in known})
    if unknown:
        made_by = applied[unknown[-1]]
        raise StoreError(
            f"the database was made by a newer version (it has {', '.join(unknown)}); use "
            + (f"WebRAG {made_by}, which reads it" if made_by else "that version of WebRAG"),
            code="database_too_new",
        )
    return [migration for migration in known if migration.name not in applied]
