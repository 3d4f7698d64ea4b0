"""Which units of the evidence are about the thing that a question names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from webrag_core.answering.units import Unit
from webrag_core.answering.wanted.carried import (
    Levels,
    carries_name,
    holds_name,
    levels_of,
    may_hold_name,
    mentions,
    names_another,
    stance_of,
    stands_around,
    values_beside,
)
from webrag_core.answering.wanted.discriminators import Discriminator, Kind, discriminators_of
from webrag_core.answering.wanted.table_captions import of_other_tables
from webrag_core.indexing.terms import terms
from webrag_core.language.detection import detected_beyond_doubt

Array = NDArray[np.bool_]

_ALIKE = 0.5
"""Share of the terms of two sentences from which they say the like."""
_MEANING = frozenset(
    terms("mean means meaning stand stands define definition explain explanation describe called work")
)
_COMPARES = re.compile(
    r"\b(?:or|than|versus|vs|compar\w+|differ\w*|between|oder|als|vergleich\w*|unterschied\w*|zwischen)\b",
    re.IGNORECASE,
)
_STRICT: frozenset[Kind] = frozenset(("code", "sign"))
"""Kinds of which a unit that does not carry the value says nothing, where another one carries it."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of several things of a kind that a question names, and which units may speak of it."""

    thing: Discriminator
    allowed: tuple[bool, ...]

    def label_of(self, unit: Unit) -> str:
        """The heading (from the nearest) or title of a unit that names the thing; "" where its own words do."""
        if mentions(self.thing, unit.text):
            return ""
        around = (*reversed(unit.heading_path), unit.chunk.title or "")
        return next((text for text in around if mentions(self.thing, text)), "")


@dataclass(frozen=True, slots=True)
class Thing:
    """What a question is about. Per unit: `allowed`, it may answer; `is_rival`, it is about a look-alike (and may not
    answer); `about`, what it stands under names every discriminator of the question. `absent` are the discriminators
    that no unit carries, `others` values that units carry in their place. `aspect` is the question without those that
    are carried: what is asked about the thing. `sides`: the things of a kind that a question compares.
    `names`, per unit: those of the question that it, or what it stands under, has."""

    allowed: tuple[bool, ...]
    is_rival: tuple[bool, ...]
    about: tuple[bool, ...]
    aspect: str
    absent: tuple[Discriminator, ...] = ()
    others: tuple[str, ...] = ()
    sides: tuple[Side, ...] = ()
    names: tuple[frozenset[str], ...] = ()

    @property
    def all_names(self) -> frozenset[str]:
        """The names of the question that some unit has."""
        return frozenset().union(*self.names)

    @property
    def absent_names(self) -> list[Discriminator]:
        """The absent ones that are names: without them nothing may be claimed."""
        return [item for item in self.absent if item.kind == "name"]


def thing_of(question: str, units: Sequence[Unit]) -> Thing:
    """Judge the units for `question`, or for a part of it. Discriminators of one kind and one head are alternatives:
    the question is about each of them."""
    levels = [levels_of(unit) for unit in units]
    language = detected_beyond_doubt(question)
    slots: dict[tuple[str, str], list[Discriminator]] = defaultdict(list)
    for item in discriminators_of(question):
        slots[_slot(item)].append(_settled(item, levels))
    is_rival = np.zeros(len(units), dtype=np.bool_)
    lacks = np.zeros(len(units), dtype=np.bool_)  # a code that another unit carries
    about = np.full(len(units), bool(slots), dtype=np.bool_)
    absent: list[Discriminator] = []
    carried: list[Discriminator] = []
    sides: list[tuple[Discriminator, Array]] = []
    names: list[set[str]] = [set() for _ in units]
    others: list[str] = []
    for (kind, _), items in slots.items():
        if kind == "name":
            for item in items:
                carries = _flags(carries_name(level, item.text) for level in levels)
                if carries.any():
                    carried.append(item)
                    for index in np.flatnonzero(carries):
                        names[index].add(item.text)
                    is_rival[_beside(item, units)] = True
                    is_rival |= ~carries & _flags(names_another(level, item.text) for level in levels)
                    about &= _flags(any(holds_name(text, item.text) for text in level.around) for level in levels)
                elif units and not _is_foreign(language, units) and not _may_be_named(item, levels):
                    absent.append(item)
            continue
        stances = np.array([[stance_of(item, level) for item in items] for level in levels]).reshape(-1, len(items))
        carries, rivals = stances == "carries", stances == "rival"
        present = carries.any(axis=0)
        carried += [item for item, is_there in zip(items, present, strict=True) if is_there]
        absent += [item for item, is_there in zip(items, present, strict=True) if not is_there]
        fits = carries.any(axis=1)
        is_rival |= ~fits & rivals.any(axis=1)
        if kind in _STRICT and fits.any():
            lacks |= ~fits
        about &= _flags(any(stands_around(item, level) for item in items) for level in levels)
        compares = _COMPARES.search(question) is not None and not carries[:, present].all(axis=1).any()
        if present.sum() > 1 and compares:
            sides = [(items[place], carries[:, place]) for place in np.flatnonzero(present)]
        if not present.all():
            others += values_beside(items[0], levels)
    is_rival |= _flags(of_other_tables(question, units, language))
    allowed = ~is_rival & ~lacks & _flags(not unit.is_link for unit in units)
    return Thing(
        _row(allowed),
        _row(is_rival),
        _row(about),
        aspect_of(question, carried),
        tuple(absent),
        tuple(dict.fromkeys(others)),
        tuple(Side(item, _row(carries & allowed)) for item, carries in sides),
        tuple(map(frozenset, names)),
    )


