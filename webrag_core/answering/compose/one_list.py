"""Answers that are the lists of one page: how a thing is made, what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.compose.draft import LIKELY
from webrag_core.answering.compose.say import say
from webrag_core.answering.compose.select import Choice


def of_one_page(choices: Sequence[Choice], meant: NDArray[np.int8]) -> list[Choice]:
    """The choices (in reading order) from lists that are `meant`, of the page of the first alone: lists of two pages
    are two things. A list that is likely meant is said under the name of its page, which tells its kind. All choices
    where none is meant."""
    entries = {choice.entry for choice in choices if meant[choice.index]}
    lists = [choice for choice in choices if choice.entry in entries]
    if not lists:
        return list(choices)
    unit = lists[0].saying.unit
    lists = [choice for choice in lists if choice.saying.unit.chunk.version_id == unit.chunk.version_id]
    name = next(iter(unit.heading_path), unit.chunk.title or "")
    if name and max(meant[choice.index] for choice in lists) == LIKELY:
        named = say(unit, introduces=True, label=name)
        lists[0] = lists[0] if named is None else replace(lists[0], saying=named)
    return lists
