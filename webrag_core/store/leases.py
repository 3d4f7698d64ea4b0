"""Host leases: the right to send one request to a host, shared by all processes that use the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from webrag_core.store.database import Database

_REQUEST = """
SELECT granted, ahead, pause_s, held_s, status FROM request_host_lease(%s, %s, %s, %s, %s)
"""
_HOLD = """
INSERT INTO host_paces AS p (host, held_until, status) VALUES (%s, clock_timestamp() + make_interval(secs => %s), %s)
ON CONFLICT (host) DO UPDATE SET held_until = greatest(p.held_until, EXCLUDED.held_until), status = EXCLUDED.status
"""
_RELEASE = "DELETE FROM host_leases WHERE holder = %s"


@dataclass(frozen=True, slots=True)
class LeaseReply:
    """Reply to one attempt. `ahead` = older tickets of the host, `pause_s` = seconds until the next start is allowed.

    `held_s` is the part of `pause_s` that Retry-After asks for, `status` the HTTP status that came with it.
    """

    granted: bool
    ahead: int
    pause_s: float
    held_s: float
    status: int


class HostLeases:
    """Leases in the database. First come, first served per host; a lease expires when its holder does not release it.

    Every method is one statement and holds no connection afterwards. All times are those of the database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def request(self, host: str, holder: UUID, *, slots: int, delay_s: float, lease_s: float) -> LeaseReply:
        """Request one of the `slots` of `host`; the next request may start `delay_s` seconds after a granted one.

        A refused holder keeps its place in the queue as long as it retries within 5 seconds of `pause_s`.
        Raises StoreError.
        """
        async with self._database.connection() as connection:
            cursor = await connection.execute(_REQUEST, (host, holder, slots, delay_s, lease_s))
            row = await cursor.fetchone()
        assert row is not None
        return LeaseReply(*row)

    async def hold(self, host: str, seconds: float, status: int) -> None:
        """Grant no lease of `host` for `seconds`. Raises StoreError."""
        async with self._database.connection() as connection:
            await connection.execute(_HOLD, (host, seconds, status))

    async def release(self, holder: UUID) -> None:
        """Release a lease, or a queue position. Raises StoreError."""
        async with self._database.connection() as connection:
            await connection.execute(_RELEASE, (holder,))
