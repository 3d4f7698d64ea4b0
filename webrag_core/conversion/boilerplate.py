"""Recognise boilerplate by class names and ids."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]+")
# Words of class names on any page: each means one thing only, and no generator calls content so.
_NAMED = re.compile(
    r"\b(?:bread ?crumbs?|nav ?(?:bar|header|footer|path|row|panel)|(?:top|bottom|sub|side) ?nav|skip ?(?:link|nav)"
    r"|share ?(?:bar|buttons|links|tools|this)|social ?(?:share|links|icons|media|bar)|newsletter ?(?:signup|form|box)?"
    r"|related ?(?:posts|articles|stories)|cookie ?(?:banner|notice|bar|consent)|comments ?(?:area|section|list)"
    r"|comment ?(?:list|form)|disqus|pagination|page ?footer|back ?to ?top"
    r"|copy ?(?:btn|button)|btn ?copy|\w*clipboard ?(?:button|btn|container))\b"
)
# Class names, and ids without a heading of their own, of what is navigation if it consists of links (or of a footer).
_NAVIGATION = re.compile(r"\b(?:nav|navigation|menu|sidebar|side bar|nav ?tree|nav ?links|footer)\b")
_TOC = re.compile(r"\b(?:toc|table ?of ?contents|on ?this ?page|page ?contents)\b")


@lru_cache(maxsize=4096)  # a page has a handful of names, many times each
def kind_of_box(names: str) -> str:
    """Classify a box by its class names and id: "boilerplate", "toc", "navigation", "footer" or ""."""
    words = _words(names)
    if _NAMED.search(words):
        return "boilerplate"
    if _TOC.search(words):
        return "toc"
    match = _NAVIGATION.search(words)
    if match is None:
        return ""
    return "footer" if match[0] == "footer" else "navigation"


def _words(names: str) -> str:
    """Names as words in lower case: `sideBar_left` is `side bar left`."""
    return _WORD_JOINT.sub(" ", names).lower()
