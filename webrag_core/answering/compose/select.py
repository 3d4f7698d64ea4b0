"""Choose the sentences of an answer: the best of each part of the question, then the best of all, none twice. What
belongs together is said together (`entries`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from webrag_core.answering.compose.entries import (
    beginning_of,
    entry_of,
    procedure_near,
    without_idle_lead,
)
from webrag_core.answering.compose.features import Array
from webrag_core.answering.compose.say import Saying, say
from webrag_core.answering.compose.sentence_scores import UnitScores
from webrag_core.answering.compose.timeline import Moment, with_moments
from webrag_core.answering.units import OPEN_ENDS, Unit
from webrag_core.answering.wanted.fact import Fact
from webrag_core.answering.wanted.thing import Side, Thing
from webrag_core.answering.wanted.values import is_keywords
from webrag_core.indexing.terms import terms
from webrag_core.language.word_count import word_count
from webrag_core.retrieval.redundancy import text_overlap
from webrag_core.routing.question import Form

MAX_SENTENCES = 5
"""Entries of an answer, at most: a list or a procedure counts once."""
_MAX_LOOKUP = 2  # entries that say one value
_REPEATS = 0.7  # share of a sentence's words in another one from which it repeats that one
_LEAST_WORDS = 4
_MOST_BEHIND = 4  # sentences behind one that tells how, of steps in prose
_TRIED = 20  # units, best first, that are tried for each part
_WORTH_SAYING = 0.2  # of the best sentence's worth
_NUMBER = re.compile(r"\d+")
_VERSION = re.compile(r"\b(?:version |v)?\d+(?:\.\d+)+", re.IGNORECASE)
_ASKS_VERSION = re.compile(r"\bversions?\b|\brelease\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """A sentence, the index of its unit, the part of the question that it is for, its support in [0, 1], and `worth`,
    by which it was chosen: the relevance of a configured reranker, else the support. `entry` numbers the sentences that
    stand together, `left_out` is the number of the entry's units behind this one that did not fit."""

    saying: Saying
    index: int
    part: int
    support: float
    worth: float
    entry: int = 0
    left_out: int = 0


@dataclass(slots=True)
class _Selection:
    """The sentences chosen so far, and the words that are left."""

    units: Sequence[Unit]
    supports: Sequence[Array]
    worths: Sequence[Array]
    things: Sequence[Thing]
    facts: Sequence[Fact]
    form: Form
    room: int
    chosen: list[Choice] = field(default_factory=list)
    entries: int = 0

    def take(self, part: int, index: int, label: str = "") -> bool:
        """Take the entry of a unit: whole, or a list from its beginning. False where it does not fit or says nothing
        new. A unit alone is said under `label`."""
        rivals = self.things[part].is_rival if self.things else ()
        entry = entry_of(self.units, index, self.form)
        members = [member for member in entry if not rivals or not rivals[member]]
        if any(choice.index in members for choice in self.chosen) or self._strays(part, index):
            return False
        members = without_idle_lead(self.units, members, len(entry))
        if members == [index]:
            if self._only_dates_page(part, index):
                return False
            members = [*self._beginning(part, index), index]
        sayings: list[tuple[int, Saying]] = []
        room, left_out = self.room, 0
        for place, member in enumerate(members):
            unit = self.units[member]
            saying = say(
                unit,
                introduces=member != members[-1],
                label="" if len(members) > 1 else label,
                alone=place == 0 or not _follows(unit, self.units[members[place - 1]]),
            )
            least = 1 if len(members) > 1 or _NUMBER.search(unit.text) else _LEAST_WORDS
            if saying is None or saying.words < least or (len(members) == 1 and repeats(saying.unit, self.chosen)):
                return False
            if saying.words > room:
                left_out = len(members) - place
                break
            sayings.append((member, saying))
            room -= saying.words
        members = [member for member, _ in sayings]
        has_step = any(self.units[member].is_step for member in members)
        if not members or (left_out and not (has_step and index in members)):
            return False
        self.entries += 1
        support, worth = (float(values[part][index]) for values in (self.supports, self.worths))
        for place, (member, saying) in enumerate(sayings, start=1):
            rest = left_out if place == len(sayings) else 0
            self.chosen.append(Choice(saying, member, part, support, worth, self.entries, rest))
        self.room = room
        return True

    def _only_dates_page(self, part: int, index: int) -> bool:
        """Whether a unit is a version behind words of its page's title, and no version is asked for."""
        name, versions = _VERSION.subn("", self.units[index].text)
        is_title = versions == 1 and set(terms(name)) <= set(terms(self.units[index].chunk.title or ""))
        return is_title and not _ASKS_VERSION.search(self.facts[part].question)

    def _beginning(self, part: int, index: int) -> list[int]:
        """The beginning of what a unit stands in, where keywords ask for all of that, and it is not said yet."""
        if self.facts[part].values or not is_keywords(self.facts[part].question):
            return []
        begin = beginning_of(self.units, index, frozenset(terms(self.facts[part].question)))
        text = self.units[begin].text
        says = _NUMBER.search(text) or word_count(text) >= _LEAST_WORDS
        is_said = any(choice.index == begin for choice in self.chosen)
        return [] if begin == index or is_said or not says else [begin]

    def _strays(self, part: int, index: int) -> bool:
        """Whether a unit may hold a value of something else: it lacks the name of the question that a sentence before
        it has."""
        named = self.things[part].names if self.things and self.facts[part].values else ()
        if not named or named[index]:
            return False
        return any(choice.part == part and named[choice.index] for choice in self.chosen)

    def undo(self) -> None:
        """Drop all that was taken."""
        self.room += sum(choice.saying.words for choice in self.chosen)
        self.chosen.clear()
        self.entries = 0


