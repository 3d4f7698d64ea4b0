"""Plans by a fitted model: where pages could be read or not, the way with the best expected utility."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from webrag_core.routing import plan
from webrag_core.routing.expected import Arm, digest, expected
from webrag_core.routing.features import Read
from webrag_core.routing.router_rules import GROUND, plan_by_rules, search_task, walk_task

_OPEN = frozenset({"new_page", "partly_stored", "stored_site"})
"""Ground rules between whose ways the model chooses; where they do not fire there is only one way."""


def best_arm(read: Read) -> Arm:
    """The way with the best expected utility (`routing.expected`)."""
    return max(get_args(Arm), key=lambda arm: expected(arm, read.features).utility)


def plan_by_model(
    read: Read, budget: plan.Budget, iteration: plan.Iteration, agents: Sequence[str]
) -> plan.ExecutionPlan:
    """As `plan_by_rules`, with the model's way where there is more than one."""
    made = plan_by_rules(read, budget, iteration, agents)
    ground = next(rule for rule in GROUND if rule.fires(read))
    own = {task.id for task in ground.tasks(read)}
    if ground.id not in _OPEN or not own <= {task.id for task in made.tasks}:
        return made
    arm = best_arm(read)
    others = [task for task in made.tasks if task.id not in own]
    chosen = {
        "search": [search_task(read, required=True)],
        "walk": [walk_task(read, required=True)],
        "both": [search_task(read), walk_task(read)],
    }[arm]
    estimate = expected(arm, read.features)
    return made.model_copy(
        update={
            "tasks": [*others, *(plan.within(task, budget) for task in chosen)],
            "made_by": f"model {digest()}",
            "rationale": f"{arm}: all of the evidence with probability {estimate.found:.2f}, {estimate.pages:.0f}"
            f" pages, {estimate.seconds:.1f} s",
        }
    )
