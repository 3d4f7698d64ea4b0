"""The one connection pool. Never hold a connection while waiting for another or for the network.

No statement waits without end: the limits of the settings hold for every connection.
"""

from __future__ import annotations

import asyncio
import logging
import selectors
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, LiteralString, Self

import psycopg
from pgvector.psycopg.vector import register_vector_info
from psycopg import AsyncConnection, AsyncCursor
from psycopg.pq import TransactionStatus
from psycopg.rows import Row
from psycopg.types import TypeInfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from webrag_core.config.database import DatabaseSettings
from webrag_core.errors import StoreError
from webrag_core.store.claims import Claims
from webrag_core.store.embedded import embedded_url, exit_on_sigterm, restarted
from webrag_core.store.migrate import migrate
from webrag_core.store.server_access import CONNECT_SECONDS, ServerAccess
from webrag_core.store.server_resources import ServerResources
from webrag_core.store.spending import Spending
from webrag_core.store.unfinished import require_finished

_POOL_SIZE = 8
_PGVECTOR = (0, 8)
_ONE_STATE: LiteralString = "ISOLATION LEVEL REPEATABLE READ, READ ONLY"


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that a statement may wait for a lock, and take in all; 0 = without end."""

    lock: float
    statement: float

    async def apply(self, connection: AsyncConnection) -> None:
        """Set them for the session, except where the server or DATABASE_URL sets a limit already."""
        await connection.execute(
            "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) AS l (name, value)"
            " WHERE current_setting(name) = '0'",
            (["lock_timeout", "statement_timeout"], [f"{round(s * 1000)}ms" for s in (self.lock, self.statement)]),
        )


class Database:
    """An open, migrated database. Use `async with await Database.open(settings) as database`."""

    def __init__(self, url: str, limits: Limits, restart: Callable[[], Awaitable[object]] | None = None) -> None:
        self.url = url
        self._access = ServerAccess(url, restart)
        self.claims = Claims(self._access)
        self.spending = Spending()
        self._limits = limits
        self._pool: AsyncConnectionPool[AsyncConnection] = AsyncConnectionPool(
            url,
            min_size=0,  # with 1 the first user makes a second one: the first is not there yet
            max_size=_POOL_SIZE,
            timeout=CONNECT_SECONDS,
            connection_class=self._access.connection_class(),
            configure=self._configure,
            check=_check,
            open=False,
            kwargs={"autocommit": True, "cursor_factory": _Cursor},
        )

    @classmethod
    async def reach(cls, settings: DatabaseSettings) -> Self:
        """Start or reach the server, and nothing more: the schema is as it is, and there is no pool (`long_job`).

        Raises StoreError.
        """
        url, restart = settings.database_url, None
        if url is None:
            exit_on_sigterm()
            home, resources = settings.webrag_home, ServerResources.chosen(settings)
            url = await asyncio.to_thread(embedded_url, home, resources)

            async def start_again() -> None:
                await asyncio.to_thread(restarted, home, resources)

            restart = start_again
        return cls(url, Limits(settings.database_lock_timeout, settings.database_statement_timeout), restart)

    @classmethod
    async def open(cls, settings: DatabaseSettings) -> Self:
        """Start or reach the server, bring the schema up to date, open the pool.

        Raises StoreError when the database cannot be reached, lacks pgvector, is of a newer version, is locked by
        another session (database_busy), or is behind a pooler that gives every transaction another session.
        """
        if settings.database_url is None:
            require_finished(settings.webrag_home)
        database = await cls.reach(settings)
        limits = database._limits
        # psycopg_pool logs every failed attempt of its own; the failure reaches the caller as one StoreError
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        with _as_store_errors(limits):
            async with await database._access.connect() as connection:
                await limits.apply(connection)
                await migrate(connection)
                await _require_pgvector(connection)
                await database._pool.open()
                if settings.database_url is not None:
                    try:
                        async with database._pool.connection() as pooled:
                            await require_sessions(connection, pooled)
                    except BaseException:
                        await database.close()
                        raise
        return database

    @property
    def is_away(self) -> bool:
        """Whether the last connection to the server could not be made."""
        return self._access.failure is not None

    @asynccontextmanager
    async def connection(self, wait: float = CONNECT_SECONDS) -> AsyncIterator[AsyncConnection]:
        """A pooled autocommit connection, within `wait` seconds.

        Raises StoreError when none can be had, the server goes away, or a statement inside the block fails.
        """
        with _as_store_errors(self._limits, self._access):
            async with self._pool.connection(min(wait, self._access.patience)) as connection:
                yield connection

    @asynccontextmanager
    async def long_job(self) -> AsyncIterator[AsyncConnection]:
        """An autocommit connection of its own, whose statements may take as long as they need; locks may not.

        Raises StoreError as `connection` does.
        """
        with _as_store_errors(self._limits):
            async with await self._access.connect() as connection:
                await Limits(self._limits.lock, 0).apply(connection)
                yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A connection inside one transaction: all of it happens, or nothing."""
        async with self.connection() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncConnection]:
        """A connection inside one read-only repeatable-read transaction: a search sees one state of the corpus."""
        async with self.connection() as connection, connection.transaction():
            await connection.execute(f"SET TRANSACTION {_ONE_STATE}")
            yield connection

    @asynccontextmanager
    async def pipelined_snapshot(self) -> AsyncIterator[AsyncConnection]:
        """As `snapshot`, but statements are sent without waiting for those before: one way to the server and back for
        all of them until a result is fetched. What fails is raised by a later fetch. No COPY, no named cursors."""
        async with self.connection() as connection:
            try:
                async with connection.pipeline() as pipeline:
                    try:
                        # no `transaction`, which would wait for the server at both ends
                        await connection.execute(f"BEGIN {_ONE_STATE}")
                        yield connection
                        await connection.execute("COMMIT")
                    except psycopg.Error:
                        with suppress(psycopg.Error):
                            await pipeline.sync()  # until then the server passes over what follows
                        raise
            finally:
                if connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                    await connection.rollback()

    async def _configure(self, connection: AsyncConnection) -> None:
        # statements, not start-up options: DATABASE_URL may set options of its own, and PgBouncer refuses them
        await connection.execute("SET TIME ZONE 'UTC'")
        await self._limits.apply(connection)
        # the one type of pgvector that is sent: looking up all four costs a connection three times as much
        register_vector_info(connection, await TypeInfo.fetch(connection, "vector"))

    async def close(self) -> None:
        """Close the pool; the embedded server stops with the last process that uses it."""
        await self.claims.close()
        await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@asynccontextmanager
