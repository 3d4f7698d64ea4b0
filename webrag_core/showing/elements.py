"""What a result shows, one after the other, before any medium: writers choose no words and no order.

Text of pages in elements is as it is stored: each writer makes it safe for its medium.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from webrag_core.answering.models import Band, Highlight, Proof, SentenceCitation
from webrag_core.showing.passage import Line, passage

Key = Literal["answer", "listed", "evidence", "likely", "nearest", "missing", "disagreements", "next", "gathered"]
"""What a section is about, whatever its heading says."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The question and the headline; `sureness` is the confidence with what it rests on, "" where there is none."""

    question: str
    text: str
    band: Band
    sureness: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the quotes that prove it."""

    ordinal: int
    text: str
    proof: Proof
    quotes: tuple[SentenceCitation, ...]


@dataclass(frozen=True, slots=True)
class ForgottenSentence:
    """The place of a sentence whose page was forgotten."""

    ordinal: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote to read. `label` says what it is where its page does not, `proofs` how sentences follow from it."""

    citation: SentenceCitation
    highlight: Highlight | None = None
    label: str = ""
    proofs: tuple[Proof, ...] = ()

    @property
    def title(self) -> str:
        """The title of its page, else the address."""
        return self.citation.title or self.citation.url

    @property
    def name(self) -> str:
        """The label, where it says more than the title."""
        return "" if self.label == self.title else self.label

    def lines(self, *, around: bool = False) -> list[Line]:
        """Its lines, with what stands `around` it in its block; likeliest sentences are marked, else all of it."""
        return passage(self.citation, self.highlight, around=around)


@dataclass(frozen=True, slots=True)
class Row:
    """A line. `bare` says it without words of a question, a page or a server, for those who must not read orders in
    it; "" where nothing is left then."""

    text: str
    bare: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A page to look at next."""

    url: str


@dataclass(frozen=True, slots=True)
class Step:
    """A round of following links: the pages that were read, and why it went on or ended."""

    pages: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence about the answer: a fact, a problem, or its number and cost; `bare` as that of a row."""

    text: str
    kind: Literal["fact", "problem", "cost"] = "fact"
    bare: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Elements of one kind under a heading ("" for none). The `first` are enough at first sight, None = all of them."""

    key: Key
    heading: str
    elements: tuple[Sentence | ForgottenSentence | Passage | Row | Place | Step, ...]
    first: int | None = None


Element = Verdict | Section | Note
