"""What a result shows, one after the other, before any medium: writers choose no words and no order.

Text of pages in elements is as it is stored: each writer makes it safe for its medium.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from webrag_core.answering.models import Band, Highlight, Proof, SentenceCitation
from webrag_core.showing.passage import Line, passage, plain_lines

Key = Literal[
    "answer",
    "listed",
    "evidence",
    "likely",
    "nearest",
    "missing",
    "disagreements",
    "next",
    "gathered",
    "quotes",
    "pages",
    "stop",
    "states",
]
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
class Quotation:
    """A passage of a page, letter for letter, around its best sentences, which are `marked`: [start, end) of `text`.

    `quoted` is what a link to the live page marks, `notes` say what it is worth, `stamp` where exactly all of the
    passage stands. `before` and `after` count characters of it that are left out. A `weak` one is shown on request.
    """

    number: int
    url: str
    title: str
    headings: tuple[str, ...]
    text: str
    marked: tuple[int, int]
    quoted: str
    notes: tuple[str, ...]
    stamp: str
    page: int | None = None
    before: int = 0
    after: int = 0
    weak: bool = False

    def lines(self) -> list[Line]:
        """Its lines, without marks of Markdown."""
        return plain_lines(self.text, self.marked)

    @property
    def cut(self) -> str:
        """How much is left out, in words; "" for nothing."""
        if not self.before and not self.after:
            return ""
        return f"{self.before} characters before and {self.after} after are not shown"


@dataclass(frozen=True, slots=True)
class Page:
    """A page with what came of it."""

    url: str
    text: str


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
    elements: tuple[Sentence | ForgottenSentence | Passage | Quotation | Page | Row | Place | Step, ...]
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Title:
    """What a result is about, where there is no verdict."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under their names, with a heading ("" for none)."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A text letter for letter, in a `language` of Markdown's blocks of code."""

    text: str
    language: str = "text"


Element = Verdict | Section | Note | Title | Table | Code
