"""Find the article of a page that declares itself one, and the boxes in it that do not belong to it."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from webrag_core.conversion.boilerplate import is_beside_article
from webrag_core.conversion.text_weights import Weight, Weights, is_block, weigh, weigh_without

_ARTICLE_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:\w*NewsArticle|Article|BlogPosting)"')  # not TechArticle
_ENTRY = {"entry-content", "e-content"}  # hAtom and h-entry
_DATES = "descendant::*[contains(@itemprop, 'datePublished')]"
_ENTRY_DATES = (
    "descendant::*[contains(@class, 'published') or contains(@class, 'entry-date') or contains(@class, 'updated')]"
)
_SUBHEADINGS = {"h2", "h3", "h4", "h5", "h6"}
_BOXES = ("div", "section", "aside", "ul", "ol", "p", "form", "footer", "header", "figure", "figcaption", "table", "dl",
          "li", "span", "a", "h2", "h3", "h4")  # fmt: skip
_LINK_BLOCKS = ("div", "section", "aside", "ul", "ol", "p", "table")  # not li: a list with holes says something else
_DIVISIONS = {"div", "section", "article", "main"}
_UNDIVIDED = {"p", "pre", "td", "table", "ul", "ol", "li", "blockquote"}  # never the whole article
_MOST = 0.7  # with this share of the sentences an element holds the article; with less it is one of its sections
_CARD_LINKS = 3
_LINKED = 0.6  # with this share of its text in links a block leads elsewhere; sentences have links at a few words


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


def find_article(root: HtmlElement, main: HtmlElement) -> tuple[HtmlElement, list[HtmlElement]] | None:
    """Return the element that holds the article and its boilerplate; None if the page does not read like an article."""
    weights = weigh(root)
    prose = weights[main].prose
    boxes = {
        element
        for element in root.iterdescendants(*_BOXES)
        if (
            (names := element.get("class"))
            and is_beside_article(names)
            and weights[element].prose < _MOST * prose
            and not _is_quote(element, weights)
        )
        or _is_card(element, weights[element])
    }
    weights = weigh_without(weights, boxes)
    best = main
    for element in root.xpath("descendant::article | descendant::*[contains(@itemprop, 'articleBody')]"):
        if weights[element].prose > weights[main].prose / 2 and weights[element].prose >= weights[best].prose * _MOST:
            best = element
    inner: HtmlElement | None = best
    while inner is not None:
        best = inner
        inner = next((e for e in best if _holds_it(e, weights[best].prose, weights)), None)
    weight = weights[best]
    if weight.links > weight.text / 2 or weight.prose < (weight.text - weight.links) / 2 or not weight.prose:
        return None
    for element in (*main.iter("pre"), *best.iter("dl")):
        if boxes.isdisjoint((element, *element.iterancestors())):
            return None  # code or definitions: reference, whatever the metadata say
    unwanted = [e for e in best.iterdescendants() if e in boxes]
    unwanted += [e for e in best.iterdescendants(*_LINK_BLOCKS) if _leads_elsewhere(weights[e])]
    unwanted += [e for e in best.iterdescendants("a") if weights[e].links and _stands_alone(e, weights)]
    return best, unwanted


def _stands_alone(link: HtmlElement, weights: Weights) -> bool:
    """Whether a link is a line of its own between paragraphs, not part of a text."""
    parent, before, after = link.getparent(), link.getprevious(), link.getnext()
    if parent is None or parent.tag not in _DIVISIONS or (link.tail or "").strip():
        return False
    if ((parent.text if before is None else before.tail) or "").strip():
        return False
    return all(e is None or e.tag in ("a", "br") or is_block(e, weights) for e in (before, after))


def _is_quote(element: HtmlElement, weights: Weights) -> bool:
    """Whether a box mostly quotes: a post that the article talks about is embedded in a "social" box."""
    quotes = sum(weights[quote].text for quote in element.iterdescendants("blockquote"))
    return quotes > _MOST * weights[element].text


def _is_card(element: HtmlElement, weight: Weight) -> bool:
    """Whether an inline element is three or more links without a word between them: a card beside a name."""
    return element.tag == "span" and weight.links == weight.text > 0 and len(element.findall("a")) >= _CARD_LINKS


def _leads_elsewhere(weight: Weight) -> bool:
    """Whether a block consists of links and holds no sentence of its own."""
    return weight.links > _LINKED * weight.text and not weight.outside


def _holds_it(element: HtmlElement, prose: int, weights: Weights) -> bool:
    """Whether an element holds most of `prose` and is neither a single block nor a section under its own heading."""
    if element.tag in _UNDIVIDED or weights[element].prose < _MOST * prose:
        return False
    first = next(
        (e for e in element.iterdescendants() if e.tag in ("h1", *_SUBHEADINGS) or (e.text or "").strip()), None
    )
    return first is None or first.tag not in _SUBHEADINGS
