"""Answers that are the lists of one page: how a thing is made, what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.compose.draft import LIKELY, Draft
from webrag_core.answering.compose.say import say
from webrag_core.answering.compose.select import Choice


def listed_on_one_page(draft: Draft) -> list[int]:
    """The units of the lists that the only part of a question asks for, of the page of the best, as they
    stand on it."""
    meant = [index for index in draft.scores[0].order if draft.meant[0][index] == draft.meant[0].max()]
    version = draft.units[meant[0]].chunk.version_id if meant else None
    on_page = (index for index in meant if draft.units[index].chunk.version_id == version)
    return sorted(on_page, key=lambda index: draft.units[index].start)


def of_one_page(choices: Sequence[Choice], meant: NDArray[np.int8]) -> list[Choice]:
    """The choices from lists that are `meant`, of the page of the first alone, as they stand on it: lists of two pages
    are two things. A list that is likely meant is said under the name of its page, which tells its kind. All choices
    where none is meant."""
    entries = {choice.entry for choice in choices if meant[choice.index]}
    lists = [choice for choice in choices if choice.entry in entries]
    if not lists:
        return list(choices)
    page = lists[0].saying.unit.chunk.version_id
    lists = [choice for choice in lists if choice.saying.unit.chunk.version_id == page]
    lists.sort(key=lambda choice: choice.saying.unit.start)
    unit = lists[0].saying.unit
    name = next(iter(unit.heading_path), unit.chunk.title or "")
    if name and max(meant[choice.index] for choice in lists) == LIKELY:
        named = say(unit, introduces=True, label=name)
        lists[0] = lists[0] if named is None else replace(lists[0], saying=named)
    return lists
