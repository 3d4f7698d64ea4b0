"""Feedback on an answer: what may be said, and how it is stored."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from webrag_core.corpus.quotes import Quote
from webrag_core.errors import InvalidInputError
from webrag_core.page_text import visible
from webrag_core.retrieval.models import Contract
from webrag_core.retrieval.request import check_text

Kind = Literal["helpful", "wrong", "missing", "better_source", "wrong_route"]
ActorKind = Literal["person", "operator", "model"]
State = Literal["new", "accepted", "rejected"]

KINDS: tuple[Kind, ...] = get_args(Kind)
VALUES: Mapping[Kind, tuple[int, ...]] = {
    "helpful": (1, 2),
    "wrong": (-1, -2),
    "missing": (-1, -2),
    "better_source": (-1, -2),
    "wrong_route": (-1, -2),
}
"""The values that go with a kind; the first is the default."""
LONGEST_ACTOR = 100
LONGEST_TEXT = 4_000
LONGEST_QUOTE = 4_000
LEAST_QUOTE = 12
"""Characters of a quote at least: a word or two stand on every page."""


class Suggestion(Contract):
    """A span of a stored page that answers: `quote` equals `markdown[char_start:char_end]` of version number `version`,
    `sha256` is that of its UTF-8 bytes."""

    url: str
    version: int
    char_start: int
    char_end: int
    quote: str
    sha256: str

    def as_quote(self, version_id: int) -> Quote:
        """What is quoted, of the version with this id."""
        return Quote(version_id, self.char_start, self.char_end, self.sha256)


class Feedback(Contract):
    """What one actor said about one answer, about its `sentence` or its `citation` by number, or about all of it.

    `weight` in [0, 1] is what it counts: 0 for a model until an operator accepts it,
    and for everything that was rejected. `question` is that of the answer.
    """

    id: int
    answer_id: int
    question: str
    sentence: int | None
    citation: int | None
    kind: Kind
    value: int
    text: str | None
    suggested: Suggestion | None
    actor: str
    actor_kind: ActorKind
    weight: float
    state: State
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Better:
    """A span that is suggested: its page, and either a quote or offsets. `version` by number; unset = the current."""

    url: str
    quote: str | None = None
    version: int | None = None
    char_start: int | None = None
    char_end: int | None = None

    def check(self) -> None:
        """Raise InvalidInputError unless it names a span in one way."""
        check_text(self.url, "URL of the better source")
        offsets = (self.char_start, self.char_end)
        if (self.quote is None) == (None in offsets):
            raise InvalidInputError("a better source needs either its quote, or a version with both offsets")
        if self.quote is None:
            if self.version is None:
                raise InvalidInputError("offsets are of a version: name its number")
        elif offsets != (None, None):
            raise InvalidInputError("a better source is named by its quote or by offsets, not by both")
        elif len(self.quote) > LONGEST_QUOTE:
            raise InvalidInputError(f"the quote has {len(self.quote):,} characters; {LONGEST_QUOTE:,} at most")
        elif len(self.quote.strip()) < LEAST_QUOTE:
            raise InvalidInputError(f"the quote is shorter than {LEAST_QUOTE} characters: it would stand anywhere")


@dataclass(frozen=True, slots=True)
class NewFeedback:
    """What is said, before it is stored. `value` unset = the default of the kind (`VALUES`)."""

    answer_id: int
    kind: str
    actor: str
    actor_kind: ActorKind
    sentence: int | None = None
    citation: int | None = None
    value: int | None = None
    text: str | None = None
    better: Better | None = None

    def checked_kind(self) -> Kind:
        """The kind. Raises InvalidInputError when there is none of that name."""
        known = next((kind for kind in KINDS if kind == self.kind), None)
        if known is None:
            raise InvalidInputError(f"there is no feedback {visible(self.kind)[:50]!r}; there is {', '.join(KINDS)}")
        return known

    def checked_value(self) -> int:
        """The value. Raises InvalidInputError for one that contradicts the kind."""
        allowed = VALUES[self.checked_kind()]
        value = allowed[0] if self.value is None else self.value
        if value not in allowed:
            raise InvalidInputError(f"the value of {self.kind!r} is {' or '.join(map(str, allowed))}, not {value}")
        return value

    def check(self) -> None:
        """Raise InvalidInputError for what cannot be meant; nothing is asked of the database."""
        self.checked_value()
        check_actor(self.actor)
        if self.sentence is not None and self.citation is not None:
            raise InvalidInputError("feedback is about a sentence or about a quote, not about both")
        if self.text is not None:
            if len(self.text) > LONGEST_TEXT:
                raise InvalidInputError(f"the text has {len(self.text):,} characters; {LONGEST_TEXT:,} at most")
            check_text(self.text, "text")
        if self.better is not None:
            if self.kind not in ("better_source", "missing"):
                raise InvalidInputError(f"{self.kind!r} names no better source: use better_source or missing")
            self.better.check()
        elif self.kind == "better_source":
            raise InvalidInputError("a better source needs its URL and its quote")


def check_actor(name: str) -> None:
    """Raise InvalidInputError for a name that cannot be told apart by a reader: blank, longer than `LONGEST_ACTOR`,
    with characters that cannot be seen, blanks at its ends, or not in Unicode's composed form."""
    if not name.strip():
        raise InvalidInputError("the name of the actor is blank")
    if len(name) > LONGEST_ACTOR:
        raise InvalidInputError(f"the name of the actor has {len(name):,} characters; {LONGEST_ACTOR} at most")
    if visible(name) != name or "\n" in name or "\t" in name:
        raise InvalidInputError("the name of the actor holds characters that cannot be seen")
    if name != name.strip() or name != unicodedata.normalize("NFC", name):
        raise InvalidInputError("the name of the actor begins or ends with a blank, or is not in composed form (NFC)")
