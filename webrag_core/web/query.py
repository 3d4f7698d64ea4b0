"""What the query of an address says: text without signs that cannot be seen, numbers within their range."""

from __future__ import annotations

from collections.abc import Mapping

from webrag_core.page_text import visible

_LONGEST = 2_000


def field(query: Mapping[str, str], name: str) -> str:
    """The text of a field, without blanks around it; "" where it is not there."""
    return visible(query.get(name, "")).strip()[:_LONGEST]


def page_number(query: Mapping[str, str]) -> int:
    """The number of the page that the query of an address names, from 1."""
    text = query.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 6 else 1