async def sent_together(connection: AsyncConnection) -> AsyncIterator[None]:
    """Send the statements of the block without waiting for each. In a pipeline that is open the caller's goes on: to
    end one inside another would wait for everything that was sent."""
    if connection.info.pipeline_status:
        yield
    else:
        async with connection.pipeline():
            yield


async def require_sessions(first: AsyncConnection, second: AsyncConnection) -> None:
    """Raise StoreError when two open connections share a server process, as behind PgBouncer in transaction mode.

    Claims are session locks: there they would belong to whoever comes next. A busy pooler may escape the check.
    """
    pids = [await (await item.execute("SELECT pg_backend_pid()")).fetchone() for item in (first, second)]
    if pids[0] == pids[1]:
        raise StoreError(
            "DATABASE_URL leads to a pooler in transaction mode, where session locks do not hold;"
            " connect to PostgreSQL directly, or set pool_mode = session",
            code="database_pooled",
        )


async def _check(connection: AsyncConnection) -> None:
    """Raise when the server is gone. An idle connection that ended is readable; one that is silent is whole."""
    with selectors.PollSelector() as selector:  # `select.select` takes no descriptor above 1,023
        selector.register(connection.fileno(), selectors.EVENT_READ)
        silent = not selector.select(0)
    if not silent:
        await AsyncConnectionPool.check_connection(connection)


