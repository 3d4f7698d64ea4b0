"""The next plan, for the parts of a question that the first one left open."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from webrag_core.routing.execute import Execution
from webrag_core.routing.plan import CorpusSearch, ExecutionPlan, PagesWalk, Task


def follow_up(executions: Sequence[Execution], open_parts: Collection[int]) -> ExecutionPlan | None:
    """A plan that looks for each open part (index) by itself, where the first one looked for the whole question; None
    for a question without parts, and when all of that was done already."""
    plan = executions[0].plan
    if len(plan.parts) < 2:
        return None
    done = {_what(task) for one in executions for task in _asked(one)}
    walked = any(isinstance(task.params, PagesWalk) for one in executions for task in _asked(one))
    tasks: list[Task] = []
    for part in sorted(open_parts):
        search, walk = (_about(plan, kind, plan.parts[part], part) for kind in (CorpusSearch, PagesWalk))
        if search is not None and not walked and _what(search) not in done:
            tasks.append(search)
            if walk is not None:
                unless = next(task.unless for task in plan.tasks if isinstance(task.params, PagesWalk))
                tasks.append(walk.model_copy(update={"after": [search.id], "unless": unless}))
        elif walk is not None and walked and _what(walk) not in done:
            tasks.append(walk)
    if not tasks:
        return None
    rationale = "what is still open is looked for once more, part by part"
    return plan.model_copy(update={"tasks": tasks, "rationale": rationale, "warnings": []})


def _about(plan: ExecutionPlan, kind: type, part: str, number: int) -> Task | None:
    """The plan's first task of a kind, about one part of the question."""
    template = next((task for task in plan.tasks if isinstance(task.params, kind)), None)
    if template is None:
        return None
    changes = {
        "id": f"{template.id.partition('_')[0]}_again_{number + 1}",
        "params": template.params.model_copy(update={"query": part}),
        "sub_question": number,
    }
    return template.model_copy(update={**changes, "after": [], "unless": None, "required": False})


def _asked(execution: Execution) -> list[Task]:
    """The tasks that were not skipped as needless."""
    return [task for task, result in zip(execution.plan.tasks, execution.results, strict=True) if result.needed]


def _what(task: Task) -> tuple[str, str]:
    return task.params.kind, getattr(task.params, "query", "")
