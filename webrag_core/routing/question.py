"""What is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from webrag_core.history.models import TimeAxis
from webrag_core.language.dialogue.resolution import added_words

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

    `follows` is the number of a stored answer that the question goes on from, `carry` whether its words may be
    completed by those of the question there. `earlier` is that question, once it was looked up. Where words were
    carried over, `wording` is what was typed, and `text` what it is read as.

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
    follows: int | None = None
    carry: bool = True
    earlier: str | None = None
    wording: str | None = None

    def read_as(self, text: str) -> Question:
        """The same question in the words `text`."""
        typed = self.wording or self.text
        return replace(self, text=text, wording=None if text == typed else typed)

    @property
    def carried(self) -> tuple[str, ...]:
        """The words that were carried over from the earlier question, in order."""
        return () if self.wording is None else added_words(self.wording, self.text)

    @property
    def is_dated(self) -> bool:
        """Whether only pages count that state certain dates."""
        return bool(self.since or self.until or self.years)
