"""Agent `pages`: read pages and follow their links, by the loop."""

from __future__ import annotations

from webrag_core.orchestration.engine import AnswerRequest
from webrag_core.routing.agents.protocol import Context
from webrag_core.routing.plan import PagesWalk, Task
from webrag_core.routing.results import Output

_RESERVE = 0.9  # share of the task's time after which the loop ends with what it has


class PagesAgent:
    """Implements `Agent`."""

    async def run(self, task: Task, context: Context) -> Output:
        """Run the loop. It ends by itself, with what it has, before its time is up."""
        params = task.params
        assert isinstance(params, PagesWalk)
        request = AnswerRequest(
            urls=tuple(params.urls),
            question=params.query,
            mode="chunk",
            expansion_budget=params.expansion_budget,
            max_age=params.max_age,
            intent=params.intent,
            constraints=tuple(params.constraints),
            scope=tuple(params.sources) or None,
            seconds=_RESERVE * context.seconds,
        )
        return Output.of_run(await context.engine.run(request, context.progress, tell=context.tell))
