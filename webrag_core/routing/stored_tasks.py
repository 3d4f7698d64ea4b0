"""Tables of plans: what each task was and brought. Text is left out, and read again from the stored versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb
from pydantic import TypeAdapter

from webrag_core.corpus.version_texts import version_texts
from webrag_core.errors import InvalidInputError
from webrag_core.routing.execute import Execution
from webrag_core.routing.plan import ExecutionPlan, Task
from webrag_core.routing.results import NOT_NEEDED, Output, TaskError, TaskResult, outcome_of
from webrag_core.trace import current_trace_id

_OUTPUT = TypeAdapter(Output)


async def record_plan(connection: AsyncConnection, answer_id: int, plan: ExecutionPlan) -> None:
    """Store the first plan of a registered answer."""
    await connection.execute(
        "UPDATE answer_runs SET plan = %s WHERE id = %s", (Jsonb(plan.model_dump(mode="json")), answer_id)
    )


async def record_tasks(connection: AsyncConnection, answer_id: int, iteration: int, execution: Execution) -> None:
    """Store what became of each task of a plan."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO route_tasks (answer_id, iteration, ordinal, id, agent, kind, params, status, error,"
            " milliseconds, output, trace_id) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (
                    answer_id,
                    iteration,
                    ordinal,
                    task.id,
                    task.agent,
                    task.params.kind,
                    Jsonb(task.model_dump(mode="json", exclude={"id"})),
                    result.status,
                    None if result.error is None else Jsonb(result.error.model_dump(mode="json")),
                    result.milliseconds,
                    Jsonb(_without_text(result.output)),
                    current_trace_id(),
                )
                for ordinal, (task, result) in enumerate(zip(execution.plan.tasks, execution.results, strict=True))
            ],
        )


async def load_plan(connection: AsyncConnection, answer_id: int) -> ExecutionPlan:
    """The first plan of an answer in prose. Raises InvalidInputError where there is none."""
    cursor = await connection.execute("SELECT plan FROM answer_runs WHERE id = %s", (answer_id,))
    row = await cursor.fetchone()
    if row is None or row[0] is None:
        raise InvalidInputError(f"answer {answer_id} has no plan: it is not in prose, or older than plans")
    row[0].pop("propensities", None)  # of earlier versions
    return ExecutionPlan.model_validate(row[0])


async def load_executions(connection: AsyncConnection, answer_id: int) -> list[Execution]:
    """What became of the plans of an answer, with the text of all evidence. Raises InvalidInputError where it is no
    longer kept."""
    first = await load_plan(connection, answer_id)
    cursor = await connection.execute(
        "SELECT iteration, id, params, status, error, milliseconds, output FROM route_tasks WHERE answer_id = %s"
        " ORDER BY iteration, ordinal",
        (answer_id,),
    )
    rows = await cursor.fetchall()
    texts = await _texts(connection, [row[-1] for row in rows])
    tasks: dict[int, list[Task]] = {}
    results: dict[int, list[TaskResult]] = {}
    for iteration, name, params, status, error, milliseconds, output in rows:
        tasks.setdefault(iteration, []).append(Task.model_validate({"id": name, **params}))
        results.setdefault(iteration, []).append(
            TaskResult(
                name,
                status,
                _with_text(output, texts),
                None if error is None else TaskError.model_validate(error),
                milliseconds,
            )
        )
    return [
        Execution(
            first.model_copy(update={"tasks": outputs}),
            results[iteration],
            outcome_of(results[iteration], [task.id for task in outputs if task.required]),
            [],
        )
        for iteration, outputs in tasks.items()
    ]


def _without_text(output: Output) -> dict[str, Any]:
    row: dict[str, Any] = _OUTPUT.dump_python(output, mode="json")
    for item in row["evidence"]:
        del item["chunk"]["text"]
    row["warnings"] = [warning.stored for warning in output.warnings]
    return row


def _with_text(output: dict[str, Any], texts: dict[int, str]) -> Output:
    for item in output["evidence"]:
        chunk = item["chunk"]
        chunk.pop("graph", None)  # of earlier versions
        chunk["text"] = texts[chunk["version_id"]][chunk["char_start"] : chunk["char_end"]]
    return _OUTPUT.validate_python(output)


async def _texts(connection: AsyncConnection, outputs: Sequence[dict[str, Any]]) -> dict[int, str]:
    versions = {item["chunk"]["version_id"] for output in outputs for item in output["evidence"]}
    texts = await version_texts(connection, versions)
    if len(texts) < len(versions):
        raise InvalidInputError(
            f"of the {len(versions)} texts that the evidence is from, {len(versions) - len(texts)} are no longer kept"
        )
    return texts


@dataclass(frozen=True, slots=True)
class LostTasks:
    """Of the answers with a plan since a time: how many there are, how many lost a task, and which (agent, code,
    message) how often."""

    answers: int
    degraded: int
    losses: list[tuple[str, str, str, int]]


async def lost_tasks(connection: AsyncConnection, since: datetime) -> LostTasks:
    """What answers have lost since a time."""
    cursor = await connection.execute(
        "WITH recent AS (SELECT id FROM answer_runs WHERE plan IS NOT NULL AND started_at >= %(since)s),"
        " lost AS (SELECT t.* FROM route_tasks t JOIN recent r ON r.id = t.answer_id"
        "  WHERE t.status IN ('error', 'timeout', 'cancelled')"
        "  OR (t.status = 'skipped' AND t.error ->> 'code' <> %(not_needed)s))"
        " SELECT (SELECT count(*) FROM recent), (SELECT count(DISTINCT answer_id) FROM lost),"
        " (SELECT coalesce(jsonb_agg(jsonb_build_array(l.agent, l.code, l.message, l.times)"
        "  ORDER BY l.times DESC), '[]')"
        "  FROM (SELECT agent, error ->> 'code' AS code, min(error ->> 'message') AS message, count(*) AS times"
        "   FROM lost GROUP BY 1, 2) l)",
        {"since": since, "not_needed": NOT_NEEDED},
    )
    row = await cursor.fetchone()
    assert row is not None
    return LostTasks(row[0], row[1], [tuple(item) for item in row[2]])
