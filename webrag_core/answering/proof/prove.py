"""The proof of one sentence: what kind it is, or that there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webrag_core.answering.models import Proof
from webrag_core.answering.proof.moves import cells_sentence, readings, row_sentence
from webrag_core.indexing.unit_text import unit_text


@dataclass(frozen=True, slots=True)
class Quoted:
    """What a sentence cites, as its proof reads it: the exact slice of a stored version, the kind of its block, and the
    headings (and title) that it stands under."""

    markdown: str
    kind: str
    headings: tuple[str, ...] = ()


def prove(sentence: str, quotes: Sequence[Quoted]) -> Proof | None:
    """The kind of proof that `quotes` give `sentence`; None = it is not proved.

    One quote proves its own words (`verbatim`), and those that `moves` makes of them (`trimmed`). A table
    row proves its cells in order, with the header of the table before it also the names of the columns (`assembled`).
    """
    if len(quotes) == 1:
        (quote,) = quotes
        if quote.kind == "table":
            return "assembled" if sentence in readings(cells_sentence(quote.markdown), quote.headings) else None
        return readings(unit_text(quote.markdown, quote.kind), quote.headings).get(sentence)
    if len(quotes) == 2:
        header, row = quotes
        text = row_sentence(header.markdown, row.markdown)
        if text is not None and sentence in readings(text, row.headings):
            return "assembled"
    return None
