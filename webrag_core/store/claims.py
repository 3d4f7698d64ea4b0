"""Best-effort distributed locks (session advisory locks); correctness does not depend on them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import AsyncConnection

from webrag_core.errors import StoreError
from webrag_core.store.server_access import ServerAccess

_log = logging.getLogger(__name__)
_FIRST_WAIT_S = 0.01
_LONGEST_WAIT_S = 0.25


@dataclass(slots=True)
class _Local:
    """The queue of one name within this process."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class Claims:
    """Session advisory locks of this process, on one connection outside the pool.

    Locks may be held during model or site requests and are released when the process dies. They only avoid duplicate
    work: after a lost connection two workers may do the same work, and their transactions decide.
    """

    def __init__(self, access: ServerAccess) -> None:
        self._access = access
        self._connection: AsyncConnection | None = None
        self._opening = asyncio.Lock()
        self._local: dict[str, _Local] = {}

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncIterator[None]:
        """Hold the lock `name`, waiting for other holders. Raises StoreError without the database."""
        local = self._local.setdefault(name, _Local())
        local.users += 1
        try:
            async with local.lock:
                try:
                    await self._acquire(name)  # a cancelled attempt may still hold the lock
                    yield
                finally:
                    await asyncio.shield(self._release(name))
        finally:
            local.users -= 1
            if not local.users:
                self._local.pop(name, None)

    async def close(self) -> None:
        """Release all locks."""
        if self._connection is not None:
            await self._connection.close()

    async def _acquire(self, name: str) -> None:
        wait = _FIRST_WAIT_S
        try:
            while not await self._query("SELECT pg_try_advisory_lock(hashtextextended(%s, 1))", name):
                await asyncio.sleep(wait)
                wait = min(wait * 1.5, _LONGEST_WAIT_S)
        except psycopg.Error as error:
            raise StoreError("the database connection was lost while acquiring a lock") from error

    async def _release(self, name: str) -> None:
        if self._connection is None or self._connection.closed:
            return
        try:
            await self._query("SELECT pg_advisory_unlock(hashtextextended(%s, 1))", name)
        except psycopg.Error as error:
            _log.debug("lock released by connection loss: %s", type(error).__name__)

    async def _query(self, query: str, name: str) -> bool:
        cursor = await (await self._open()).execute(query.encode(), (name,))
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def _open(self) -> AsyncConnection:
        async with self._opening:
            if self._connection is None or self._connection.closed:
                self._connection = await self._access.connect()
            return self._connection
