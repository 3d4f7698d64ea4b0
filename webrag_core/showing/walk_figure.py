"""The walk of an answer as a figure: the question, the pages that it led to, and which of them are quoted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from webrag_core.drawing.figure import DataTable, Figure
from webrag_core.drawing.tree import Mark, Node, tree
from webrag_core.orchestration.walk import Walk, WalkPage
from webrag_core.page_text import one_line, without_site_name
from webrag_core.readable import counted

_DRAWN = 16
"""Pages in the picture; the table has all of them."""
_MARKS: dict[str, Mark] = {"read": "hollow", "failed": "cross", "stored": "square", "next": "open"}
_QUESTION = ""


def walk_figure(walk: Walk, quote_path: Callable[[int], str] | None = None) -> Figure | None:
    """The picture. Quoted pages lead to `quote_path` of their first quote. None for a walk without pages."""
    if not walk.pages:
        return None
    drawn = _drawn(walk)
    keys = {page.url for page in drawn}
    root = Node(_QUESTION, walk.question, _summary(walk), "none", None)
    nodes = [
        Node(
            key=page.url,
            label=_name(page),
            detail=_detail(page),
            mark="full" if page.quotes and page.state == "read" else _MARKS[page.state],
            parent=page.from_url if page.from_url in keys else _QUESTION,
            is_sure=page.from_url is not None or page.round == 0 or page.state == "stored",
            href=quote_path(page.quotes[0]) if quote_path is not None and page.quotes else "",
            tip=page.url,
        )
        for page in drawn
    ]
    return tree("Walk of the answer, from page to page", [root, *nodes], _table(walk), _note(walk, drawn))


def _drawn(walk: Walk) -> list[WalkPage]:
    """The pages of the picture: where there are many, the quoted ones and what led to them come before the others."""
    if len(walk.pages) <= _DRAWN:
        return list(walk.pages)
    by_url = {page.url: page for page in walk.pages}
    chosen: dict[str, None] = {}
    for page in (*(page for page in walk.pages if page.quotes), *walk.pages):
        at: WalkPage | None = page
        while at is not None and at.url not in chosen and len(chosen) < _DRAWN:
            chosen[at.url] = None
            at = by_url.get(at.from_url or "")
    return [page for page in walk.pages if page.url in chosen]


def _summary(walk: Walk) -> str:
    read = sum(page.state in ("read", "failed") for page in walk.pages)
    quoted = counted(sum(bool(page.quotes) for page in walk.pages), "page") + " quoted"
    if not read:
        return f"searched in what is stored: {quoted}"
    return f"{counted(read, 'page')} in {counted(walk.rounds, 'round')}, {quoted}"


def _note(walk: Walk, drawn: list[WalkPage]) -> str:
    notes = []
    if any(page.round and page.from_url is None and page.named_in is None for page in drawn):
        notes.append("A broken line: which link led there is not known.")
    if len(drawn) < len(walk.pages):
        notes.append(f"{len(walk.pages) - len(drawn)} more are in the table.")
    return " ".join(notes)


def _name(page: WalkPage) -> str:
    return without_site_name(one_line(page.title)) if page.title else _path(page.url)


def _path(url: str) -> str:
    """The address without what its readers know."""
    parts = urlsplit(url)
    place = parts.path if parts.path != "/" else ""
    return f"{parts.hostname or ''}{place}" + (f"?{parts.query}" if parts.query else "")


def _state(page: WalkPage) -> str:
    if page.state == "next":
        return "would be read next"
    if page.state == "stored":
        return "stored before"
    read = "read first" if page.round == 0 else f"read in round {page.round}"
    return f"{read}, gave no text" if page.state == "failed" else read


def _numbers(page: WalkPage) -> str:
    return ", ".join(map(str, sorted(page.quotes)))


def _detail(page: WalkPage) -> str:
    numbers = sorted(page.quotes)
    shown = ", ".join(map(str, numbers[:6])) + (" …" if len(numbers) > 6 else "")
    quoted = f"quote{'' if len(numbers) == 1 else 's'} {shown}" if numbers else ""
    origin = f"linked from {_path(page.named_in)}" if page.named_in else ""
    ended = "" if quoted or page.state != "read" else "not quoted"
    return ", ".join(filter(None, (_state(page), quoted, ended, origin)))


def _origin(page: WalkPage, names: Mapping[str, str]) -> str:
    if page.from_url is not None:
        return names[page.from_url]
    return page.named_in or ("the question" if page.round == 0 else "–")


def _table(walk: Walk) -> DataTable:
    names = {page.url: _name(page) for page in walk.pages}
    return DataTable(
        ("Page", "Address", "What became of it", "Reached from", "Quotes"),
        tuple(
            (
                _name(page),
                page.url,
                _state(page),
                names[page.from_url]
                if page.from_url
                else page.named_in or ("the question" if page.round == 0 else "–"),
                _numbers(page) or "–",
            )
            for page in walk.pages
        ),
    )
