"""Connections to the database server, which is started again where it is ours and has ended.

An embedded server that was killed stays away: whoever started it holds its lock and goes on. So the first connection
that is refused starts it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Self

import psycopg
from psycopg import AsyncConnection

from webrag_core.errors import StoreError

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
_LATEST_SECONDS = 2.0  # within which a server that was away for a while is noticed to be back


class ServerAccess:
    """Opens connections to `url`. `restart` starts an embedded server; None for one that is somebody else's.

    `failure` is why the last attempt failed, None after one that did not.
    """

    def __init__(self, url: str, restart: Callable[[], Awaitable[object]] | None = None) -> None:
        self.url = url
        self.failure: psycopg.Error | StoreError | None = None
        self._restart = restart
        self._restarting = asyncio.Lock()

    @property
    def patience(self) -> float:
        """Seconds to wait for a connection: few while the server is away, as the pool goes on trying."""
        return CONNECT_SECONDS if self.failure is None else _LATEST_SECONDS

    async def connect(self) -> AsyncConnection:
        """An autocommit connection of its own. Raises psycopg.Error."""
        return await self.connection_class().connect(self.url, autocommit=True, connect_timeout=int(CONNECT_SECONDS))

    def connection_class(self) -> type[AsyncConnection]:
        """The class of connections for a pool: making one starts the server where that is ours to do."""
        access = self

        class Connection(AsyncConnection):
            @classmethod
            async def connect(cls, conninfo: str = "", **options: Any) -> Self:
                try:
                    try:
                        connection = await super().connect(conninfo, **options)
                    except psycopg.OperationalError as error:
                        if access._restart is None:
                            raise
                        await access._start_again(error)
                        connection = await super().connect(conninfo, **options)
                except psycopg.Error as error:
                    access.failure = access.failure if isinstance(access.failure, StoreError) else error
                    raise
                access.failure = None
                return connection

        return Connection

    async def _start_again(self, refused: psycopg.Error) -> None:
        """Start the server. Raises `refused`, with the reason in `failure`, where that is not possible."""
        assert self._restart is not None
        async with self._restarting:
            try:
                await self._restart()
            except StoreError as error:
                logger.warning("the database server ended and cannot be started again: %s", error.message)
                self.failure = error
                raise refused from error
