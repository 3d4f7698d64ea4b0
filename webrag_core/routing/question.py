"""What is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from webrag_core.history.models import TimeAxis
from webrag_core.orchestration.models import QueryType

Form = Literal["explain", "steps", "compare", "lookup", "list", "timeline"]
"""Form of an answer in prose."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and where. With `urls` the answer may be looked for from these pages; without, among the stored
    pages (of `sources`, if any). With `at` (a date, see `history.as_of`) what the pages said then counts, or with
    `time` valid their texts that hold then: nothing is fetched.

    `expansion_budget`, `intent`, `constraints` and `max_age` as of `AnswerRequest`. `form` of the answer: unset = as
    the question wants it."""

    text: str
    urls: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    at: str | None = None
    time: TimeAxis = "seen"
    expansion_budget: int | None = None
    form: Form | None = None
    intent: QueryType | None = None
    constraints: tuple[str, ...] = ()
    max_age: float | None = None
