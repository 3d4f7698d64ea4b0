"""Run the tasks of a plan side by side: each as soon as those it waits for have ended, none longer than it may.

A task that fails, hangs or answers nonsense costs what it would have brought, and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from webrag_core.errors import WebragError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.orchestration.engine import OrchestratorEngine
from webrag_core.orchestration.events import Progress, Tell, WalkEvent
from webrag_core.result_warnings import Caution
from webrag_core.retrieval.models import RankedChunk
from webrag_core.routing.agents.protocol import Agent, Context
from webrag_core.routing.budget import Ledger
from webrag_core.routing.plan import ExecutionPlan, Task
from webrag_core.routing.results import NOT_NEEDED, Finding, Outcome, Output, TaskError, TaskResult, outcome_of
from webrag_core.trace import span

logger = logging.getLogger(__name__)

OnEnd = Callable[[Task, TaskResult], None]
"""Is called for every task as it ends."""

_COSTS = {
    "corpus": "stored pages were not searched",
    "pages": "no page was read, and no link followed",
    "graph": "what stored pages say about each other is missing",
    "history": "the past was not looked at",
    "tables": "tables were not read cell by cell",
    "api": "documents by identifier were not looked up",
}


@dataclass(frozen=True, slots=True)
class Execution:
    """The results of a plan's tasks, in its order, and what became of it in all. `warnings` say what each loss may have
    cost."""

    plan: ExecutionPlan
    results: list[TaskResult]
    outcome: Outcome
    warnings: list[str]


class Executor:
    """Runs plans over an open corpus, with `agents` by name."""

    def __init__(self, corpus: Corpus, engine: OrchestratorEngine, agents: Mapping[str, Agent]) -> None:
        self._corpus = corpus
        self._engine = engine
        self._agents = agents

    async def execute(
        self,
        plan: ExecutionPlan,
        ledger: Ledger,
        *,
        progress: Progress | None = None,
        tell: Tell | None = None,
        on_end: OnEnd | None = None,
    ) -> Execution:
        """Run every task of a plan without problems (`plan.problems`). Raises nothing that a task raises; a
        cancellation ends all of them. `tell` hears what the loop does, with the id of its task."""
        ended = {task.id: asyncio.Event() for task in plan.tasks}
        results: dict[str, TaskResult] = {}

        async def run(task: Task) -> None:
            for other in task.after:
                await ended[other].wait()
            heard = None if tell is None else _with_task(tell, task.id)
            result = await self._run(task, {name: results[name] for name in task.after}, ledger, progress, heard)
            results[task.id] = result
            ended[task.id].set()
            if on_end is not None:
                on_end(task, result)

        async with asyncio.TaskGroup() as group:
            for task in plan.tasks:
                group.create_task(run(task))
        rows = [results[task.id] for task in plan.tasks]
        outcome = outcome_of(rows, [task.id for task in plan.tasks if task.required])
        warnings = [_loss(task, results[task.id]) for task in plan.tasks if results[task.id].lost]
        return Execution(plan, rows, outcome, warnings)

    async def _run(
        self,
        task: Task,
        earlier: Mapping[str, TaskResult],
        ledger: Ledger,
        progress: Progress | None,
        tell: Tell | None,
    ) -> TaskResult:
        if task.unless is not None and any(item.output.complete >= task.unless for item in earlier.values()):
            return _skipped(task, NOT_NEEDED, "the others found enough")
        seconds = min(task.deadline, ledger.seconds_for_tasks)
        if seconds <= 0:
            return _skipped(task, "out_of_time", "the time of the answer was used up (ANSWER_SECONDS)")
        agent = self._agents.get(task.agent)
        if agent is None:
            error = TaskError(code="unknown_agent", message=f"there is no agent {task.agent}")
            return TaskResult(task.id, "error", error=error)
        context = Context(self._corpus, self._engine, seconds, progress, tell)
        begun = time.perf_counter()
        result = await _outcome(task, agent, context)
        result.milliseconds = round((time.perf_counter() - begun) * 1000, 1)
        return result


def _with_task(tell: Tell, task_id: str) -> Tell:
    def tell_with_task(event: WalkEvent) -> None:
        tell(event.model_copy(update={"task": task_id}))

    return tell_with_task


async def _outcome(task: Task, agent: Agent, context: Context) -> TaskResult:
    limit = asyncio.timeout(context.seconds)
    try:
        with span("task", agent=task.agent, kind=task.params.kind):
            async with limit:
                output = await agent.run(task, context)
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if current is None or current.cancelling():
            raise  # the whole plan is, not only something that the agent waited for
        gone = TaskError(code="cancelled", message="what the agent waited for was cancelled")
        return TaskResult(task.id, "cancelled", error=gone)
    except WebragError as error:
        return _failed(task, error)
    except Exception as error:  # whatever an agent does, its siblings go on
        if limit.expired():
            late = TaskError(code="timeout", message=f"no result within {context.seconds:.3g} s")
            return TaskResult(task.id, "timeout", error=late, cause=error)
        logger.exception("task %s of agent %s failed", task.id, task.agent)
        broken = TaskError(code="internal_error", message=f"the agent failed ({type(error).__name__}); see the log")
        return TaskResult(task.id, "error", error=broken, cause=error)
    if not _is_output(output):
        shape = TaskError(
            code="bad_output", message=f"the agent answered with no sound result ({type(output).__name__})"
        )
        return TaskResult(task.id, "error", error=shape)
    return TaskResult(task.id, "empty" if output.is_empty else "success", output)


def _failed(task: Task, error: WebragError) -> TaskResult:
    details = TaskError(code=error.code, message=error.message, retry_at=error.retry_at)
    if error.retry_at is not None:
        return TaskResult(task.id, "skipped", error=details.model_copy(update={"code": "circuit_open"}), cause=error)
    return TaskResult(task.id, "error", error=details, cause=error)


def _skipped(task: Task, code: str, message: str) -> TaskResult:
    return TaskResult(task.id, "skipped", error=TaskError(code=code, message=message))


def _is_output(output: object) -> bool:
    """Python checks no types: an agent may come from elsewhere."""
    return (
        isinstance(output, Output)
        and _all(output.evidence, RankedChunk)
        and _all(output.findings, Finding)
        and _all(output.warnings, Caution)
        and isinstance(output.note, str)
        and all(isinstance(item, int | float) and 0 <= item <= 1 for item in (output.complete, output.top_score))
    )


def _all(values: object, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _loss(task: Task, result: TaskResult) -> str:
    """What a lost task may have cost, for people."""
    assert result.error is not None
    return f"{task.agent} gave nothing ({result.error.message}): {_COSTS.get(task.agent, 'its part is missing')}"
