"""A plan and what became of its tasks, line by line, for people."""

from __future__ import annotations

from collections.abc import Sequence

from webrag_core.percentages import percent
from webrag_core.routing.plan import ExecutionPlan, Task
from webrag_core.routing.results import TaskReport, is_needed
from webrag_core.routing.task_words import task_words


def plan_lines(plan: ExecutionPlan) -> list[str]:
    """Each task with who is asked for what, and when."""
    return [f"{task.id}: {task.agent} – {task_words(task.params)}{_when(task, plan)}" for task in plan.tasks]


def limits_line(plan: ExecutionPlan) -> str:
    """What the answer may cost."""
    budget, again = plan.budget, plan.iteration.max_iterations - 1
    more = f", {again} more plan{'' if again == 1 else 's'} for what is open" if again else ""
    return f"at most {budget.seconds:g} s, {budget.chat_calls} exchanges with a chat model{more}"


def task_lines(tasks: Sequence[TaskReport]) -> list[str]:
    """Each task with how it ended."""
    return [f"{task.id}: {task.agent} – {task.asked}: {ending(task)}" for task in tasks]


def ending(task: TaskReport) -> str:
    """How a task ended, and what it brought."""
    if not is_needed(task.status, task.error):
        return "not needed"
    if task.error is not None:
        again = "" if task.error.retry_at is None else f"; next try {task.error.retry_at:%H:%M:%S} UTC"
        return f"{task.status}: {task.error.message}{again}"
    if task.status == "empty":
        return f"nothing{f' ({task.note})' if task.note else ''}, {task.milliseconds:.0f} ms"
    brought = [
        f"{count} {word}"
        for count, word in (
            (task.passages, "passages"),
            (task.findings, "places" if task.findings > 1 else "place"),
            (task.pages, "pages fetched"),
        )
        if count
    ]
    return f"{', '.join(brought) or 'done'}, {task.milliseconds:.0f} ms"


def _when(task: Task, plan: ExecutionPlan) -> str:
    notes = []
    if len(plan.parts) > 1 and task.params.kind in ("corpus.search", "pages.walk") and task.sub_question:
        notes.append(f"part {task.sub_question + 1}")
    if task.after:
        notes.append(f"after {', '.join(task.after)}")
    if task.unless is not None:
        notes.append(f"unless that is complete with {percent(task.unless)}")
    if task.required:
        notes.append("required")
    return f" ({', '.join(notes)})" if notes else ""
