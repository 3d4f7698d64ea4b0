"""Highlights: what is shown when no answer can be given. The nearest passages, their likeliest sentences marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from webrag_core.answering.units import OPEN_ENDS, Unit
from webrag_core.language.word_count import word_count

MAX_WORDS = 400
_WORD = re.compile(r"[^\W_]{2}")
_LEAST_WORDS = 4  # of a unit without a lead
_ANNOUNCED_WORDS = 120  # behind a colon
_MARKED = 6  # likeliest sentences, of all highlights together


@dataclass(frozen=True, slots=True)
class Shown:
    """Consecutive units of one page, as their indexes, and the indexes of the likeliest among them."""

    units: tuple[int, ...]
    marked: tuple[int, ...]


def highlights(units: Sequence[Unit], order: Sequence[int], max_words: int = MAX_WORDS) -> list[Shown]:
    """Passages around the first units of `order` (indexes, best first), of together `max_words` words.

    A unit comes with its neighbours under the same heading, while half of the room is not used up by them. Where the
    one behind it ends in a colon, what that announces comes, too: terms and their descriptions.
    """
    words = [word_count(unit.text) for unit in units]
    room = max_words
    members: dict[int, None] = {}
    likely: list[int] = []
    for index in order:
        least = 1 if units[index].lead else _LEAST_WORDS
        if not least <= words[index] <= room or units[index].text.endswith(OPEN_ENDS):
            continue
        if index not in members:
            members[index] = None
            room -= words[index]
        likely.append(index)
        for near in (index - 1, index + 1):
            fits = 0 <= near < len(units) and near not in members and words[near] <= room - max_words // 2
            if fits and _together(units[index], units[near]):
                members[near] = None
                room -= words[near]
        for after in _announced(units, [each for each in (index, index + 1) if each in members]):
            if words[after] > room:
                break
            if after not in members:
                members[after] = None
                room -= words[after]
    return [Shown(run, tuple(index for index in run if index in likely[:_MARKED])) for run in _runs(units, members)]


def _runs(units: Sequence[Unit], members: dict[int, None]) -> list[tuple[int, ...]]:
    """The member units as runs of neighbours, in the order in which their first was members."""
    runs: list[list[int]] = []
    for index in sorted(members):
        if runs and runs[-1][-1] == index - 1 and _reads_on(units, runs[-1], index):
            runs[-1].append(index)
        else:
            runs.append([index])
    place = {index: number for number, index in enumerate(members)}
    return [tuple(run) for run in sorted(runs, key=lambda run: min(place[index] for index in run))]


def _reads_on(units: Sequence[Unit], run: Sequence[int], index: int) -> bool:
    """Whether a unit goes on with the run that ends before it."""
    return _together(units[run[-1]], units[index]) or index in _announced(units, run)


def _announced(units: Sequence[Unit], members: Sequence[int]) -> list[int]:
    """What follows the last of these units that ends in a colon, up to the end of its section."""
    lead = next((index for index in reversed(members) if units[index].text.endswith(OPEN_ENDS)), None)
    if lead is None:
        return []
    announced: list[int] = []
    left = _ANNOUNCED_WORDS
    for after in range(lead + 1, len(units)):
        before, unit = units[after - 1], units[after]
        left -= word_count(unit.text)
        if left < 0 or not unit.stands_below(units[lead]) or _WORD.search(before.slice((before.end, unit.start))):
            break
        announced.append(after)
    return announced


def _together(item: Unit, other: Unit) -> bool:
    """Whether two units stand in one passage under one heading, and nothing but marks between them: what was left out
    of the pool must not come back with a passage."""
    first, second = sorted((item, other), key=lambda unit: unit.start)
    return item.stands_with(other) and not _WORD.search(item.slice((first.end, second.start)))
