"""Paths of the pages of this application that others link to."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def ask_path(question: str = "", *urls: str, source: str = "") -> str:
    """The page to ask on, with the question and the start pages in its boxes, and a source chosen."""
    filled = {"question": question, "url": "\n".join(urls), "source": source}
    return f"/?{urlencode({name: value for name, value in filled.items() if value})}"


def stored_page_path(version_id: int, start: int | None = None, end: int | None = None) -> str:
    """The stored text of a page's version; with [start, end), in code points of its Markdown, at that quote."""
    if start is None or end is None:
        return f"/pages/{version_id}"
    return f"/pages/{version_id}?{urlencode({'start': start, 'end': end})}#quote"


def source_path(key: str) -> str:
    """The page of a source."""
    return f"/sources/{quote(key)}"


def history_path(url: str, **query: str | int) -> str:
    """The versions of a page."""
    return f"/history?{urlencode({'url': url, **query})}"


def graph_path(key: str, **query: str | int) -> str:
    """What is near a page, a symbol, a term or another thing of the graph."""
    return f"/graph?{urlencode({'key': key, **query})}"


def comparison_path(url: str, before: int, after: int) -> str:
    """Two versions of a page, by number, side by side."""
    return f"/history/diff?{urlencode({'url': url, 'from': before, 'to': after})}"
