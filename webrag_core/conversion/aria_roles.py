"""ARIA roles: headings, lists and tables that are written as plain boxes and named by their role."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from webrag_core.conversion.aria_tables import CELLS, TABLES, make_tables
from webrag_core.conversion.unknown_elements import part

_BLOCKS = {"list", "listitem", "heading", "paragraph", "term", "definition", "article", "caption", "blockquote",
           "group", "row", "rowgroup", *TABLES, *CELLS}  # fmt: skip
_PARTED = {"tab", "option", "menuitem", "treeitem", "radio"}
_WRITTEN_AS = {"div", "p", "span", "strong", "b", "section", "article"}
_LEVEL = re.compile("[1-9]")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NO_ITEM = (*_HEADINGS, "table", "pre")  # an item of a list that holds them is a box


def apply_roles(root: HtmlElement) -> None:
    """Make headings, lists and tables of boxes with such roles, and blocks of `span`s whose role is a block.

    Headings without a level are mostly captions: they stay plain blocks.
    """
    boxes = [box for box in root.xpath("descendant::*[@role]") if box.tag in _WRITTEN_AS]
    for box in boxes:
        role = box.get("role")
        if role == "heading":
            _make_heading(box)
        elif role == "list":
            _make_list(box)
        elif role in _PARTED:
            part(box)
    make_tables(boxes)
    for box in boxes:
        if box.tag == "span" and box.get("role") in _BLOCKS:
            box.tag = "div"


def _make_heading(box: HtmlElement) -> None:
    level = box.get("aria-level") or ""
    if not _LEVEL.fullmatch(level) or box.tag in ("section", "article"):
        return
    if next(box.iter(*_HEADINGS), None) is None and next(box.iterancestors(*_HEADINGS), None) is None:
        box.tag = f"h{min(int(level), 6)}"


def _make_list(box: HtmlElement) -> None:
    """Make a list of a box that holds nothing but items, none of which holds a heading, code or a table."""
    items = [child for child in box if isinstance(child.tag, str)]
    if not items or (box.text or "").strip() or next(box.iterdescendants(*_NO_ITEM), None) is not None:
        return
    if all(i.get("role") == "listitem" and i.tag in _WRITTEN_AS and not (i.tail or "").strip() for i in items):
        box.tag = "ul"
        for item in items:
            item.tag = "li"
