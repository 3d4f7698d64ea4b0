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
# Class names on articles, where sentences are what counts. Parts of words too: "relatedposts", "adverts".
_BESIDE_ARTICLE = re.compile(
    r"related|shar(?:e(?!d)|ing)|social ?(?:links|icons|media|bar|buttons)|comment|disqus|newsletter|subscri"
    r"|sign ?up|login|bread ?crumb|promo|sponsor|advert|\bads?\b|donat|recommend|popular|trending|cookie|consent"
    r"|popup|modal|widget|side ?bar|tool ?bar|\bcta\b|call ?to ?action"
    r"|byline|author|\bbio\b|\btags?\b|tag ?list|dateline|timestamp|\bmeta\b|caption|credit|gallery|rating"
    r"|pager|pagination|nav ?bar|\bnav\b|\bmenu|footer|masthead|\bprint|\bskip|read ?next"
)


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


@lru_cache(maxsize=4096)
def is_beside_article(names: str) -> bool:
    """Whether the class names mark a box beside an article, or in it without belonging to it."""
    return _BESIDE_ARTICLE.search(_words(names)) is not None


def _words(names: str) -> str:
    """Names as words in lower case: `sideBar_left` is `side bar left`."""
    return _WORD_JOINT.sub(" ", names).lower()
