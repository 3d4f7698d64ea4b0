"""The next plan, for the parts of a question that the first one left open."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from webrag_core.routing.execute import Execution
from webrag_core.routing.plan import CorpusSearch, ExecutionPlan, PagesWalk, Task


def follow_up(
    executions: Sequence[Execution], open_parts: Collection[int], missing: Sequence[str] = ()
) -> ExecutionPlan | None:
    """A plan that looks for each open part (index) by itself, where the first one looked for the whole question, and of
    a question without parts for what a judge calls `missing`; None when there is neither, and when all of that was done
    already."""
    plan = executions[0].plan
    looked_for = [(part, part, plan.parts[part]) for part in sorted(open_parts)] if len(plan.parts) > 1 else []
    looked_for = looked_for or [(number, 0, search) for number, search in enumerate(missing)]
    done = {_what(task) for execution in executions for task in _open_tasks(execution)}
    walked = any(isinstance(task.params, PagesWalk) for execution in executions for task in _open_tasks(execution))
    tasks: list[Task] = []
    for number, part, text in looked_for:
        search, walk = (_about(plan, kind, text, part, number) for kind in (CorpusSearch, PagesWalk))
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


def _about(plan: ExecutionPlan, kind: type, text: str, part: int, number: int) -> Task | None:
    """The plan's first task of a kind, about `text` instead, for a part (index) of the question."""
    template = next((task for task in plan.tasks if isinstance(task.params, kind)), None)
    if template is None:
        return None
    changes = {
        "id": f"{template.id.partition('_')[0]}_again_{number + 1}",
        "params": template.params.model_copy(update={"query": text}),
        "sub_question": part,
    }
    return template.model_copy(update={**changes, "after": [], "unless": None, "required": False})


def _open_tasks(execution: Execution) -> list[Task]:
    """The tasks that were not skipped as needless."""
    return [task for task, result in zip(execution.plan.tasks, execution.results, strict=True) if result.needed]


def _what(task: Task) -> tuple[str, str]:
    return task.params.kind, getattr(task.params, "query", "")
