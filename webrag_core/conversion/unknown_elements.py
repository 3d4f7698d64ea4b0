"""Custom elements and `label`s: what a browser shows apart, though the element is none that HTML knows as a block."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_CUSTOM_NAME = re.compile(r"<([a-zA-Z][\w.]*-[\w.-]*)")
_MAX_NAMES = 200  # that are looked for by name
_IN_LINE = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "a", "dt", "summary", "label", "caption", "pre", "code", "b", "em",
            "i", "strong", "span", "button", "small", "sub", "sup", "option"}  # fmt: skip
"""Elements that hold text of one line, or among whose neighbours a custom element is a word of the line."""
_BLOCKS = ("address", "article", "aside", "blockquote", "details", "div", "dl", "figure", "footer", "form", "h1", "h2",
           "h3", "h4", "h5", "h6", "header", "hr", "main", "ol", "p", "pre", "section", "table", "ul")  # fmt: skip
_CLOSING = ".,;:!?)]}%\u2019\u201d"


def lay_out_unknown_elements(root: HtmlElement, html: str) -> None:
    """Make boxes of custom elements, but words of those in a line of text; part neighbours that would run together.

    `html` is the text of the page.
    """
    for element in _custom_elements(root, html):
        if element.tag.endswith("panel") and element.get("role") is None:
            element.set("role", "tabpanel")
        if _is_in_line(element):
            element.tag = "span"
            part(element)
        else:
            element.tag = "div"
    for label in root.iter("label"):
        part(label)


def _custom_elements(root: HtmlElement, html: str) -> list[HtmlElement]:
    """Elements with a hyphen in their name, the innermost first."""
    names = {match[1].lower() for match in _CUSTOM_NAME.finditer(html)}
    if not names:
        return []
    result = root.iter(*names) if len(names) <= _MAX_NAMES else root.xpath("descendant::*[contains(name(), '-')]")
    return [element for element in reversed(list(result)) if element is not root]


def _is_in_line(element: HtmlElement) -> bool:
    """Whether an element without blocks stands beside words, in a heading or in a paragraph."""
    if next(element.iterdescendants(*_BLOCKS), None) is not None:
        return False
    parent, before, after = element.getparent(), element.getprevious(), element.getnext()
    if parent is None or parent.tag in _IN_LINE:
        return True
    text_before = parent.text if before is None else before.tail
    if (text_before or "").strip() or (element.tail or "").strip():
        return True
    return any(beside is not None and beside.tag in _IN_LINE and (beside.text or len(beside))
               and next(beside.iterdescendants(*_BLOCKS), None) is None and beside.tag not in _BLOCKS
               for beside in (before, after))  # fmt: skip


def part(element: HtmlElement) -> None:
    """Put a blank between an element and the elements right before and behind it, where both have words."""
    before, after = element.getprevious(), element.getnext()
    if before is not None and not before.tail and _begins_word(element):
        before.tail = " "
    if after is not None and not element.tail and _begins_word(after):
        element.tail = " "


def _begins_word(element: HtmlElement) -> bool:
    return isinstance(element.tag, str) and not (element.text or "").startswith(tuple(_CLOSING))
