"""Which stored pages a run may search. Light: launchpads are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

RunScope = Literal["run", "source", "all"]
"""What a run may search: only what it took in, everything stored of its start pages' sources, or the whole corpus."""


def run_scope(names: Sequence[str]) -> RunScope | tuple[str, ...] | None:
    """The scope that one word ("run", "source", "all") or names of sources stand for; None without any."""
    words: dict[str, RunScope] = {word: word for word in get_args(RunScope)}
    if len(names) > 1:
        return tuple(names)
    return words.get(names[0], tuple(names)) if names else None
