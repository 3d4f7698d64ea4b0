"""Sources that files declare: the tables follow the files.

Whether a source is paused is not part of its declaration (`webrag source pause`) and outlives every change of the file.
The pages of a source whose file is gone stay, with the source around its section.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass, field

from psycopg import AsyncConnection, sql
from psycopg.rows import class_row

from webrag_core.corpus import sources


@dataclass(frozen=True, slots=True)
class Declaration:
    """One source as its file has it. None leaves a value to the settings."""

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
    versions_in_path: str | None = None
    all_text: bool = False
    owners: list[str] = field(default_factory=list)


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
    " follow, versions_in_path, all_text, owners FROM sources WHERE declared_in IS NOT NULL"
)
_WRITE = sql.SQL(
    "INSERT INTO sources AS s (key, seed_url, path_prefix, page_limit, declared_in, refresh_hours, watch_minutes,"
    " shards, acquirer, pool, follow, versions_in_path, all_text, owners)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (key) DO UPDATE SET seed_url = EXCLUDED.seed_url, path_prefix = EXCLUDED.path_prefix,"
    " page_limit = EXCLUDED.page_limit, declared_in = EXCLUDED.declared_in, refresh_hours = EXCLUDED.refresh_hours,"
    " watch_minutes = EXCLUDED.watch_minutes, shards = EXCLUDED.shards, acquirer = EXCLUDED.acquirer,"
    " pool = EXCLUDED.pool, follow = EXCLUDED.follow,"
    " versions_in_path = EXCLUDED.versions_in_path, all_text = EXCLUDED.all_text, owners = EXCLUDED.owners, {}"
).format(sources.KEEP_MAP)


async def apply_declarations(
    connection: AsyncConnection, declarations: Sequence[Declaration], unread: Collection[str] = ()
) -> Applied:
    """Synchronise the table with the declarations. Call inside a transaction; writes only differences.

    Sources of `unread` files, which are there and say nothing that can be read, stay as they are.
    """
    async with connection.cursor(row_factory=class_row(Declaration)) as cursor:
        await cursor.execute(_READ)
        before = {row.key: row for row in await cursor.fetchall()}
    declared = {declaration.key: declaration for declaration in declarations}
    changed = sorted(key for key, declaration in declared.items() if before.get(key) != declaration)
    dropped = sorted(key for key in before.keys() - declared if before[key].declared_in not in unread)
    for host in sorted({key.partition("/")[0] for key in (*changed, *dropped)}):
        await sources.lock_host(connection, host)
    for key in dropped:
        await sources.release_source(connection, key)
    for key in changed:
        await connection.execute(_WRITE, astuple(declared[key]))
        await sources.assign_documents(connection, key)
    added = tuple(key for key in changed if key not in before)
    return Applied(added, tuple(key for key in changed if key in before), tuple(dropped))
