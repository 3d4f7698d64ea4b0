"""Claims: one worker per piece of work, among all processes that share the database."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import AsyncConnection

from webrag_core.errors import StoreError

_log = logging.getLogger(__name__)
_FIRST_WAIT_S = 0.01
_LONGEST_WAIT_S = 0.25


@dataclass(slots=True)
class _Local:
    """The queue of one name within this process."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class Claims:
    """Names that this process works on, as session locks of one connection of their own.

    The connection belongs to no pool, so that a claim may be held while a model or a site is waited for; and it ends
    with the process, however that ends, so that nobody waits for the dead. A claim saves work, it guards nothing: when
    the connection is lost, two may do the same work, and the transactions that write it decide as ever.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: AsyncConnection | None = None
        self._opening = asyncio.Lock()
        self._local: dict[str, _Local] = {}

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncIterator[None]:
        """Wait until nobody else works on `name`, and work on it. Raises StoreError when the database is away."""
        local = self._local.setdefault(name, _Local())
        local.users += 1
        try:
            async with local.lock:
                try:
                    await self._take(name)  # cancelled here, it may be held all the same
                    yield
                finally:
                    await asyncio.shield(self._release(name))
        finally:
            local.users -= 1
            if not local.users:
                self._local.pop(name, None)

    async def close(self) -> None:
        """Give back whatever is held."""
        if self._connection is not None:
            await self._connection.close()

    async def _take(self, name: str) -> None:
        wait = _FIRST_WAIT_S
        try:
            while not await self._ask("SELECT pg_try_advisory_lock(hashtextextended(%s, 1))", name):
                await asyncio.sleep(wait)
                wait = min(wait * 1.5, _LONGEST_WAIT_S)
        except psycopg.Error as error:
            raise StoreError("the database went away while work was being claimed") from error

    async def _release(self, name: str) -> None:
        if self._connection is None or self._connection.closed:
            return
        try:
            await self._ask("SELECT pg_advisory_unlock(hashtextextended(%s, 1))", name)
        except psycopg.Error as error:
            _log.debug("the claim went with its connection: %s", type(error).__name__)

    async def _ask(self, query: str, name: str) -> bool:
        cursor = await (await self._open()).execute(query.encode(), (name,))
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def _open(self) -> AsyncConnection:
        async with self._opening:
            if self._connection is None or self._connection.closed:
                self._connection = await AsyncConnection.connect(self._url, autocommit=True)
            return self._connection
