"""Circuit breakers around what can be down, with their state in the database: a run worker of Dagster lives for one
run, so that a breaker in memory would never open.

Closed: the dependency is asked. After BREAKER_FAILURES transient failures in a row it opens: nobody asks for
BREAKER_SECONDS, then one process among all, the probe. Its success closes the breaker, its failure opens it anew. A
probe that never comes back counts as failed after its time. An answer of any kind, also a refusal (HTTP 4xx other than
408, 425 and 429), is a sign of life.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import urlsplit

from psycopg import AsyncConnection
from psycopg.rows import class_row

from webrag_core.errors import StoreError
from webrag_core.store.spending import Spending

if TYPE_CHECKING:
    from webrag_core.config.breakers import BreakerSettings
    from webrag_core.store.database import Database

logger = logging.getLogger(__name__)

_PROBE_SECONDS = 120.0  # no request takes longer, retries included
_FAILED = """
INSERT INTO breakers AS b (name, failures, opened_at, retry_at, last_reason, last_failure_at)
VALUES (%(name)s, 1, CASE WHEN %(most)s <= 1 THEN %(now)s END, CASE WHEN %(most)s <= 1 THEN %(retry)s END,
        %(reason)s, %(now)s)
ON CONFLICT (name) DO UPDATE SET
    failures = b.failures + 1, last_reason = excluded.last_reason, last_failure_at = excluded.last_failure_at,
    opened_at = CASE WHEN b.failures + 1 >= %(most)s THEN coalesce(b.opened_at, %(now)s) END,
    retry_at = CASE WHEN b.failures + 1 >= %(most)s THEN %(retry)s END,
    probe_until = NULL
"""
_PROBE = """
UPDATE breakers SET probe_until = %(until)s
WHERE name = %(name)s AND opened_at IS NOT NULL AND retry_at <= %(now)s
AND (probe_until IS NULL OR probe_until <= %(now)s) RETURNING name
"""


@dataclass(frozen=True, slots=True)
class BreakerState:
    """One breaker. `failures` are those in a row; `retry_at` is the next time that anybody asks, None while closed."""

    name: str
    state: Literal["closed", "open", "half_open"]
    failures: int
    opened_at: datetime | None
    retry_at: datetime | None
    last_reason: str
    last_failure_at: datetime


class Breakers:
    """The breakers of a database. `clock` gives the time, with a zone."""

    def __init__(
        self,
        database: Database,
        *,
        failures: int,
        seconds: float,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._failures = failures
        self._pause = timedelta(seconds=seconds)
        self._clock = clock

    @classmethod
    def for_settings(cls, database: Database, settings: BreakerSettings) -> Self:
        """With the limits of the settings."""
        return cls(database, failures=settings.breaker_failures, seconds=settings.breaker_seconds)

    @property
    def spending(self) -> Spending:
        """Where what is asked of endpoints is counted, in the same database."""
        return self._database.spending

    def of(self, kind: str, url: str) -> Breaker:
        """The breaker around the endpoint at `url`, of which only the host is kept."""
        parts = urlsplit(url)
        port = "" if parts.port is None else f":{parts.port}"
        return Breaker(
            f"{kind} {parts.hostname or url}{port}", self._database, self._failures, self._pause, self._clock
        )


@dataclass(frozen=True, slots=True)
class Breaker:
    """One breaker. A database that cannot be reached counts as closed, with a warning in the log."""

    name: str
    database: Database
    failures: int
    pause: timedelta
    clock: Callable[[], datetime]

    async def closed_until(self) -> datetime | None:
        """None where the dependency may be asked, else when the next one may. Who may ask an open one is the probe."""
        now = self.clock()
        try:
            async with self.database.connection() as connection:
                cursor = await connection.execute(
                    "SELECT greatest(retry_at, probe_until) FROM breakers WHERE name = %s AND opened_at IS NOT NULL",
                    (self.name,),
                )
                row = await cursor.fetchone()
                if row is None:
                    return None
                until = now + timedelta(seconds=_PROBE_SECONDS)
                cursor = await connection.execute(_PROBE, {"name": self.name, "now": now, "until": until})
                if await cursor.fetchone() is not None:
                    return None
                retry_at: datetime = row[0]
                return max(retry_at, now + timedelta(seconds=1))
        except StoreError as error:
            logger.warning("breaker %s counts as closed: %s", self.name, error.message)
            return None

    def refusal(self, retry_at: datetime) -> str:
        """Why nobody is asked until then, for people."""
        return f"not asked: it failed {self.failures} times in a row; next try at {retry_at:%H:%M:%S} UTC"

    async def failed(self, reason: str) -> None:
        """Count a transient failure. `reason` holds no secret."""
        now = self.clock()
        values = {"name": self.name, "most": self.failures, "now": now, "retry": now + self.pause, "reason": reason}
        await self._write(_FAILED, values)

    async def succeeded(self) -> None:
        """Close it: the dependency gave a sign of life."""
        await self._write("DELETE FROM breakers WHERE name = %(name)s", {"name": self.name})

    async def _write(self, statement: str, values: dict[str, object]) -> None:
        try:
            async with self.database.connection() as connection:
                await connection.execute(statement.encode(), values)
        except StoreError as error:
            logger.warning("breaker %s was not written: %s", self.name, error.message)


async def breaker_states(connection: AsyncConnection) -> list[BreakerState]:
    """Every breaker whose dependency has failed since it last answered."""
    async with connection.cursor(row_factory=class_row(BreakerState)) as cursor:
        await cursor.execute("SELECT * FROM contract.v_breaker ORDER BY name")
        return await cursor.fetchall()


def spending_of(breakers: Breakers | None) -> Spending:
    """The days of the database that the breakers are kept in; without one days that end with the process."""
    return Spending() if breakers is None else breakers.spending
