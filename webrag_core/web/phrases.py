"""Counts, times and reasons as people read them on the pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from webrag_core.errors import Reason
from webrag_core.language.names import language_name
from webrag_core.retrieval.request import DocumentType

TYPES: dict[DocumentType, str] = {
    "html": "web pages",
    "pdf": "PDF",
    "office": "office files",
    "text": "plain text",
}
"""Kinds of pages in words."""
FLAGS: dict[str, str] = {
    "code": "code",
    "table": "a table",
    "steps": "steps",
    "math": "formulas",
    "image": "an image",
    "definition_list": "definitions",
    "admonition": "a note or warning",
}
"""What passages may hold, in words."""
_UNITS = (
    ("year", timedelta(days=365)),
    ("month", timedelta(days=30)),
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


def reason_text(code: str) -> str:
    """Why a page has no (new) text, in words."""
    known = Reason.__members__.get(code.upper())
    return code.replace("_", " ") if known is None else known.words


def language_text(tag: str) -> str:
    """A language by its English name, with the tag where it is more than a language: English (en-gb)."""
    if not tag:
        return "not clear"
    name = language_name(tag.partition("-")[0])
    return f"{name} ({tag})" if "-" in tag else name


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """`1 page`, `1,200 pages`; `nouns` where the plural has more than an s."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def ago(moment: datetime, now: datetime | None = None) -> str:
    """How long ago, in its largest unit: `3 days ago`; of what lies ahead `in 3 days`."""
    distance = (now or datetime.now(UTC)) - moment
    for unit, length in _UNITS:
        number = abs(distance) // length
        if number:
            return f"{counted(number, unit)} ago" if distance > timedelta(0) else f"in {counted(number, unit)}"
    return "just now" if distance >= timedelta(0) else "in a moment"
