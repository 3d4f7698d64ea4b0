"""Token budgets: one rule for retrieval and for the final evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def within_budget(items: Iterable[Item], budget: int, tokens: Callable[[Item], int]) -> list[Item]:
    """Take items in the given order while they fit `budget` tokens; what does not fit is skipped. At least one."""
    kept: list[Item] = []
    used = 0
    for item in items:
        cost = tokens(item)
        if used + cost <= budget or not kept:
            kept.append(item)
            used += cost
    return kept
