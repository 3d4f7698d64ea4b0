"""Paths of the pages of this application that others link to."""

from __future__ import annotations

from urllib.parse import urlencode


def stored_page_path(version_id: int, start: int | None = None, end: int | None = None) -> str:
    """The stored text of a page's version; with [start, end), in code points of its Markdown, at that quote."""
    if start is None or end is None:
        return f"/pages/{version_id}"
    return f"/pages/{version_id}?{urlencode({'start': start, 'end': end})}#quote"
