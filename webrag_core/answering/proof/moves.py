"""The only ways in which a proved sentence may differ from what it quotes. Each is a function, so that its result can
be made again from the quote and compared: nothing is judged."""

from __future__ import annotations

import re

from webrag_core.answering.models import Proof
from webrag_core.indexing.markdown import faithful_text
from webrag_core.retrieval.tables.parsing import cells_of

_LEADING = re.compile(
    r"(?:However|Therefore|Thus|Hence|Moreover|Furthermore|Additionally|In addition|Also|Consequently|As a result"
    r"|In other words|That said|Of course|Basically|Finally),\s+(?=\S)"
    r"|(?:And|But),?\s+(?=\w)"
    r"|(?:Please note|Note|Remember|Keep in mind|Be aware) that\s+(?=\S)"
)
_ASIDE = re.compile(
    r"(?<!\s)\s*\((?:see|cf\.|see also|for details,? see|as described in) [^()]{1,120}\)", re.IGNORECASE
)
_FOOTNOTE = re.compile(r"(?<=[.,;:!?)\"”])\s?\[\d{1,3}\](?!\()|\s?¶$")
_PROTECTED = re.compile(
    r"\b(?:not|no|never|none|cannot|only|if|unless|except|until|before|after|must|should|may|might|can|could|all|any"
    r"|every|some|most|deprecated|removed|required|optional|default)\b|n't\b|\d",
    re.IGNORECASE,
)
_NAMES = re.compile(r"[^`()=<>]*")  # a header of names: neither code nor links
_MAX_NAME = 40
_MAX_ROW_NAME = 12  # words
_SENTENCE_ENDS = (".", "!", "。", "！")


def trimmed(quote: str) -> str:
    """The quote (plain text) without a leading connective, references in brackets and marks of footnotes.

    An aside that holds a number, a negation, a condition or a word of obligation or extent stays.
    """
    text = _ASIDE.sub(lambda match: match[0] if _PROTECTED.search(match[0]) else "", quote)
    text = _FOOTNOTE.sub("", text).strip()
    leading = _LEADING.match(text)
    if leading is None:
        return text
    rest = text[leading.end() :]
    return rest[0].upper() + rest[1:]


def under(heading: str, text: str) -> str:
    """`text` with the heading in square brackets before it, which says what it is about."""
    return f"[{heading}] {text}"


def row_sentence(header: str, row: str) -> str | None:
    """A row of a Markdown table as "column: cell; column: cell"; None where the first row is none of names: it has
    another number of cells, code, or long texts. Empty cells are left out."""
    names, cells = _cells(header), _cells(row)
    if len(names) != len(cells) or len(cells) < 2 or not all(names) or not _NAMES.fullmatch(header):
        return None
    if _has_text(names):
        return None
    return "; ".join(f"{name}: {cell}" for name, cell in zip(names, cells, strict=True) if cell)


def is_row_of_texts(row: str) -> bool:
    """Whether a cell of a row of a Markdown table is too long for a name: as the first row, it names no columns."""
    return _has_text(_cells(row))


def _has_text(cells: list[str]) -> bool:
    """Whether a cell is too long for a name."""
    return max(map(len, cells), default=0) > _MAX_NAME


def is_only_header(row: str) -> bool:
    """Whether a row of a Markdown table has lost all cells but the first, which names it and is no sentence."""
    cells = _cells(row)
    first = cells[0] if len(cells) > 1 and not any(cells[1:]) else ""
    return bool(first) and len(first.split()) <= _MAX_ROW_NAME and not first.endswith(_SENTENCE_ENDS)


def cells_sentence(row: str) -> str:
    """The cells of a table row, with dashes between them; empty ones are left out."""
    return " – ".join(cell for cell in _cells(row) if cell)


def _cells(line: str) -> list[str]:
    row = line.strip()
    return [faithful_text(cell.of(row)) for cell in cells_of(row, 0, len(row))]


def readings(quote: str, headings: tuple[str, ...]) -> dict[str, Proof]:
    """Every sentence that a quote proves, with the kind of its proof; `headings` are those it stands under, and the
    page's title."""
    texts = dict.fromkeys((quote, trimmed(quote)))
    proofs: dict[str, Proof] = {under(heading, text): "trimmed" for heading in headings if heading for text in texts}
    return proofs | dict.fromkeys(texts, "trimmed") | {quote: "verbatim"}
