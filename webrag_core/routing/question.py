"""What is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from webrag_core.history.models import TimeAxis

if TYPE_CHECKING:  # launchpads are made with this module
    from webrag_core.orchestration.models import QueryType

MAX_QUESTION = 8_000
"""Characters of a question."""
Form = Literal["explain", "steps", "compare", "lookup", "list", "timeline"]
"""Form of an answer in prose."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and where. With `urls` the answer may be looked for from these pages; without, among the stored
    pages (of `sources`, if any). With `at` (a date, see `history.as_of`) what the pages said then counts, or with
    `time` valid their texts that hold then: nothing is fetched.

    With `since`, `until` (dates, both included) or `years` only stored pages that state such a date count, as in
    `SearchRequest`: nothing is fetched.

    `expansion_budget`, `intent`, `constraints` and `max_age` as of `AnswerRequest`. `form` of the answer: unset = as
    the question wants it."""

    text: str
    urls: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    at: str | None = None
    time: TimeAxis = "seen"
    since: str | None = None
    until: str | None = None
    years: tuple[int, ...] = ()
    expansion_budget: int | None = None
    form: Form | None = None
    intent: QueryType | None = None
    constraints: tuple[str, ...] = ()
    max_age: float | None = None

    @property
    def is_dated(self) -> bool:
        """Whether only pages count that state certain dates."""
        return bool(self.since or self.until or self.years)
