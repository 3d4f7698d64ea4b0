"""Plain SQL migrations: numbered files, each applied once, in one transaction under one lock."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from psycopg import AsyncConnection

from webrag_core.errors import StoreError

_LOCK = 0x57454252  # "WEBR"


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of the `migrations` folder."""

    name: str
    sql: str


def migrations() -> list[Migration]:
    """All migrations in the order they apply."""
    folder = files("webrag_core.store") / "migrations"
    entries = [Migration(entry.name, entry.read_text()) for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return sorted(entries, key=lambda migration: migration.name)


async def migrate(connection: AsyncConnection) -> list[str]:
    """Apply missing migrations and return their names. Concurrent callers wait for each other.

    Raises StoreError when the database was made by a newer version of this package.
    """
    applied: list[str] = []
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_migrations"
            " (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        cursor = await connection.execute("SELECT name FROM schema_migrations")
        done = {row[0] for row in await cursor.fetchall()}
        known = migrations()
        unknown = done - {migration.name for migration in known}
        if unknown:
            raise StoreError(
                f"the database was made by a newer version (it has {', '.join(sorted(unknown))})",
                code="database_too_new",
            )
        for migration in known:
            if migration.name in done:
                continue
            await connection.execute(migration.sql.encode())
            await connection.execute("INSERT INTO schema_migrations (name) VALUES (%s)", (migration.name,))
            applied.append(migration.name)
    return applied
