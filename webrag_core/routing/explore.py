"""Chance in plans, so that something can be learnt of the tasks that would always be run: off unless ROUTE_EXPLORE."""

from __future__ import annotations

import random

from webrag_core.routing.plan import ExecutionPlan


def explored(plan: ExecutionPlan, share: float, chance: random.Random) -> ExecutionPlan:
    """The plan, each task left out with probability `share`, in [0, 1), that is not required and that none waits for;
    not all of them. `propensities` are the probabilities with which the tasks that could have been left out stayed."""
    needed = {one for task in plan.tasks for one in task.after}
    optional = {task.id for task in plan.tasks if not task.required and task.id not in needed}
    if not share or len(plan.tasks) < 2:
        return plan
    left = [task for task in plan.tasks if task.id not in optional or chance.random() >= share]
    if not left:
        return plan
    propensities = {task.id: 1 - share for task in left if task.id in optional}
    return plan.model_copy(update={"tasks": left, "propensities": propensities})
