"""Forms of an answer: what kind of question it is, and the sentences that belong together in one of its kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from webrag_core.answering.compose.units import Unit
from webrag_core.indexing.sentences import LIST_ITEM
from webrag_core.orchestration.models import QueryType
from webrag_core.routing.question import Form

_LIST = re.compile(
    r"^(?:(?:please )?(?:list|name|enumerate)\b|(?:what|which) (?:\w+ ){0,4}(?:are|exist|can|do|does|may)\b"
    r"|(?:what|which) (?:are|other)\b)",
    re.IGNORECASE,
)
_LOOKUP = re.compile(
    r"^(?:how (?:many|much|long|large|big|fast|old|often)|when|since when|which (?:version|port|number|value|year|type)"
    r"|what (?:is|was) the (?:\w+ ){0,3}(?:default|value|number|version|limit|size|port|type|date|name|maximum"
    r"|minimum))\b",
    re.IGNORECASE,
)
_TIMELINE = re.compile(
    r"^(?:timeline|chronology|history)\b|\b(?:timeline|chronology|history|evolution) of\b"
    r"|^(?:how|what) (?:has|have|did) .{1,120}\bchanged? (?:over|since|through|between|in (?:version|release))\b"
    r"|^what (?:has )?changed (?:in|with|since|over|between)\b",
    re.IGNORECASE,
)
_FORMS: dict[QueryType, Form] = {
    "factual": "explain",
    "comparison": "compare",
    "how_to": "steps",
    "exploratory": "explain",
}


def is_about_changes(question: str) -> bool:
    """Whether a question asks what changed. English."""
    return _TIMELINE.search(question.strip()) is not None


def form_of(question: str, kind: QueryType) -> Form:
    """The form in which a question wants to be answered. `list`, `lookup` and `timeline` are recognised in English
    alone."""
    text = question.strip()
    if kind == "comparison":
        return "compare"
    if is_about_changes(text):
        return "timeline"
    if _LOOKUP.search(text):
        return "lookup"
    return "list" if _LIST.search(text) else _FORMS[kind]


def items_around(units: Sequence[Unit], index: int, max_words: int) -> list[int]:
    """Indexes of the items of the list in which unit `index` stands, in their order; `index` alone where it stands in
    none. Of a list of more than `max_words` words those from its beginning, or from the unit where that does not
    reach."""
    if not _is_item(units[index]):
        return [index]
    first, last = index, index
    while first > 0 and _same_list(units[first - 1], units[first]):
        first -= 1
    while last + 1 < len(units) and _same_list(units[last], units[last + 1]):
        last += 1
    for begin in (first, index):
        items: list[int] = []
        room = max_words
        for place in range(begin, last + 1):
            room -= len(units[place].text.split())
            if room < 0:
                break
            items.append(place)
        if index in items:
            return items
    return [index]


def _same_list(one: Unit, other: Unit) -> bool:
    """Whether two neighbours are items of one list."""
    if one.chunk.chunk_id != other.chunk.chunk_id or one.heading_path != other.heading_path:
        return False
    return _is_item(one) and _is_item(other)


def _is_item(unit: Unit) -> bool:
    return LIST_ITEM.match(unit.slice((unit.start, unit.end))) is not None
