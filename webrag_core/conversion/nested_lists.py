"""Lists that stand directly in a list, without an item around them."""

from __future__ import annotations

import lxml.html
from lxml.html import HtmlElement


def nest_lists(root: HtmlElement) -> None:
    """Put a list that stands between the items of another one into the item before it, as browsers show it."""
    for inner in list(root.iter("ul", "ol")):
        outer, before = inner.getparent(), inner.getprevious()
        if outer is None or outer.tag not in ("ul", "ol"):
            continue
        tail, inner.tail = inner.tail, None
        while before is not None and not isinstance(before.tag, str):
            before = before.getprevious()
        if before is None or before.tag != "li":
            before = lxml.html.Element("li")
            outer.replace(inner, before)
        before.append(inner)
        before.tail = f"{before.tail or ''}{tail or ''}"