def aspect_of(question: str, carried: Sequence[Discriminator]) -> str:
    """`question` without its carried discriminators and the names before them; the question itself where that would
    leave nothing, or no more than that it wants a meaning."""
    rest = question
    for item in carried:
        head = rf"(?:{re.escape(item.head)}\s+)?" if item.head else ""
        rest = re.sub(rf"{head}(?<!\w){re.escape(item.text)}(?!\w)(?:['’]s)?", " ", rest, flags=re.IGNORECASE)
        if item.extension:
            rest = re.sub(rf"(?<!\w){re.escape(item.extension)}(?!\w)", " ", rest)
    return " ".join(rest.split()) if set(terms(rest)) - _MEANING else question


def _flags(values: Iterable[bool]) -> Array:
    return np.fromiter(values, dtype=np.bool_)


def _row(values: Array) -> tuple[bool, ...]:
    return tuple(bool(value) for value in values)


def _slot(item: Discriminator) -> tuple[str, str]:
    if item.kind == "code":
        return item.kind, item.folded.rstrip("0123456789")
    return item.kind, item.head


def _settled(item: Discriminator, levels: Sequence[Levels]) -> Discriminator:
    """Without its extension where nothing has it, behind this code or another: `the X210 USB port` is no model. With
    any extension where nothing has the thing without: of `Pi 3` a site may have `Pi 3 Model B` alone."""
    if not item.extension:
        if item.kind not in ("code", "number") or _is_carried(item, levels):
            return item
        longer = replace(item, any_extension=True)
        return longer if _is_carried(longer, levels) else item
    pattern = re.compile(rf"\d[^\W_]{{0,3}}\s+{re.escape(item.extension)}(?!\w)", re.IGNORECASE)
    extends = any(pattern.search(text) for level in levels for text in (level.passage, *level.around))
    return item if extends else replace(item, extension="")


def _is_carried(item: Discriminator, levels: Sequence[Levels]) -> bool:
    return any(stance_of(item, level) == "carries" for level in levels)


def _may_be_named(item: Discriminator, levels: Sequence[Levels]) -> bool:
    """Whether each word of a name stands somewhere, if in a longer or a shorter form."""
    texts = [text for level in levels for text in (level.passage, *level.around)]
    return all(any(holds_name(text, word) or may_hold_name(text, word) for text in texts) for word in item.text.split())


def _is_foreign(language: str | None, units: Sequence[Unit]) -> bool:
    """Whether the evidence is in another language, where names may be written otherwise."""
    theirs = units[0].chunk.language
    return language is not None and theirs is not None and theirs.split("-")[0] != language


def _beside(item: Discriminator, units: Sequence[Unit]) -> list[int]:
    """Units of what stands beside the thing of a name: other rows of a table of which some row begins with the name,
    what stands under a heading that differs from one with the name in a word, look-alikes in the sections beside."""
    headings: dict[int, set[str]] = defaultdict(set)  # with the name, by page
    sections: dict[tuple[int, tuple[str, ...]], list[Unit]] = defaultdict(list)  # by what stands above those
    tables: set[tuple[int, tuple[int, int]]] = set()
    for unit in units:
        version = unit.chunk.version_id
        for depth, heading in enumerate(unit.heading_path):
            if holds_name(heading, item.text):
                headings[version].add(heading)
                sections[version, unit.heading_path[:depth]].append(unit)
        if unit.header is not None and holds_name(_first_cell(unit), item.text):
            tables.add((version, unit.header))
    rivals = []
    for index, unit in enumerate(units):
        version, nearest = unit.chunk.version_id, next(reversed(unit.heading_path), "")
        if holds_name(unit.text, item.text) or holds_name(nearest, item.text):
            continue
        in_table = unit.header is not None and (version, unit.header) in tables
        parallel = any(_differ_in_a_word(nearest, heading) for heading in headings[version])
        named = any(holds_name(text, item.text) for text in (*unit.heading_path, unit.chunk.title or ""))
        if in_table or parallel or (not named and _beside_alike(unit, sections)):
            rivals.append(index)
    return rivals


def _differ_in_a_word(heading: str, other: str) -> bool:
    words, others = set(terms(heading)), set(terms(other))
    return bool(words & others) and len(words - others) == len(others - words) == 1


def _beside_alike(unit: Unit, sections: Mapping[tuple[int, tuple[str, ...]], Sequence[Unit]]) -> bool:
    """Whether a unit of a section with the name, beside the unit's, shares half of its terms."""
    words = set(terms(unit.text))
    for depth in range(1, len(unit.heading_path)):
        for other in sections.get((unit.chunk.version_id, unit.heading_path[:depth]), ()):
            others = set(terms(other.text))
            if words and len(words & others) >= _ALIKE * max(len(words), len(others)):
                return True
    return False


def _first_cell(unit: Unit) -> str:
    """What the first cell of a table row says."""
    return unit.text.partition(";")[0].partition(": ")[2]
