"""What a page shows and its converted text leaves out: characters by reason, and headings with nothing left below.

Texts are measured in characters without white space. Scripts, styles and other text that no browser shows as such
are never counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.converted_page import LeftOut
from webrag_core.conversion.shown.action_words import is_action
from webrag_core.conversion.shown.buttons import acts_as_button

_UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "video", "audio", "textarea")
_ACTIONS = ("button", "select")
_NAVIGATION_ROLES = ("navigation", "search", "banner", "contentinfo")
_NAVIGATION_NAME = re.compile(r"(?<![^\W_])(?:navigation|breadcrumbs?)(?![^\W_])", re.IGNORECASE)
_PICTURES = ("img", "math")
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_MAX_NAMED = 3
_NEXT_TEXTS = 4
_MAX_HEADING = 60  # characters


class TextLedger:
    """Counts what disappears from a tree between its making and each call of a method."""

    def __init__(self, root: HtmlElement) -> None:
        self._root = root
        self._before = _walk(root)
        self._marked = (0, 0, 0)

    def marked(self) -> None:
        """Note what went because of its own mark-up: navigation, actions, and the rest as hidden."""
        gone = max(0, self._before.size - _size(self._root.text_content()))
        attached = {self._root}
        of = {"navigation": 0, "actions": 0}
        for element, (kind, size) in self._before.boxes.items():
            of[kind] += 0 if _is_attached(element, attached) else size
        navigation = min(gone, of["navigation"])
        actions = min(gone - navigation, of["actions"])
        self._marked = (navigation, gone - navigation - actions, actions)

    def left_out(self, main: HtmlElement) -> tuple[LeftOut, str | None]:
        """What is not in `main`, with a warning where headings ended up with nothing below them."""
        navigation, hidden, actions = self._marked
        kept = _size(main.text_content())
        boilerplate = max(0, self._before.size - kept - navigation - hidden - actions)
        bare = [heading for heading in main.iter(*_HEADINGS) if heading in self._before.above and _may_be_bare(heading)]
        if bare:  # the walk is only for pages where one may be
            above = _walk(main, measures=False).above
            bare = [heading for heading in bare if heading not in above and _text(heading)]
        return LeftOut(boilerplate, navigation, hidden, actions, len(bare)), _warning(bare) if bare else None


_Kind = Literal["navigation", "actions"]


@dataclass(slots=True)
class _Walk:
    """Characters of a tree, its outermost boxes of each kind with theirs, and the headings with something below."""

    size: int = 0
    boxes: dict[HtmlElement, tuple[_Kind, int]] = field(default_factory=dict)
    above: set[HtmlElement] = field(default_factory=set)


def _walk(root: HtmlElement, *, measures: bool = True) -> _Walk:
    """`measures`: whether the characters are wanted, too."""
    walk = _Walk()
    pending: list[HtmlElement] = []  # headings with nothing below them yet
    unseen: HtmlElement | None = None
    box: HtmlElement | None = None
    heading: HtmlElement | None = None
    box_size = 0
    kind: _Kind = "actions"
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        tag = element.tag
        if event == "start":
            text = element.text
            if unseen is None and tag in _UNSEEN:
                unseen = element
            elif tag in _HEADINGS and heading is None and box is None:
                heading = element
                while pending and _HEADINGS[pending[-1].tag] >= _HEADINGS[tag]:
                    pending.pop()
            elif box is None and (result := _kind(element)) is not None:
                box, box_size, kind = element, 0, result
            elif (tag in _PICTURES or _is_check_mark(element)) and heading is None and box is None:
                walk.above.update(pending)
                pending = []
        else:
            text = element.tail if element is not root else None
            if element is unseen:
                unseen = None
            if element is heading:
                heading = None
                pending.append(element)
            if element is box:
                walk.boxes[element], box = (kind, box_size), None
        if unseen is not None or not text or text.isspace():
            continue
        if measures:
            size = _size(text)
            walk.size += size
            box_size += size
        if heading is None and box is None and pending:
            walk.above.update(pending)
            pending = []
    return walk


def _may_be_bare(heading: HtmlElement) -> bool:
    """Whether no text stands right behind a heading."""
    after = heading.getnext()
    texts = () if after is None or after.tag in _HEADINGS else islice(after.itertext(), _NEXT_TEXTS)
    return not (heading.tail or "").strip() and all(text.isspace() for text in texts)


def _kind(element: HtmlElement) -> _Kind | None:
    names = f"{element.get('class', '')} {element.get('id', '')}"
    if element.tag == "nav" or element.get("role") in _NAVIGATION_ROLES or _NAVIGATION_NAME.search(names):
        return "navigation"
    is_action_elsewhere = acts_as_button(element) and is_action(element.text_content())
    return "actions" if element.tag in _ACTIONS or is_action_elsewhere else None


def _is_check_mark(element: HtmlElement) -> bool:
    """Whether an element is the mark of a list of tasks; other fields and buttons are no content."""
    return element.tag == "input" and element.get("type") == "checkbox" and element.get("disabled") is not None


def _warning(bare: list[HtmlElement]) -> str:
    names = ", ".join(f"“{_text(heading)[:_MAX_HEADING]}”" for heading in bare[:_MAX_NAMED])
    more = f" and {len(bare) - _MAX_NAMED} more" if len(bare) > _MAX_NAMED else ""
    return f"the text below {names}{more} was left out; `webrag history URL --left-out` says why"


def _is_attached(element: HtmlElement, attached: set[HtmlElement]) -> bool:
    """Whether a way leads up to one of `attached`, which grows by it."""
    way = []
    each: HtmlElement | None = element
    while each is not None and each not in attached:
        way.append(each)
        each = each.getparent()
    if each is None:
        return False
    attached.update(way)
    return True


def _size(text: str) -> int:
    return len("".join(text.split()))


def _text(element: HtmlElement) -> str:
    return " ".join(element.text_content().split())
