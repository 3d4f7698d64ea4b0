"""What mark-up hides: for all readers, or for those who see the page."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from webrag_core.conversion.shown.attribute_index import AttributeIndex

_SCREEN_READER = {"sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only",
                  "a11y-hidden", "u-visually-hidden", "usa-sr-only"}  # fmt: skip
_SHOWN_AT_A_WIDTH = re.compile(r"not-sr-only|focusable")
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden"
    # far outside the page; sliders keep their next item nearer
    r"|(?:left|right|top|bottom|text-indent)\s*:\s*-(?:(?:[5-9]\d{3}|\d{5,})(?:px|pt)|\d{3,}(?:r?em|vw|vh))",
    re.IGNORECASE,
)
_NO_SIZE = re.compile(r"font-size\s*:\s*0+(?:\.0+)?\s*(?:[a-z%]{1,4}\s*)?(?:;|!|$)", re.IGNORECASE)


def may_be_hidden(index: AttributeIndex) -> list[HtmlElement]:
    """The elements that an attribute or a style may hide, and all dialogs."""
    return list(dict.fromkeys((*index.having("aria-hidden", "hidden", "style"), *index.root.iterdescendants("dialog"))))


def is_hidden(element: HtmlElement) -> bool:
    """Whether an element is hidden by an attribute or a style; classes are not looked at."""
    attributes = element.attrib
    if attributes.get("aria-hidden") == "true" or attributes.get("hidden", "until-found") != "until-found":
        return True
    if element.tag == "dialog":
        return "open" not in attributes
    style = attributes.get("style")
    if style is None:
        return False
    if _NO_SIZE.search(style) and not len(element):  # children may have a size of their own
        return True
    # of a formula the browser may show a picture, and hide what says it
    return _HIDDEN_STYLE.search(style) is not None and next(element.iter("math"), None) is None


def is_on_screen(element: HtmlElement) -> bool:
    """Whether an element is on the screen, and only kept from screen readers."""
    return element.get("aria-hidden") == "true" and not (
        element.get("hidden", "until-found") != "until-found" or _HIDDEN_STYLE.search(element.get("style") or "")
    )


def is_for_screen_readers(element: HtmlElement) -> bool:
    """Whether only screen readers give an element, by its class."""
    names = element.get("class")
    return names is not None and is_class_for_screen_readers(names)


def is_class_for_screen_readers(names: str) -> bool:
    """Whether a class attribute hides an element from the screen, at every width of it."""
    return not _SCREEN_READER.isdisjoint(names.split()) and _SHOWN_AT_A_WIDTH.search(names) is None


def unhide(element: HtmlElement) -> None:
    """Show an element that stays; the converter drops hidden ones."""
    element.attrib.pop("hidden", None)
    element.attrib.pop("aria-hidden", None)
    if "style" in element.attrib and _HIDDEN_STYLE.search(element.get("style") or ""):
        del element.attrib["style"]
