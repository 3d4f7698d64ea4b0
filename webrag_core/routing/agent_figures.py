"""How agents have done lately: tasks by their ending, and how long they took."""

from __future__ import annotations

from datetime import datetime

from psycopg import AsyncConnection
from psycopg.rows import class_row
from pydantic import BaseModel

from webrag_core.readable import counted


class AgentFigures(BaseModel):
    """The tasks of one agent: `dispatched` were begun, `succeeded` (`empty` among them: with nothing), `failed`
    or ended by their deadline (`timeouts`); `skipped` were not begun. Percentiles are wall milliseconds of those that
    succeeded, None without any."""

    agent: str
    dispatched: int
    succeeded: int
    empty: int
    failed: int
    timeouts: int
    skipped: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None

    @property
    def text(self) -> str:
        """One line for people."""
        parts = [counted(self.dispatched, "task"), f"{self.succeeded:,} succeeded"]
        parts += [f"{count:,} {name}" for name in ("failed", "timeouts", "skipped") if (count := getattr(self, name))]
        shares = (("half", self.p50_ms), ("95 %", self.p95_ms), ("99 %", self.p99_ms))
        parts += [f"{share} within {wait:,.0f} ms" for share, wait in shares if wait is not None]
        return f"{self.agent}: {', '.join(parts)}"


_FIGURES = """
SELECT t.agent, count(*) FILTER (WHERE t.status <> 'skipped') AS dispatched,
       count(*) FILTER (WHERE t.status IN ('success', 'empty')) AS succeeded,
       count(*) FILTER (WHERE t.status = 'empty') AS empty,
       count(*) FILTER (WHERE t.status IN ('error', 'cancelled')) AS failed,
       count(*) FILTER (WHERE t.status = 'timeout') AS timeouts,
       count(*) FILTER (WHERE t.status = 'skipped') AS skipped,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY s.milliseconds) AS p50_ms,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY s.milliseconds) AS p95_ms,
       percentile_cont(0.99) WITHIN GROUP (ORDER BY s.milliseconds) AS p99_ms
FROM route_tasks t JOIN answer_runs r ON r.id = t.answer_id,
     LATERAL (SELECT CASE WHEN t.status IN ('success', 'empty') THEN t.milliseconds END AS milliseconds) s
WHERE r.started_at >= %s GROUP BY t.agent ORDER BY t.agent
"""


async def agent_figures(connection: AsyncConnection, since: datetime) -> list[AgentFigures]:
    """Count the tasks of answers since a time, by agent."""
    async with connection.cursor(row_factory=class_row(AgentFigures)) as cursor:
        await cursor.execute(_FIGURES, (since,))
        return await cursor.fetchall()


async def replaced_plans(connection: AsyncConnection, since: datetime) -> int:
    """How many first plans since a time were made otherwise than WEBRAG_ROUTER says: a model failed, or what was
    planned could not be run."""
    cursor = await connection.execute(
        "SELECT count(*) FROM answer_runs WHERE started_at >= %s AND plan -> 'warnings' <> '[]'", (since,)
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])
