"""The one connection pool. Never hold a connection while waiting for another or for the network."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from webrag_core.config import Settings
from webrag_core.errors import StoreError
from webrag_core.store.claims import Claims
from webrag_core.store.embedded import embedded_url, exit_on_sigterm
from webrag_core.store.migrate import migrate

_CONNECT_SECONDS = 10.0
_POOL_SIZE = 8


class Database:
    """An open, migrated database. Use `async with await Database.open(settings) as database`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.claims = Claims(url)
        self._pool: AsyncConnectionPool[AsyncConnection] = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=_POOL_SIZE,
            timeout=_CONNECT_SECONDS,
            configure=_configure,
            check=AsyncConnectionPool.check_connection,
            open=False,
            kwargs={"autocommit": True},
        )

    @classmethod
    async def open(cls, settings: Settings) -> Self:
        """Start or reach the server, bring the schema up to date, open the pool.

        Raises StoreError when the database cannot be reached, lacks pgvector, is of a newer version, or is behind a
        pooler that gives every transaction another session.
        """
        url = settings.database_url
        if url is None:
            exit_on_sigterm()
            url = await asyncio.to_thread(embedded_url, settings.webrag_home)
        try:
            async with await _connect(url) as connection:
                if settings.database_url is not None:
                    async with await _connect(url) as second:
                        await require_sessions(connection, second)
                await migrate(connection)
        except psycopg.OperationalError as error:
            raise StoreError(_reachable_message(error)) from error
        except psycopg.Error as error:
            raise StoreError(_reachable_message(error)) from None  # what cannot be parsed is quoted, password and all
        database = cls(url)
        # psycopg_pool logs every failed attempt of its own; the failure reaches the caller as one StoreError
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        await database._pool.open()
        return database

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection]:
        """A pooled autocommit connection.

        Raises StoreError when none can be had, the server goes away, or a statement inside the block fails.
        """
        try:
            async with self._pool.connection() as connection:
                yield connection
        except PoolTimeout as error:
            raise StoreError("no database connection came free in time") from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StoreError(_reachable_message(error)) from error
        except psycopg.Error as error:
            raise StoreError(f"the database refused a statement (SQLSTATE {error.sqlstate})") from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A connection inside one transaction: all of it happens, or nothing."""
        async with self.connection() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncConnection]:
        """A connection inside one read-only repeatable-read transaction: a search sees one state of the corpus."""
        async with self.connection() as connection, connection.transaction():
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield connection

    async def close(self) -> None:
        """Close the pool; the embedded server stops with the last process that uses it."""
        await self.claims.close()
        await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def require_sessions(first: AsyncConnection, second: AsyncConnection) -> None:
    """Raise StoreError when two open connections share a server process, as behind PgBouncer in transaction mode.

    Claims are session locks: there they would belong to whoever comes next. A busy pooler may escape the check.
    """
    pids = [await (await one.execute("SELECT pg_backend_pid()")).fetchone() for one in (first, second)]
    if pids[0] == pids[1]:
        raise StoreError(
            "DATABASE_URL leads to a pooler in transaction mode, where session locks do not hold;"
            " connect to PostgreSQL directly, or set pool_mode = session",
            code="database_pooled",
        )


async def _connect(url: str) -> AsyncConnection:
    return await AsyncConnection.connect(url, autocommit=True, connect_timeout=int(_CONNECT_SECONDS))


async def _configure(connection: AsyncConnection) -> None:
    # a statement, not a start-up option: DATABASE_URL may set options of its own, and PgBouncer refuses them
    await connection.execute("SET TIME ZONE 'UTC'")
    await register_vector_async(connection)


def _reachable_message(error: psycopg.Error) -> str:
    # the server's own message may hold the connection string, so only its kind is shown
    state = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
    if error.sqlstate in ("0A000", "58P01", "42704"):
        return f"the database lacks the pgvector extension{state}"
    if error.sqlstate and not error.sqlstate.startswith(("08", "28", "3D", "42501", "57P")):
        return f"the database refused a statement{state}"
    return f"the database cannot be reached or refused the request{state}; check DATABASE_URL"
