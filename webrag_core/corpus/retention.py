"""Retention: delete history and derived data that the settings no longer keep, in small batches.

Ledger and outbox lines may go because invariants rest on the state of documents; `retention_horizons` says how far
they are pruned. A superseded text goes without its row: hash, number and times stay. A kill loses nothing but time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import LiteralString

from psycopg import AsyncConnection, sql

from webrag_core.config import Settings
from webrag_core.corpus.page_files import delete_page_files
from webrag_core.store.database import Database
from webrag_core.store.vector_tables import vector_table

BATCH = 5_000
"""Rows of one transaction: writers never wait long for it."""


@dataclass(frozen=True, slots=True)
class _Category:
    """Rows that may go: those of `table` for which `condition` holds, older than a cutoff where there is one."""

    name: str
    table: LiteralString
    condition: LiteralString
    days: Callable[[Settings], float | None]
    """None keeps everything."""
    change: LiteralString | None = None
    """What is set instead of deleting the rows."""
    history: str | None = None
    """Name of the horizon that is moved first."""


_CATEGORIES = (
    _Category(
        "ledger_lines",
        "fetch_log",
        "x.ended_at < %(before)s",
        lambda s: s.ledger_retention_days,
        history="fetch_log",
    ),
    # never beyond what the slowest known reader has read
    _Category(
        "outbox_lines",
        "corpus_log",
        "x.logged_at < %(before)s AND x.written_by < coalesce((SELECT min(r.horizon) FROM outbox_readers r),"
        " '18446744073709551615'::xid8)",
        lambda s: s.outbox_retention_days,
        history="corpus_log",
    ),
    # the last refresh of a source, and of each of its shards, says when it is due
    _Category(
        "refreshes",
        "refresh_runs",
        "x.started_at < %(before)s AND EXISTS (SELECT FROM refresh_runs n WHERE n.source_id = x.source_id"
        " AND n.shard = x.shard AND n.started_at > x.started_at)",
        lambda s: s.ledger_retention_days,
    ),
    _Category(
        "removed_line_counts",
        "removed_lines",
        "NOT EXISTS (SELECT FROM refresh_runs r WHERE r.run_id = x.run_id)"
        " AND NOT EXISTS (SELECT FROM fetch_log f WHERE f.run_id = x.run_id)",
        lambda s: s.ledger_retention_days,
    ),
    _Category(
        "answer_rounds",
        "answer_rounds",
        "EXISTS (SELECT FROM answer_runs a WHERE a.id = x.answer_id AND a.started_at < %(before)s)",
        lambda s: s.answer_round_retention_days,
    ),
    _Category(
        "route_tasks",
        "route_tasks",
        "EXISTS (SELECT FROM answer_runs a WHERE a.id = x.answer_id AND a.started_at < %(before)s)",
        lambda s: s.answer_round_retention_days,
    ),
    _Category(  # no longer written
        "exposures",
        "exposures",
        "EXISTS (SELECT FROM answer_runs a WHERE a.id = x.answer_id AND a.started_at < %(before)s)",
        lambda s: s.answer_round_retention_days,
    ),
    _Category(
        "rejected_feedback",
        "feedback",
        "x.state = 'rejected' AND x.created_at < %(before)s",
        lambda s: s.answer_round_retention_days,
    ),
    _Category(
        "texts",
        "document_versions",
        "x.superseded_at < %(before)s AND x.pruned_at IS NULL"
        " AND NOT EXISTS (SELECT FROM citations c WHERE c.version_id = x.id)"
        " AND NOT EXISTS (SELECT FROM feedback f WHERE f.suggested_version = x.id AND f.state <> 'rejected')"
        " AND NOT EXISTS (SELECT FROM documents d WHERE d.current_version = x.id)",
        lambda s: s.version_retention_days,
        change="markdown = NULL, pruned_at = now()",
    ),
    _Category(
        "markup",
        "version_markup",
        "EXISTS (SELECT FROM document_versions v WHERE v.id = x.version_id AND v.pruned_at IS NOT NULL)",
        lambda s: s.version_retention_days,
    ),
    # past edges go with the text that proves them
    _Category(
        "past_edges",
        "graph_edges",
        "x.seen_until IS NOT NULL AND EXISTS (SELECT FROM document_versions v WHERE v.id = x.version_id"
        " AND v.pruned_at IS NOT NULL)",
        lambda s: s.version_retention_days,
    ),
    _Category(
        "cached_vectors",
        "embedding_cache",
        "NOT EXISTS (SELECT FROM chunks c WHERE c.embed_sha256 = x.text_sha256)",
        lambda s: 0,
    ),
)


async def prune(database: Database, settings: Settings, *, dry_run: bool = False) -> dict[str, int]:
    """Delete what is older than the settings keep; returns rows by category. `dry_run` counts only.

    Files with text of pages that earlier versions wrote go every time: nobody knows what of them was forgotten since.
    """
    now = datetime.now(UTC)
    deleted = {}
    async with database.long_job() as connection:
        await _drop_silent_readers(connection, now - timedelta(days=settings.outbox_reader_days), dry_run=dry_run)
        for category in _CATEGORIES:
            days = category.days(settings)
            if days is None:
                deleted[category.name] = 0
            elif dry_run:
                deleted[category.name] = await _count(connection, category, now - timedelta(days=days))
            else:
                deleted[category.name] = await _prune(connection, category, now - timedelta(days=days))
        before = now - timedelta(days=settings.retired_model_days)
        deleted["retired_models"] = await _drop_retired_models(connection, before, dry_run=dry_run)
    if not dry_run:
        delete_page_files(settings.webrag_home)
    return deleted


async def _count(connection: AsyncConnection, category: _Category, before: datetime) -> int:
    cursor = await connection.execute(
        sql.SQL("SELECT count(*) FROM {} x WHERE {}").format(
            sql.Identifier(category.table), sql.SQL(category.condition)
        ),
        {"before": before},
    )
    return int((await cursor.fetchone() or (0,))[0])


async def _prune(connection: AsyncConnection, category: _Category, before: datetime) -> int:
    if category.history is not None:
        await connection.execute(
            "INSERT INTO retention_horizons AS h (history, pruned_before) VALUES (%s, %s)"
            " ON CONFLICT (history) DO UPDATE SET pruned_before = greatest(h.pruned_before, EXCLUDED.pruned_before)",
            (category.history, before),
        )
    table = sql.Identifier(category.table)
    change = (
        sql.SQL("DELETE FROM {} x").format(table)
        if category.change is None
        else sql.SQL("UPDATE {} x SET {}").format(table, sql.SQL(category.change))
    )
    # the condition stands twice: a row may have come into use since it was selected
    statement = sql.SQL("{} WHERE x.ctid = ANY(ARRAY(SELECT x.ctid FROM {} x WHERE {} LIMIT %(batch)s)) AND {}").format(
        change, table, sql.SQL(category.condition), sql.SQL(category.condition)
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