class _Cursor(AsyncCursor[Row]):
    """A cursor that plans a statement anew where another session, as in a migration, changed what its table holds.

    Inside a transaction or a pipeline that is for the caller to do: all of it has failed.
    """

    async def execute(self, *arguments: Any, **options: Any) -> Self:
        try:
            return await super().execute(*arguments, **options)
        except psycopg.errors.FeatureNotSupported as error:
            information = self.connection.info
            alone = information.transaction_status is TransactionStatus.IDLE and not information.pipeline_status
            if not alone or not _is_outdated_plan(error):
                raise
        await self.connection.execute("DEALLOCATE ALL")  # the driver forgets its prepared statements with it
        return await super().execute(*arguments, **options)


def _is_outdated_plan(error: psycopg.Error) -> bool:
    """Whether a prepared statement gives other columns now. Its message depends on the server's language."""
    return error.sqlstate == "0A000" and error.diag.source_function == "RevalidateCachedQuery"


@contextmanager
def _as_store_errors(limits: Limits, access: ServerAccess | None = None) -> Iterator[None]:
    """Turn errors of the driver into StoreError."""
    try:
        yield
    except PoolTimeout as error:
        failure = None if access is None else access.failure
        if failure is not None:
            raise (failure if isinstance(failure, StoreError) else _store_error(failure, limits)) from error
        raise StoreError("no database connection came free in time; try again when less is at work") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise _store_error(error, limits) from error
    except psycopg.Error as error:
        # the driver quotes what it cannot parse, password and all
        raise _store_error(error, limits) from (error if error.sqlstate else None)


async def _require_pgvector(connection: AsyncConnection) -> None:
    """Raise StoreError for a pgvector that does not go on through its graph when a filter leaves too few rows."""
    cursor = await connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    (result,) = await cursor.fetchone() or ("",)
    numbers = tuple(int(part) for part in str(result).split(".")[:2] if part.isdecimal())
    if numbers < _PGVECTOR:
        least = ".".join(map(str, _PGVECTOR))
        raise StoreError(
            f"the database has pgvector {result or 'in no version'}; WebRAG needs {least} or newer: install it on the"
            " server, then run ALTER EXTENSION vector UPDATE in the database",
            code="pgvector_too_old",
        )


def _store_error(error: psycopg.Error, limits: Limits) -> StoreError:
    # the server's own message may hold the connection string, so only its kind is shown
    state = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
    match error.sqlstate or "":
        case "55P03":
            waited = f"another session holds a lock for more than {limits.lock:g} s (DATABASE_LOCK_TIMEOUT)"
            return StoreError(f"the database is busy: {waited}{state}", code="database_busy")
        case "57014":
            took = f"took more than {limits.statement:g} s (DATABASE_STATEMENT_TIMEOUT) or was cancelled"
            return StoreError(f"the database is busy: a statement {took}{state}", code="database_busy")
        case "53100":
            return StoreError(f"the database's disk is full{state}", code="disk_full")
        case "25006":
            return StoreError(f"the database is read-only{state}", code="database_read_only")
        case "XX001" | "XX002":
            return StoreError(
                f"the database's files are damaged: what a disk gave back is not what was stored{state}; the server's"
                " log names the file. `webrag restore` of the last backup into an empty home brings back what it holds",
                code="database_damaged",
            )
        case "0A000" if _is_outdated_plan(error):
            changed = "another session changed its tables meanwhile, as a migration does; try again"
            return StoreError(f"the database is busy: {changed}{state}", code="database_busy")
        case code if not code or code.startswith(("08", "28", "3D", "42501", "57P")):
            return StoreError(f"the database cannot be reached or refused the request{state}; check DATABASE_URL")
        case _:
            return StoreError(f"the database refused a statement{state}")
