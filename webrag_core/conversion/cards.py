"""Cards: boxes of one kind beside each other, each with its own header and footer."""

from __future__ import annotations

from itertools import islice

from lxml.html import HtmlElement

_MAX_UP = 3  # boxes around a part of a card


def is_of_card(part: HtmlElement) -> bool:
    """Whether an element stands with others in a box that has a neighbour of the same tag and class names."""
    box = part.getparent()
    for _ in range(_MAX_UP):
        if box is None or box.tag in ("body", "html"):
            return False
        if box.tag in ("div", "li", "a", "section", "article") and _has_twin(box):
            return next(islice(box.iterchildren("*"), 1, None), None) is not None
        box = box.getparent()
    return False


def _has_twin(box: HtmlElement) -> bool:
    beside = (*islice(box.itersiblings("*", preceding=True), 1), *islice(box.itersiblings("*"), 1))
    names = box.get("class")
    return any(twin.tag == box.tag and twin.get("class") == names and (names or box.tag == "li") for twin in beside)
