"""Entries: units that are said together or not at all. A list with its introduction, code with the sentence that
introduces it; any other unit is an entry of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count, takewhile

from webrag_core.answering.units import OPEN_ENDS, Unit
from webrag_core.indexing.terms import terms
from webrag_core.routing.question import Form

_WHOLE_LISTS: frozenset[Form] = frozenset(("steps", "list"))


def entry_of(units: Sequence[Unit], index: int, form: Form) -> list[int]:
    """Indexes of the units of the entry around unit `index`, in their order. In the forms `steps` and `list` an item or
    a table row brings all of them; in others it stands alone, an item after its lead where that ends in a colon or a
    dash. A term alone says nothing: the beginning of what is said of it does. So does a question that the page asks:
    what it says next answers it. What ends in a colon or a dash brings the terms behind it, with what is said of
    them."""
    unit = units[index]
    if unit.kind == "term":
        described = _description(units, index)
        return [index] if described is None else entry_of(units, described, form)
    if unit.asks:
        answer = _answer_of(units, index)
        return [index] if answer is None else entry_of(units, answer, form)
    if unit.is_listed:
        if form in _WHOLE_LISTS:
            items = run_around(units, index)
            return [*_lead(units, items[0]), *items]
        if unit.header is not None:
            return [index]
        return [*(_lead_of_item(units, index) if unit.lead.endswith(OPEN_ENDS) else ()), index]
    if unit.kind == "code":
        return [*_lead(units, index), index]
    after = _introduced(units, index)
    if after and (unit.text.endswith(OPEN_ENDS) or form in _WHOLE_LISTS or units[after[0]].kind == "code"):
        return [index, *after]
    return [index, *_described_behind(units, index)] if unit.text.endswith(OPEN_ENDS) else [index]


def beginning_of(units: Sequence[Unit], index: int, named: frozenset[str]) -> int:
    """The first unit under the term or the heading (not the page's) of unit `index`, where all its words are `named`
    (terms of the question): what is asked for is said from its beginning. Else the unit itself."""
    heading = frozenset(terms(next(reversed(units[index].heading_path[1:]), "")))
    first = index
    while heading and heading <= named and first > 0 and units[first - 1].stands_with(units[first]):
        first -= 1
    return first


def without_idle_lead(units: Sequence[Unit], members: list[int], whole: int) -> list[int]:
    """The members of an entry of `whole` units that are left, without a lead that is a sentence of its own where a
    single item or row is left: what it announces is not said."""
    is_idle = len(members) == 2 < whole and not units[members[0]].is_listed and units[members[1]].is_listed
    return members[1:] if is_idle and not units[members[0]].text.endswith(OPEN_ENDS) else members


def run_around(units: Sequence[Unit], index: int) -> list[int]:
    """The items of the list in which unit `index` stands; of a heading that names a step, those of all steps."""
    if units[index].step is not None:
        return steps_around(units, index)
    first, last = index, index
    while first > 0 and same_list(units[first - 1], units[first]):
        first -= 1
    while last + 1 < len(units) and same_list(units[last], units[last + 1]):
        last += 1
    return list(range(first, last + 1))


def steps_around(units: Sequence[Unit], index: int) -> list[int]:
    """The headings that name the steps of one procedure, in order from the first step; the unit alone where it is not
    among them, since a step before it is missing."""
    place = units[index]
    section = (place.chunk.version_id, place.heading_path)
    by_number: dict[int, int] = {}
    for member, unit in enumerate(units):
        if unit.step is not None and (unit.chunk.version_id, unit.heading_path) == section:
            by_number.setdefault(unit.step, member)
    steps = [by_number[number] for number in takewhile(by_number.__contains__, count(1))]
    return steps if index in steps else [index]


def same_list(unit: Unit, other: Unit) -> bool:
    """Whether two neighbours are items of one list, or rows of one table."""
    alike = unit.is_item == other.is_item and unit.header == other.header
    return unit.is_listed and alike and unit.stands_with(other) and unit.lead == other.lead


def procedure_near(units: Sequence[Unit], candidates: Iterable[int], place: Unit) -> int | None:
    """The first of the `candidates` that is an item, a row or code of the section that the unit `place` stands in, or
    names a step of the procedure that `place` is a part of; None without any."""
    depth = len(place.heading_path)
    for candidate in candidates:
        unit = units[candidate]
        path = unit.heading_path
        is_inside = path[:depth] == place.heading_path or (
            unit.step is not None and path == place.heading_path[: len(path)]
        )
        if unit.is_step and is_inside and unit.chunk.version_id == place.chunk.version_id:
            return candidate
    return None


def _lead(units: Sequence[Unit], first: int) -> list[int]:
    """The unit that introduces unit `first`, if it is in the pool."""
    if first > 0 and units[first].lead and units[first - 1].text == units[first].lead:
        return [first - 1] if units[first - 1].stands_with(units[first]) else []
    return []


def _description(units: Sequence[Unit], index: int) -> int | None:
    """The first unit of what is said of the term `index`, if it is in the pool."""
    term = units[index]
    for after in range(index + 1, len(units)):
        unit = units[after]
        if not unit.stands_below(term):
            return None
        if unit.kind != "term":
            return after
    return None


def _answer_of(units: Sequence[Unit], index: int) -> int | None:
    """The unit behind the question `index`, in the same passage under the same heading, that asks nothing itself."""
    after = index + 1
    if after < len(units) and units[after].stands_with(units[index]) and not units[after].asks:
        return after
    return None


def _described_behind(units: Sequence[Unit], index: int) -> list[int]:
    """The descriptions of the terms that follow unit `index` below its heading."""
    lead = units[index]

    def belongs(after: int) -> bool:
        unit = units[after]
        return unit.stands_below(lead) and (unit.kind == "term" or unit.heading_path != lead.heading_path)

    behind = takewhile(belongs, range(index + 1, len(units)))
    return [after for after in behind if units[after].kind != "term"]


def _lead_of_item(units: Sequence[Unit], index: int) -> list[int]:
    first = index
    while first > 0 and units[first - 1].is_item and units[first - 1].lead == units[index].lead:
        first -= 1
    return _lead(units, first)


def _introduced(units: Sequence[Unit], index: int) -> list[int]:
    """What unit `index` introduces: the items of a list, or blocks of code."""
    members: list[int] = []
    for after in range(index + 1, len(units)):
        unit = units[after]
        if unit.lead != units[index].text or not unit.stands_with(units[index]):
            break
        members.append(after)
    return members