def select(
    units: Sequence[Unit],
    scores: Sequence[UnitScores],
    supports: Sequence[Array],
    max_words: int,
    form: Form,
    period: Moment | None = None,
    facts: Sequence[Fact] = (),
    things: Sequence[Thing] = (),
    first: Sequence[int] = (),
) -> list[Choice]:
    """At most MAX_SENTENCES entries of together `max_words` words, as they are to be read: the entry that answers
    (`_answering_entry`), then the pages of the best ones, in the order of the page. In the form `steps` an answer
    without a step or code brings those of its section along; a `lookup` has fewer sentences; a `timeline` has those
    that name a version or a date, in that order, where there are two; with a version or date that is `period` for,
    those of it alone. Code that is not the best of all is said among steps alone, and where a fact is code.

    `first` are units whose entries are taken before all others, in their order.

    `scores`, `supports`, `facts` and `things` per part of the question. Of a question that names several things, the
    answer is the best sentence of each. A part that its best sentence does not fit beside the others of goes without
    one.
    """
    worths = [
        supports[part] if score.relevance is None else np.nan_to_num(score.relevance)
        for part, score in enumerate(scores)
    ]
    facts = facts or [Fact()] * len(scores)
    selection = _Selection(units, supports, worths, things, facts, form, max_words)

    def take(part: int, index: int) -> bool:
        is_code = units[index].kind == "code"
        if is_code and form != "steps" and not facts[part].is_code and index != scores[part].order[0]:
            return False
        taken = selection.take(part, index)
        if taken:
            if form == "list":
                _bring_list(selection, part, index)
            _bring_steps(selection, scores[part], facts[part], part, index)
        return taken

    if form == "timeline" and len(scores) == 1:
        moments = with_moments([unit.text for unit in units], scores[0].order[:_TRIED], period)
        for index in list(moments)[:MAX_SENTENCES]:
            take(0, index)
        chosen = [choice for choice in selection.chosen if choice.index in moments]
        if len(chosen) > (period is None):
            return sorted(chosen, key=lambda choice: moments[choice.index].key)
    sides = things[0].sides if len(things) == 1 else ()
    if sides and _take_sides(selection, scores[0], facts[0], sides):
        return selection.chosen
    for index in first:
        selection.take(0, index)
    for part, score in enumerate(scores):  # one for each part
        next((index for index in score.order if take(part, index)), None)
    ranked = sorted(
        ((worths[part][index], part, index) for part, score in enumerate(scores) for index in score.order[:_TRIED]),
        key=lambda row: -row[0],
    )
    best = max((choice.worth for choice in selection.chosen), default=0.0)
    for worth, part, index in ranked:
        if selection.entries >= (_MAX_LOOKUP if form == "lookup" else MAX_SENTENCES) or worth < _WORTH_SAYING * best:
            break
        take(part, index)
    return reading_order(selection.chosen, _answering_entry(selection.chosen, form, facts))


