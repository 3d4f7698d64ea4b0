"""What the database does for a program under measurement: its processor time, the statements and bytes, and the floor.

The floor of a phase is what the same statements cost alone: they are sent again as they were, in one pipeline and one
snapshot, and no row is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import AsyncConnection, AsyncCursor

from webrag_core.store.database import Database


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as it was sent, and the phase that sent it."""

    phase: str
    query: Any
    parameters: Any
    prepare: bool | None
    binary: bool

    async def send(self, connection: AsyncConnection) -> AsyncCursor:
        """Send it again."""
        return await connection.execute(self.query, self.parameters, prepare=self.prepare, binary=self.binary)

    async def can_be_sent(self, connection: AsyncConnection) -> bool:
        """Whether the read-only transaction of the connection takes it, and goes on."""
        if str(self.query).startswith(("BEGIN", "COMMIT")):
            return False
        try:
            async with connection.transaction():
                await self.send(connection)
        except psycopg.Error:
            return False
        return True


@dataclass(slots=True)
class Floor:
    """Of the statements of a phase: how many there are, the bytes of their results, and what they cost alone, in ms by
    the clock and in CPU time of client and server."""

    statements: int = 0
    bytes: int = 0
    ms: float = 0.0
    cpu_ms: float = 0.0
    server_cpu_ms: float = 0.0

    def add(self, other: Floor) -> None:
        """Take in the floor of another run."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)

    def mean(self, runs: int) -> dict[str, float]:
        """By name, per run."""
        return {name: round(value / runs, 2) for name, value in asdict(self).items()}


async def servers_of(database: Database) -> list[int]:
    """Processes that serve this program's connections."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
        )
        return [int(row[0]) for row in await cursor.fetchall()]


def server_ms(servers: Sequence[int]) -> float:
    """CPU time of these processes so far, in ms."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in servers) / 1e6


def cluster_seconds(home: Path) -> float:
    """CPU seconds so far of the embedded server in `home`: of its first process, its living ones and the ended ones."""
    pid = int((home / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])
    postmaster = psutil.Process(pid)
    times = postmaster.cpu_times()
    total = times.user + times.system + times.children_user + times.children_system
    for child in postmaster.children():
        with suppress(psutil.NoSuchProcess):  # it ended meanwhile
            spent = child.cpu_times()
            total += spent.user + spent.system
    return float(total)


@contextmanager
def recorded(phase: Callable[[], str]) -> Iterator[list[Statement]]:
    """The statements that are sent while it is open, each with the phase that is current then."""
    statements: list[Statement] = []
    execute: Any = psycopg.AsyncCursor.execute

    async def record(cursor: Any, query: Any, params: Any = None, **options: Any) -> Any:
        binary = bool(options.get("binary")) or cursor.format is psycopg.pq.Format.BINARY
        statements.append(Statement(phase(), query, params, options.get("prepare"), binary))
        return await execute(cursor, query, params, **options)

    psycopg.AsyncCursor.execute = record  # type: ignore[method-assign, assignment]
    try:
        yield statements
    finally:
        psycopg.AsyncCursor.execute = execute  # type: ignore[method-assign]


async def floors(database: Database, statements: Sequence[Statement]) -> dict[str, Floor]:
    """The floor of each phase. Statements that write, begin or end are counted, and cost nothing here."""
    results: dict[str, Floor] = {}
    async with database.snapshot() as connection:
        pid = connection.info.backend_pid
        for phase in dict.fromkeys(statement.phase for statement in statements):
            floor = results[phase] = Floor()
            mine = [statement for statement in statements if statement.phase == phase]
            floor.statements = len(mine)
            mine = [statement for statement in mine if await statement.can_be_sent(connection)]
            clock, cpu, server = time.perf_counter(), time.process_time(), server_ms([pid])
            async with connection.pipeline():
                cursors = [await statement.send(connection) for statement in mine]
            floor.ms = (time.perf_counter() - clock) * 1000
            floor.server_cpu_ms = server_ms([pid]) - server
            floor.cpu_ms = (time.process_time() - cpu) * 1000 + floor.server_cpu_ms
            floor.bytes = sum(_bytes_of(cursor.pgresult) for cursor in cursors)
    return results


def _bytes_of(result: Any) -> int:
    if result is None:
        return 0
    return sum(
        len(result.get_value(row, column) or b"") for row in range(result.ntuples) for column in range(result.nfields)
    )
