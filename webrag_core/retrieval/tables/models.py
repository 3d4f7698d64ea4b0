"""A value found in a table, with its exact place."""

from __future__ import annotations

from webrag_core.indexing.markdown import faithful_text
from webrag_core.retrieval.models import Contract
from webrag_core.retrieval.tables.parsing import Kind


class Slice(Contract):
    """An exact slice of a version: `text == markdown[start:end]`."""

    text: str
    start: int
    end: int

    @property
    def plain(self) -> str:
        """The text as a person reads it, without marks of Markdown."""
        return faithful_text(self.text)


class TableCell(Slice):
    """A cell of a table, or a part of an entry of a definition list: what its term has in brackets, or a sentence.

    `row_header` are the cells that name the row, or the term; `column` is the cell that names the column, or the label
    before a value in brackets (None = nothing does). [`row_start`, `row_end`) is the whole row or entry. `heading` is
    the path of headings above it as one line. `score` lies in [0, 1]: how much of the question the row and the column
    account for; it is no probability.
    """

    kind: Kind
    row_header: list[Slice]
    column: Slice | None
    row_start: int
    row_end: int
    url: str
    title: str | None
    heading: str | None
    document_id: int
    version_id: int
    version_sha256: str
    score: float
