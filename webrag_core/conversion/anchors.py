"""Where the headings and terms that have an id end in the Markdown: marks that go through the conversion with them.

A mark stands right behind the last letter of a heading, or behind a term whose Markdown is finished, so that it changes
nothing before it is taken out again: the text is the same as without marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

from webrag_core.conversion.markup.models import MAX_ANCHORS, MAX_TEXT, Cut
from webrag_core.store.text import storable

# no page has our marks: `definition_lists.strip_placeholder_marks` takes both signs out of its text
_OPEN, _CLOSE = "\ue000#", "\ue001"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = ("blockquote", "dl", "ol", "pre", "table", "ul")  # no heading holds them: their letters may be moved
_SECTIONS = ("section", "div", "article")


class AnchorMarks:
    """The ids of a page that are marked, at most MAX_ANCHORS."""

    def __init__(self) -> None:
        self._ids: list[list[str]] = []
        self._count = 0
        self.cut: tuple[Cut, ...] = ()

    def of(self, element: HtmlElement, *further: str) -> str:
        """The mark of the ids that an element and what stands in it have, and of `further` ones; empty for none."""
        ids = [*further, *(str(item) for item in element.xpath("descendant-or-self::*/@id | descendant::a/@name"))]
        ids = [storable(number) for number in dict.fromkeys(ids) if 0 < len(number) <= MAX_TEXT]
        room = MAX_ANCHORS - self._count
        if len(ids) > room:
            self.cut = ("too_many_anchors",)
            ids = ids[:room]
        if not ids:
            return ""
        self._ids.append(ids)
        self._count += len(ids)
        return f"{_OPEN}{len(self._ids) - 1}{_CLOSE}"

    def taken_from(self, marked: str) -> tuple[str, tuple[tuple[str, int], ...]]:
        """(the text without marks, (id, offset where its mark stood) in order). Of equal ids the first one counts."""
        pieces: list[str] = []
        anchors: dict[str, int] = {}
        length = last = 0
        for match in _MARK.finditer(marked):
            pieces.append(marked[last : match.start()])
            length += match.start() - last
            last = match.end()
            for name in self._ids[int(match[1])]:
                anchors.setdefault(name, length)
        pieces.append(marked[last:])
        return "".join(pieces), tuple(anchors.items())


def mark_headings(main: HtmlElement) -> AnchorMarks:
    """Mark every heading that has an id, or begins a section that has one."""
    marks = AnchorMarks()
    for heading in main.iter(*_HEADINGS):
        if next(heading.iter(*_BLOCKS), None) is not None:
            continue
        place = _last_letter(heading)
        if place is None or (mark := marks.of(heading, *_ids_before(heading))) == "":
            continue
        element, name = place
        text = getattr(element, name)
        ink = text.rstrip()
        setattr(element, name, ink + mark + text[len(ink) :])
    return marks


def _ids_before(heading: HtmlElement) -> Iterator[str]:
    """Ids of empty elements right before a heading, and of the section that begins with it."""
    element = heading
    while True:
        before = element.getprevious()
        while before is not None and isinstance(before.tag, str) and _is_empty(before):
            yield from (str(item) for item in before.xpath("descendant-or-self::*/@id | descendant-or-self::a/@name"))
            before = before.getprevious()
        above = element.getparent()
        if before is not None or above is None or above.tag not in _SECTIONS or (above.text or "").strip():
            return
        if above.get("id"):
            yield str(above.get("id"))
        element = above


def _is_empty(element: HtmlElement) -> bool:
    return not (element.tail or "").strip() and element.tag in ("a", "span") and not element.text_content().strip()


def _last_letter(element: HtmlElement) -> tuple[HtmlElement, str] | None:
    """Where the last text of an element stands: (element, `text` or `tail`); None where it has none."""
    for child in reversed(element):
        if (child.tail or "").strip():
            return child, "tail"
        if isinstance(child.tag, str) and (place := _last_letter(child)) is not None:
            return place
    return (element, "text") if (element.text or "").strip() else None
