"""Best-effort distributed locks (session advisory locks); correctness does not depend on them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import AsyncConnection

from webrag_core.errors import StoreError
from webrag_core.store.server_access import ServerAccess

_log = logging.getLogger(__name__)
_FIRST_WAIT_S = 0.01
_LONGEST_WAIT_S = 0.25


_TRY = (
    b"SELECT pg_try_advisory_lock(hashtextextended(u, 1)) FROM unnest(%s::text[]) WITH ORDINALITY AS w (u, n)"
    b" ORDER BY n"
)
_UNLOCK = b"SELECT pg_advisory_unlock(hashtextextended(u, 1)) FROM unnest(%s::text[]) u"


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
            self._leave(name, local)

    def _leave(self, name: str, local: _Local) -> None:
        local.users -= 1
        if not local.users:
            self._local.pop(name, None)

    @asynccontextmanager
    async def hold_free(self, names: Sequence[str]) -> AsyncIterator[set[str]]:
        """Hold those of the locks that nobody holds, and give their names. Raises StoreError without the database."""
        free = {name: _Local(users=1) for name in names if name not in self._local}
        self._local |= free
        async with AsyncExitStack() as stack:
            for name, local in free.items():
                stack.callback(self._leave, name, local)
                await stack.enter_async_context(local.lock)
            try:  # a cancelled attempt may still hold them
                with _as_store_error():
                    rows = await self._rows(_TRY, list(free))
                yield {name for name, (is_held,) in zip(free, rows, strict=True) if is_held}
            finally:
                await asyncio.shield(self._release(*free))

    async def close(self) -> None:
        """Release all locks."""
        if self._connection is not None:
            await self._connection.close()

    async def _acquire(self, name: str) -> None:
        wait = _FIRST_WAIT_S
        with _as_store_error():
            while await self._rows(_TRY, [name]) != [(True,)]:
                await asyncio.sleep(wait)
                wait = min(wait * 1.5, _LONGEST_WAIT_S)

    async def _release(self, *names: str) -> None:
        if self._connection is None or self._connection.closed:
            return
        try:
            await self._rows(_UNLOCK, list(names))
        except psycopg.Error as error:
            _log.debug("lock released by connection loss: %s", type(error).__name__)

    async def _rows(self, query: bytes, names: list[str]) -> list[tuple[object, ...]]:
        return await (await (await self._open()).execute(query, (names,))).fetchall()

    async def _open(self) -> AsyncConnection:
        async with self._opening:
            if self._connection is None or self._connection.closed:
                self._connection = await self._access.connect()
            return self._connection


@contextmanager
def _as_store_error() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise StoreError("the database connection was lost while acquiring a lock") from error