def _take_sides(selection: _Selection, score: UnitScores, fact: Fact, sides: Sequence[Side]) -> bool:
    """Take for each thing of a comparison its best unit that holds what is asked for, under the thing's name. False,
    and nothing taken, where one has none."""
    units = selection.units
    for side in sides:
        fitting = (index for index in score.order if side.allowed[index] and fact.is_in(units[index]))
        if not any(selection.take(0, index, side.label_of(units[index])) for index in islice(fitting, _TRIED)):
            selection.undo()
            return False
    return True


def _bring_steps(selection: _Selection, score: UnitScores, fact: Fact, part: int, index: int) -> None:
    """Take the steps or the code of a unit's section, where nothing of the kind is said yet. Without any, the steps may
    be prose: the best unit brings the sentences behind it, under its heading."""
    units = selection.units
    if selection.form != "steps" and not fact.is_code:
        return
    sentences = (units[choice.index] for choice in selection.chosen if choice.part == part)
    if not any(unit.is_step and fact.is_in(unit) for unit in sentences):
        near = procedure_near(units, (place for place in score.order if fact.is_in(units[place])), units[index])
        if near is not None:
            selection.take(part, near)
        elif selection.entries == 1 and selection.form == "steps":
            for behind in range(index + 1, min(index + 1 + _MOST_BEHIND, len(units))):
                if units[behind].stands_with(units[index]):
                    selection.take(part, behind)


def _bring_list(selection: _Selection, part: int, index: int) -> None:
    """Take the list behind the best unit, in its passage and under its heading, where no list is said yet. A few words
    that neither lead to a page nor are introduced may be the contents of the page."""
    units = selection.units
    if selection.entries != 1 or any(units[choice.index].is_listed for choice in selection.chosen):
        return
    behind = range(index + 1, len(units))
    near = next((place for place in behind if units[place].is_item and units[place].stands_with(units[index])), None)
    if near is None:
        return
    item = units[near]
    if item.is_link or item.lead.endswith(OPEN_ENDS) or len(item.text.split()) >= _LEAST_WORDS:
        selection.take(part, near)


def _follows(unit: Unit, before: Unit) -> bool:
    """Whether a unit goes on with a list, or a paragraph, of which `before` is said."""
    return unit.heading_path == before.heading_path and unit.is_listed == before.is_listed


def repeats(unit: Unit, chosen: Sequence[Choice]) -> bool:
    """Whether one of `chosen` says nearly the same, with the same numbers."""
    numbers = set(_NUMBER.findall(unit.text))
    return any(
        text_overlap(unit.text, other.saying.unit.text) >= _REPEATS
        and numbers <= set(_NUMBER.findall(other.saying.unit.text))
        for other in chosen
    )


def _answering_entry(chosen: Sequence[Choice], form: Form, facts: Sequence[Fact]) -> int:
    """The entry that is the answer by itself: of the first part, in the form `steps` with a step that is worth half as
    much as the best sentence, with the fact that is asked for, and of those the best; 0 without any."""
    first = [choice for choice in chosen if choice.part == 0]
    least = 0.5 * max((choice.worth for choice in first), default=0.0)

    def worth(choice: Choice) -> tuple[bool, bool, float]:
        unit = choice.saying.unit
        return form != "steps" or (unit.is_step and choice.worth >= least), facts[0].is_in(unit), choice.worth

    return max(first, key=worth).entry if first else 0


def reading_order(chosen: Sequence[Choice], first: int) -> list[Choice]:
    """The entry `first`, then pages by their best sentence, sentences of a page as they stand on it."""
    best: dict[int, float] = {}
    for choice in chosen:
        document = choice.saying.unit.chunk.document_id
        best[document] = max(best.get(document, 0.0), choice.worth)
    return sorted(
        chosen,
        key=lambda choice: (
            choice.entry != first,
            -best[choice.saying.unit.chunk.document_id],
            choice.saying.unit.chunk.document_id,
            choice.saying.unit.start,
        ),
    )
