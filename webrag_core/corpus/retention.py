"""Retention: delete history and derived data that the settings no longer keep, in small batches. `tables` says which.

Ledger and outbox lines may go because invariants rest on the state of documents; `retention_horizons` says how far
they are pruned. A superseded text goes without its row: hash, number and times stay. A kill loses nothing but time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from psycopg import AsyncConnection, sql

from webrag_core.config import Settings
from webrag_core.corpus.page_files import delete_page_files
from webrag_core.corpus.tables import TABLES, Retention, Table
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table

BATCH = 5_000
"""Rows of one transaction: writers never wait long for it."""


_CATEGORIES = tuple((table, category) for table in TABLES for category in table.retention)


async def prune(database: Database, settings: Settings, *, dry_run: bool = False) -> dict[str, int]:
    """Delete what is older than the settings keep; returns rows by category. `dry_run` counts only.

    Files with text of pages that earlier versions wrote go every time: nobody knows what of them was forgotten since.
    """
    now = datetime.now(UTC)
    deleted = {}
    async with database.long_job() as connection:
        await _drop_silent_readers(connection, now - timedelta(days=settings.outbox_reader_days), dry_run=dry_run)
        for table, category in _CATEGORIES:
            days = category.days(settings)
            if days is None:
                deleted[category.name] = 0
            elif dry_run:
                deleted[category.name] = await _count(connection, table, category, now - timedelta(days=days))
            else:
                deleted[category.name] = await _prune(connection, table, category, now - timedelta(days=days))
        before = now - timedelta(days=settings.retired_model_days)
        deleted["retired_models"] = await _drop_retired_models(connection, before, dry_run=dry_run)
    if not dry_run:
        delete_page_files(settings.webrag_home)
    return deleted


async def _count(connection: AsyncConnection, table: Table, category: Retention, before: datetime) -> int:
    cursor = await connection.execute(
        sql.SQL("SELECT count(*) FROM {} x WHERE {}").format(sql.Identifier(table.name), sql.SQL(category.where)),
        {"before": before},
    )
    return int((await cursor.fetchone() or (0,))[0])


async def _prune(connection: AsyncConnection, table: Table, category: Retention, before: datetime) -> int:
    if category.history is not None:
        await connection.execute(
            "INSERT INTO retention_horizons AS h (history, pruned_before) VALUES (%s, %s)"
            " ON CONFLICT (history) DO UPDATE SET pruned_before = greatest(h.pruned_before, EXCLUDED.pruned_before)",
            (category.history, before),
        )
    name = sql.Identifier(table.name)
    change = (
        sql.SQL("DELETE FROM {} x").format(name)
        if category.change is None
        else sql.SQL("UPDATE {} x SET {}").format(name, sql.SQL(category.change))
    )
    # the condition stands twice: a row may have come into use since it was selected
    statement = sql.SQL("{} WHERE x.ctid = ANY(ARRAY(SELECT x.ctid FROM {} x WHERE {} LIMIT %(batch)s)) AND {}").format(
        change, name, sql.SQL(category.where), sql.SQL(category.where)
    )
    total = 0
    while True:
        cursor = await connection.execute(statement, {"before": before, "batch": BATCH}, prepare=False)
        total += cursor.rowcount
        if cursor.rowcount < BATCH:
            return total


async def _drop_silent_readers(connection: AsyncConnection, before: datetime, *, dry_run: bool) -> None:
    """Forget readers of the outbox that have not read for so long that they are gone."""
    if not dry_run:
        await connection.execute("DELETE FROM outbox_readers WHERE read_at < %s", (before,))


async def _drop_retired_models(connection: AsyncConnection, before: datetime, *, dry_run: bool) -> int:
    """Drop the vector tables of models that were retired before then, with their cached vectors."""
    async with connection.transaction(force_rollback=dry_run):
        # as `embedding_models.lock_models`: no model changes its state meanwhile
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('embedding_models', 0))")
        cursor = await connection.execute(
            "DELETE FROM embedding_models WHERE state = 'retired' AND state_since < %s RETURNING id", (before,)
        )
        models = [int(row[0]) for row in await cursor.fetchall()]
        for model_id in models:
            await connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(vector_table(model_id)))
    return len(models)
