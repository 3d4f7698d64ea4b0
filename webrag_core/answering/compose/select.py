"""Choose the sentences of an answer: the best of each part of the question, then the best of all, none twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from webrag_core.answering.compose.features import Array
from webrag_core.answering.compose.forms import items_around
from webrag_core.answering.compose.say import Saying, say
from webrag_core.answering.compose.sentence_scores import UnitScores
from webrag_core.answering.compose.timeline import Moment, with_moments
from webrag_core.answering.compose.units import Unit
from webrag_core.retrieval.redundancy import text_overlap
from webrag_core.routing.question import Form

MAX_SENTENCES = 5
_MAX_LOOKUP = 3  # sentences that say one value
_REPEATS = 0.7  # share of a sentence's words in another one from which it repeats that one
_LEAST_WORDS = 4
_TRIED = 20  # units, best first, that are tried for each part
_WORTH_SAYING = 0.2  # of the best sentence's worth


@dataclass(frozen=True, slots=True)
class Choice:
    """A sentence, the index of its unit, the part of the question that it is for, its support in [0, 1], and `worth`,
    by which it was chosen: the relevance of a configured reranker, else the support."""

    saying: Saying
    index: int
    part: int
    support: float
    worth: float


def select(
    units: Sequence[Unit],
    scores: Sequence[UnitScores],
    supports: Sequence[Array],
    max_words: int,
    form: Form,
    asked: Moment | None = None,
) -> list[Choice]:
    """At most MAX_SENTENCES sentences of together `max_words` words, as they are to be read: the pages of the best ones
    first, in the order of the page. In the forms `steps` and `list` the best sentence brings the other items of its
    list along; a `lookup` has fewer sentences; a `timeline` has those that name a version or a date, in that order,
    where there are two; with a version or date that is `asked` for, those of it alone. Code that is not the best of
    all is said among steps alone.

    `scores` and `supports` per part of the question. A part that its best sentence does not fit beside the others of
    goes without one.
    """
    chosen: list[Choice] = []
    room = max_words
    worths = [
        supports[part] if score.relevance is None else np.nan_to_num(score.relevance)
        for part, score in enumerate(scores)
    ]

    def take(part: int, index: int, *, item: bool = False) -> bool:
        nonlocal room
        if units[index].kind == "code" and form != "steps" and index != scores[part].order[0]:
            return False
        saying = _fitting(units[index], room, chosen, item=item)
        if saying is None:
            return False
        chosen.append(Choice(saying, index, part, float(supports[part][index]), float(worths[part][index])))
        room -= saying.words
        return True

    items: set[int] = set()
    if form in ("steps", "list") and units:
        around = items_around(units, scores[0].order[0], max_words)
        items = {index for index in around if len(around) > 1 and take(0, index, item=True)}
    if form == "timeline" and len(scores) == 1:
        moments = with_moments([unit.text for unit in units], scores[0].order[:_TRIED], asked)
        for index in list(moments)[:MAX_SENTENCES]:
            take(0, index)
        if len(chosen) > (asked is None):
            return sorted(chosen, key=lambda choice: moments[choice.index].key)
    for part, score in enumerate(scores):  # one for each part
        if part > 0 or not items:
            next((index for index in score.order if take(part, index)), None)
    ranked = sorted(
        ((worths[part][index], part, index) for part, score in enumerate(scores) for index in score.order[:_TRIED]),
        key=lambda one: -one[0],
    )
    for _, part, index in ranked:
        if len(chosen) >= (_MAX_LOOKUP if form == "lookup" else MAX_SENTENCES):
            break
        take(part, index)
    best = max((choice.worth for choice in chosen), default=0.0)
    return reading_order([one for one in chosen if one.index in items or one.worth >= _WORTH_SAYING * best])


def _fitting(unit: Unit, room: int, chosen: Sequence[Choice], *, item: bool) -> Saying | None:
    """The unit as a sentence, if it fits and says something new; an `item` of a list may be shorter than others."""
    saying = say(unit)
    if saying is None or not (1 if item else _LEAST_WORDS) <= saying.words <= room:
        return None
    return None if repeats(unit, chosen) else saying


def repeats(unit: Unit, chosen: Sequence[Choice]) -> bool:
    """Whether one of `chosen` says nearly the same."""
    return any(text_overlap(unit.text, other.saying.unit.text) >= _REPEATS for other in chosen)


def reading_order(chosen: Sequence[Choice]) -> list[Choice]:
    """Pages by their best sentence, sentences of a page as they stand on it."""
    best: dict[int, float] = {}
    for choice in chosen:
        document = choice.saying.unit.chunk.document_id
        best[document] = max(best.get(document, 0.0), choice.worth)
    return sorted(
        chosen,
        key=lambda choice: (
            -best[choice.saying.unit.chunk.document_id],
            choice.saying.unit.chunk.document_id,
            choice.saying.unit.start,
        ),
    )
