"""Take what was deleted off the disk: PostgreSQL leaves deleted rows in its files, in planner statistics and in WAL.

Public SQL alone. On a server of somebody else each step is tried, and what the role may not do is named.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg
from psycopg import AsyncConnection, sql

from webrag_core.errors import StoreError
from webrag_core.store.database import Database

_POLL_SECONDS = 0.2
_MOST_SEGMENTS = 1_000  # of the write-ahead log, 16 MB each
_TABLES = """
SELECT c.oid, c.oid::regclass::text, n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
AND pg_has_role(c.relowner, 'USAGE') ORDER BY 2
"""
_FOREIGN_TABLES = """
SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
AND c.relnamespace = current_schema()::regnamespace AND NOT pg_has_role(c.relowner, 'USAGE')
"""
# an expression index has statistics of its own; one without expressions has none, and clearing does nothing
_CLEAR_STATISTICS = """
SELECT count(pg_clear_attribute_stats(n.nspname::text, c.relname::text, a.attname::text, false))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE a.attnum > 0 AND NOT a.attisdropped AND (c.oid = ANY(%(tables)s) OR c.relkind = 'i' AND c.oid IN
 (SELECT indexrelid FROM pg_index WHERE indrelid = ANY(%(tables)s) AND indexprs IS NOT NULL))
"""
_OWNS_STATISTICS = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'pg_catalog.pg_statistic'::regclass"
_OLDER_SESSIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend'
AND age(backend_xmin) > age(%s::xid)
"""
_KEEPS_LOG = """
SELECT (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM pg_stat_replication),
       current_setting('archive_mode') <> 'off'
"""
_SEGMENTS_AHEAD = "SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' AND name > pg_walfile_name(%s)"
_LATEST_LOG = "SELECT pg_current_wal_lsn()"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Tables that were written anew, and what could not be reached, as sentences."""

    tables: int
    not_reached: tuple[str, ...]


async def rewrite(database: Database) -> Rewritten:
    """Write every table of the role anew with its indexes and statistics, then renew the write-ahead log.

    Each table is locked while it is written, so readers wait. Raises StoreError where a table is in use for longer than
    DATABASE_LOCK_TIMEOUT; what was done so far stays done, and calling again does all of it.
    """
    missed: list[str] = []
    async with database.long_job() as connection:
        missed += await _outlast_older_sessions(connection)
        cursor = await connection.execute(_TABLES)
        tables = [(int(oid), str(schema), str(name)) for oid, _, schema, name in await cursor.fetchall()]
        others = await (await connection.execute(_FOREIGN_TABLES)).fetchone()
        if others != (0,):
            missed.append("tables that belong to another role: its owner can run VACUUM FULL on them")
        async with _permitted(missed, "planner statistics of columns (needs PostgreSQL 18)"):
            await connection.execute(_CLEAR_STATISTICS, {"tables": [oid for oid, _, _ in tables]})
        for _, schema, name in tables:
            await connection.execute(sql.SQL("VACUUM (FULL, ANALYZE) {}").format(sql.Identifier(schema, name)))
        if await (await connection.execute(_OWNS_STATISTICS)).fetchone() == (True,):
            for name in ("pg_statistic", "pg_statistic_ext_data"):
                await connection.execute(sql.SQL("VACUUM FULL {}").format(sql.Identifier("pg_catalog", name)))
        else:  # the server would pass over them with a warning
            missed.append("the catalog of planner statistics: a superuser can VACUUM FULL pg_statistic")
        missed += await _renew_log(connection)
    return Rewritten(len(tables), tuple(missed))


async def _outlast_older_sessions(connection: AsyncConnection) -> list[str]:
    """Wait until no session can still see the deleted rows: a table written before would keep them.

    Raises StoreError (database_busy) for one that goes on for longer than locks are waited for.
    """
    cursor = await connection.execute("SELECT pg_current_xact_id()::xid, current_setting('lock_timeout')::interval")
    now, patience = await cursor.fetchone() or ("0", None)
    waited = 0.0
    while True:
        cursor = await connection.execute(_OLDER_SESSIONS, (now,))
        (older,) = await cursor.fetchone() or (0,)
        if not older:
            return []
        if patience and waited > patience.total_seconds():
            raise StoreError(
                "what was removed stays on the disk: another session still reads an earlier state of the database;"
                " run `webrag forget --scrub` when it has ended",
                code="database_busy",
            )
        await asyncio.sleep(_POLL_SECONDS)
        waited += _POLL_SECONDS


async def _renew_log(connection: AsyncConnection) -> list[str]:
    """Have the server delete the segments of its log that hold what was deleted, recycled ones too."""
    missed: list[str] = []
    async with _permitted(missed, "the write-ahead log: a superuser can run CHECKPOINT after pg_switch_wal()"):
        await connection.execute("ALTER SYSTEM SET wal_recycle = off")  # a recycled segment keeps what it held
        try:
            await connection.execute("SELECT pg_reload_conf()")
            await connection.execute("CHECKPOINT")
            for _ in range(_MOST_SEGMENTS):  # use up recycled ones: a switch fills the rest of each with zeros
                (position,) = await (await connection.execute(_LATEST_LOG)).fetchone() or ("",)
                ahead = await (await connection.execute(_SEGMENTS_AHEAD, (position,))).fetchone()
                await connection.execute("SELECT pg_logical_emit_message(false, '', '')")
                await connection.execute("SELECT pg_switch_wal()")
                if ahead == (0,):
                    break
            await connection.execute("CHECKPOINT")
        finally:
            await connection.execute("ALTER SYSTEM RESET wal_recycle")
            await connection.execute("SELECT pg_reload_conf()")
    copies, archived = await (await connection.execute(_KEEPS_LOG)).fetchone() or (0, False)
    if copies or archived:
        missed.append("replicas, replication slots and archives of the write-ahead log, which this server feeds")
    return missed


@asynccontextmanager
async def _permitted(missed: list[str], what: str) -> AsyncIterator[None]:
    """Add `what` to what was missed where the role may not do it, or the server does not know how."""
    try:
        yield
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction):
        missed.append(what)
