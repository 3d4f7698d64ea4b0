"""Whether a page declares itself an article."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_ARTICLE_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:\w*NewsArticle|Article|BlogPosting)"')  # not TechArticle
_ENTRY = {"entry-content", "e-content"}  # hAtom and h-entry
_DATES = "descendant::*[contains(@itemprop, 'datePublished')]"
_ENTRY_DATES = (
    "descendant::*[contains(@class, 'published') or contains(@class, 'entry-date') or contains(@class, 'updated')]"
)


def is_declared_article(root: HtmlElement) -> bool:
    """Whether the metadata say so: Open Graph, JSON-LD, or an article body with a date in microdata or microformats.

    A body alone does not: a Sphinx theme calls every page an Article, and WordPress every page an entry.
    """
    document = root.getroottree().getroot()
    for meta in document.iter("meta"):
        name, content = (meta.get("property") or meta.get("name") or "").lower(), meta.get("content") or ""
        if name == "article:published_time" or (name, content.strip().lower()) == ("og:type", "article"):
            return True
    scripts = (script for script in document.iter("script") if script.get("type") == "application/ld+json")
    if any(_ARTICLE_TYPE.search(script.text or "") for script in scripts):
        return True
    bodies, entries = 0, 0
    for box in root.iter("article", "div", "section"):
        bodies += box.get("itemprop") == "articleBody"
        entries += (names := box.get("class")) is not None and not _ENTRY.isdisjoint(names.split())
    return bool((bodies == 1 and document.xpath(_DATES)) or (entries == 1 and document.xpath(_ENTRY_DATES)))
