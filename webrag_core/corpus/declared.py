"""Sources that files declare: the tables follow the files, and leave the operator's own switches alone.

A declaration says what a source is. Whether it is paused is the operator's to say (`webrag source pause`) and outlives
every change of the file. A source whose declaration is gone keeps its pages, as one that nobody attached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.corpus.sources import KEEP_MAP


@dataclass(frozen=True, slots=True)
class Declaration:
    """One source as its file has it. What is None is left to the settings."""

    key: str
    seed_url: str
    path_prefix: str
    page_limit: int
    declared_in: str
    refresh_hours: float | None = None
    watch_minutes: float | None = None
    shards: int = 1
    acquirer: str | None = None
    pool: str | None = None
    follow: str = "links"


@dataclass(frozen=True, slots=True)
class Applied:
    """Keys of the sources that were new, changed, or are declared no longer."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.dropped)


_READ = (
    "SELECT key, seed_url, path_prefix, page_limit, declared_in, refresh_hours, watch_minutes, shards, acquirer, pool,"
    " follow FROM sources WHERE declared_in IS NOT NULL"
)


async def apply_declarations(connection: AsyncConnection, declarations: Sequence[Declaration]) -> Applied:
    """Make the table say what the files say. Call inside a transaction; writes nothing where nothing differs."""
    async with connection.cursor(row_factory=class_row(Declaration)) as cursor:
        await cursor.execute(_READ)
        before = {row.key: row for row in await cursor.fetchall()}
    added: list[str] = []
    changed: list[str] = []
    for wanted in sorted(declarations, key=lambda declaration: declaration.key):
        if before.get(wanted.key) == wanted:
            continue
        await connection.execute(
            sql.SQL(
                "INSERT INTO sources AS s (key, seed_url, path_prefix, page_limit, declared_in, refresh_hours,"
                " watch_minutes, shards, acquirer, pool, follow) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
                " ON CONFLICT (key) DO UPDATE SET seed_url = EXCLUDED.seed_url, path_prefix = EXCLUDED.path_prefix,"
                " page_limit = EXCLUDED.page_limit, declared_in = EXCLUDED.declared_in,"
                " refresh_hours = EXCLUDED.refresh_hours, watch_minutes = EXCLUDED.watch_minutes, shards ="
                " EXCLUDED.shards, acquirer = EXCLUDED.acquirer, pool = EXCLUDED.pool, follow = EXCLUDED.follow, {}"
            ).format(KEEP_MAP),
            astuple(wanted),
        )
        (changed if wanted.key in before else added).append(wanted.key)
    dropped = sorted(before.keys() - {declaration.key for declaration in declarations})
    await connection.execute(
        "UPDATE sources SET declared_in = NULL, page_limit = NULL, refresh_hours = NULL, watch_minutes = NULL,"
        " shards = 1, acquirer = NULL, pool = NULL, follow = 'links' WHERE key = ANY(%s)",
        (dropped,),
    )
    return Applied(tuple(added), tuple(changed), tuple(dropped))
