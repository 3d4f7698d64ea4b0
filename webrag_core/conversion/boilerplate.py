"""Recognise boilerplate by class names and ids."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Kind = Literal["links", "comments", "control", "toc", "navigation", "frame", "part", ""]
"""What a box may be by its names: links to elsewhere or something to fill in, readers' comments, a control, a table of
contents, navigation, a header or footer of the page, the footer of a part. Names alone say it of none: a manual has
boxes of such names."""

_WORD_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]+")
# Words of class names on any page: each means one thing only.
_LINKS = re.compile(
    r"\b(?:bread ?crumbs?|share ?(?:bar|buttons?|links|tools|this)|social ?(?:share|sharing|links|icons|media|bar)"
    r"|newsletter ?(?:signup|form|box)?|related ?(?:posts?|articles?|stories)|cookie ?(?:banner|notice|bar|consent)"
    r"|pagination|pager)\b"
)
_COMMENTS = re.compile(r"\b(?:comments ?(?:area|section|list)|comment ?(?:list|form)|commentlist|disqus)\b")
_NAVIGATION = re.compile(r"\b(?:nav|navigation|menu|sidebar|side bar|nav ?tree|nav ?links)\b")
_TOC = re.compile(r"\b(?:toc|table ?of ?contents|on ?this ?page|page ?contents)\b")
# Names that count as a whole, with words of layout around them: `card-footer` and `footer-note` belong to a part.
_BEFORE = (
    r"(?:(?:site|page|main|global|theme|docs?|body|app|layout|primary|secondary|region|location|elementor|section|block"
    r"|widget|bottom|top|the|js|[a-z]{1,2}) )*"
)
_AFTER = (
    r"(?: (?:wrapp?er|wrap|container|inner|outer|content|box|bar|area|section|block|widgets?|row|col|column|list|links?"
    r"|items?|nav|navigation|menu|module|panel|text|logo|copyright|legal|info|social|main|primary|secondary|light|dark"
    r"|default|fixed|sticky|top|middle|bottom|left|right|\d+))*"
)
_FRAME = re.compile(
    rf"{_BEFORE}(?:nav ?(?:bar|header|footer|path|row|panel)|(?:top|bottom|sub|side) ?nav|footer|colophon){_AFTER}"
)
_FOOTER = re.compile(r"\bfooter\b")
_CARD = re.compile(r"\b(?:card|panel|tile|entry|item)\b")
_CONTROL = re.compile(
    rf"{_BEFORE}(?:copy ?(?:btn|button)|btn ?copy|\w*clipboard ?(?:button|btn|container)|back ?to ?top"
    rf"|skip ?(?:link|nav)s?){_AFTER}"
)


@lru_cache(maxsize=4096)  # a page has a handful of names, many times each
def kind_of_box(names: str) -> Kind:
    """Classify a box by its class names and id, apart by white space."""
    words = [_WORD_JOINT.sub(" ", name).strip().lower() for name in names.split()]
    together = " ".join(words)
    if any(map(_CONTROL.fullmatch, words)):
        return "control"
    if _COMMENTS.search(together):
        return "comments"
    if _LINKS.search(together):
        return "links"
    if _TOC.search(together):
        return "toc"
    if any(map(_FRAME.fullmatch, words)):
        return "frame"
    if _NAVIGATION.search(together):
        return "navigation"
    return "part" if _FOOTER.search(together) else ""


@lru_cache(maxsize=4096)
def is_of_card(names: str) -> bool:
    """Whether names are those of a part of a card: `card-header`, `mdc-card__footer`."""
    return _CARD.search(_WORD_JOINT.sub(" ", names).lower()) is not None


@lru_cache(maxsize=4096)
def is_of_comment(names: str) -> bool:
    """Whether names are those of one reader's comment, or of a part of it."""
    return "comment" in _WORD_JOINT.sub(" ", names).lower()
