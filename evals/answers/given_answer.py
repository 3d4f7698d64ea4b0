"""An answer as it is judged: what of its JSON a reader sees."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from webrag_core.answering.models import Answer

SHOWN = 3
"""Passages that a reader looks at where no sentence is said."""


class GivenQuote(BaseModel, frozen=True):
    """A citation: its number, its place, and the words that it quotes."""

    number: int
    url: str
    title: str | None = None
    heading: str | None = None
    quote: str

    @property
    def passage(self) -> str:
        """The quote below its page's title and its heading."""
        return f"{self.title or ''} {self.heading or ''} {self.quote}"


class GivenSentence(BaseModel, frozen=True):
    """A sentence, and the numbers of its citations."""

    text: str
    citations: tuple[int, ...] = ()


class GivenPassage(BaseModel, frozen=True):
    """A passage that is shown, by the number of its citation."""

    citation: int


class GivenList(BaseModel, frozen=True):
    """An entry of a list that an agent gave."""

    group: str
    label: str


class GivenAnswer(BaseModel, frozen=True):
    """The fields of an answer that verdicts rest on; others are ignored.

    `likely` are passages shown first with the probability that they answer, `nearest` those that are merely near,
    `highlights` another name of both; an answer may lack any of the three.
    """

    status: str
    band: str
    confidence: float
    sentences: tuple[GivenSentence, ...] = ()
    likely: tuple[GivenPassage, ...] = ()
    nearest: tuple[GivenPassage, ...] = ()
    highlights: tuple[GivenPassage, ...] = ()
    citations: tuple[GivenQuote, ...] = ()
    notes: tuple[str, ...] = ()
    look_next: tuple[str, ...] = ()
    listed: tuple[GivenList, ...] = Field(default=())

    @property
    def claims(self) -> list[str]:
        """The sentences that answer. None where the verdict is that nothing does, or that a passage may."""
        none = self.status in ("likely", "not_found", "failed") or self.band == "insufficient"
        return [] if none else [sentence.text for sentence in self.sentences]

    @property
    def shown(self) -> list[GivenQuote]:
        """The first passages that are shown instead of sentences, best first."""
        quotes = {quote.number: quote for quote in self.citations}
        places = (*self.likely, *self.nearest) or self.highlights
        return [quotes[place.citation] for place in places if place.citation in quotes][:SHOWN]

    @property
    def words(self) -> Sequence[str]:
        """All that the answer says in words of its sentences, notes, next places and lists."""
        listed = [f"{entry.group} {entry.label}" for entry in self.listed]
        return [*self.claims, *self.notes, *self.look_next, *listed]


def given(answer: Answer) -> GivenAnswer:
    """What of an answer is judged."""
    return GivenAnswer.model_validate(answer.model_dump(mode="json"))
