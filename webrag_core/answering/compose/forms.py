"""Forms of an answer: what kind of question it is."""

from __future__ import annotations

import re

from webrag_core.orchestration.models import QueryType
from webrag_core.routing.question import Form

_LIST = re.compile(
    r"^(?:(?:please )?(?:list|name|enumerate)\b|(?:what|which) (?!(?:do|does|did|can|could|will|would|should)\b)"
    r"(?:\w+ ){1,4}(?:are|exist|can|do|does|may)\b"
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
