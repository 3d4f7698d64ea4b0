"""Which part of a page is its content: furniture out, the element that holds the content chosen and trimmed.

Every page loses what its mark-up calls furniture (nav, roles, hidden parts) and boxes whose class names say so
(breadcrumbs, share bars, tables of contents of the page itself). More is taken only from a page whose metadata call
it an article and that reads like one: there the element is sought in which most sentences stand, and boxes, captions
and blocks of links go. All other pages, reference and index pages above all, keep everything else: evidence that was
never stored cannot be found, while a little noise is only noise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree
from lxml.html import HtmlElement

_FURNITURE_TAGS = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "input", "select",
                   "textarea", "button", "dialog", "nav")  # fmt: skip
_FURNITURE_MARKS = (
    ".//*[@hidden or @aria-hidden='true' or @role='navigation' or @role='search' or @role='banner'"
    " or @role='contentinfo' or @role='dialog']"
)
_BODY_FURNITURE = ".//header | .//footer | .//aside"
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SECTIONING = {"main", "article", "section"}
_MIN_MAIN_WORDS = 5  # with fewer it is a shell that a script fills
_SAYS_ARTICLE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:\w*NewsArticle|Article|BlogPosting)"')  # not TechArticle

# Words of class names on any page: each means one thing only, and no generator calls content so.
_NAMED = re.compile(
    r"\b(?:bread ?crumbs?|nav ?(?:bar|header|footer|path|row|panel)|(?:top|bottom|sub|side) ?nav|skip ?(?:link|nav)"
    r"|share ?(?:bar|buttons|links|tools|this)|social ?(?:share|links|icons|media|bar)|newsletter ?(?:signup|form|box)?"
    r"|related ?(?:posts|articles|stories)|cookie ?(?:banner|notice|bar|consent)|comments ?(?:area|section|list)"
    r"|comment ?(?:list|form)|disqus|pagination|page ?footer|back ?to ?top)\b"
)
# Class names, and ids without a heading of their own, of what is navigation if it consists of links (or of a footer).
_NAVIGATION = re.compile(r"\b(?:nav|navigation|menu|sidebar|side bar|nav ?tree|nav ?links|footer)\b")
_TOC = re.compile(r"\b(?:toc|table ?of ?contents|on ?this ?page|page ?contents)\b")
# Class names on articles, where sentences are what counts. Parts of words too: "relatedposts", "adverts".
_BESIDE_ARTICLE = re.compile(
    r"related|shar(?:e(?!d)|ing)|social ?(?:links|icons|media|bar|buttons)|comment|disqus|newsletter|subscri"
    r"|sign ?up|login|bread ?crumb|promo|sponsor|advert|\bads?\b|donat|recommend|popular|trending|cookie|consent"
    r"|popup|modal|widget|side ?bar|tool ?bar"
    r"|byline|author|\bbio\b|\btags?\b|tag ?list|dateline|timestamp|\bmeta\b|caption|credit|gallery|rating"
    r"|pager|pagination|nav ?bar|\bnav\b|\bmenu|footer|masthead|\bprint|\bskip|read ?next"
)
_WORD_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]+")
_SENTENCE_MARK = re.compile(r"[.,;:!?…。、，；：！？।۔]")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2"
        " h3 h4 h5 h6 header li main ol p pre section table tbody td tfoot th thead tr ul",
    )
)
_BOXES = ("div", "section", "aside", "ul", "ol", "p", "form", "footer", "header", "figure", "figcaption", "table", "dl",
          "li", "span", "a", "h2", "h3", "h4")  # fmt: skip
_NAMED_BOXES = ("div", "section", "aside", "ul", "ol", "p", "footer", "table", "a")
_LINK_BLOCKS = ("div", "section", "aside", "ul", "ol", "li", "p", "table")
_UNDIVIDED = {"p", "pre", "td", "table", "ul", "ol", "li", "blockquote"}  # never the whole article

# Sizes are bytes of UTF-8: a word of a script with spaces and its like in a script without weigh about the same.
_MIN_PROSE = 60  # about ten words: menus, labels and teasers are shorter
_MOST = 0.7  # with this share of the sentences an element holds the article; with less it is one of its sections
_LARGE = 0.4  # wrappers have names of furniture, too ("has-sidebar"): what holds this share of the content stays
_LINKED = 0.6  # with this share of its text in links a block leads elsewhere; sentences have links at a few words


@dataclass(slots=True)
class _Weight:
    """What an element holds: text, text in links, sentences outside links; whether it has marks, and blocks in it."""

    text: int = 0
    links: int = 0
    prose: int = 0
    marks: bool = False
    blocks: bool = False


_NOTHING = _Weight()
_Weights = Mapping[HtmlElement, _Weight]


def main_content(root: HtmlElement) -> HtmlElement:
    """The element of the body `root` that holds the content, freed of what is none. Changes the tree."""
    says_article = _says_article(root)
    for element in (*root.iterdescendants(*_FURNITURE_TAGS), *root.xpath(_FURNITURE_MARKS)):
        drop(element)
    for element in root.xpath(".//*[@style]"):
        if _HIDDEN_STYLE.search(element.get("style") or ""):
            drop(element)
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)
    main = _container(root)
    article = _article(root, main) if says_article else None
    return _page(main) if article is None else article


def drop(element: HtmlElement) -> None:
    """Take an element out, if it still is in the tree; the text after it stays."""
    if element.getparent() is not None:
        element.drop_tree()


def _says_article(root: HtmlElement) -> bool:
    """Whether the metadata say so: Open Graph or JSON-LD. Not microdata: a Sphinx theme calls every page an Article."""
    document = root.getroottree().getroot()
    for meta in document.iter("meta"):
        name, content = meta.get("property") or meta.get("name") or "", meta.get("content") or ""
        if (name.lower(), content.strip().lower()) == ("og:type", "article"):
            return True
    return any(_SAYS_ARTICLE.search(text) for text in document.xpath(".//script[@type='application/ld+json']/text()"))


def _container(root: HtmlElement) -> HtmlElement:
    """The element that says it holds the content: main, role=main, a single article; else the body, less furniture."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = root.xpath(path)
        if len(found) == 1 and len(found[0].text_content().split()) >= _MIN_MAIN_WORDS:
            return found[0]
    headings = root.xpath(".//h1")
    for element in root.xpath(_BODY_FURNITURE):
        of_section = any(ancestor.tag in _SECTIONING for ancestor in element.iterancestors())
        holds_title = element.tag == "header" and len(headings) == 1 and element in headings[0].iterancestors()
        if not of_section and not holds_title:
            drop(element)
    return root


def _page(main: HtmlElement) -> HtmlElement:
    """Take out of any page what is furniture by name, unless it holds code, definitions or much of the text."""
    most = _LARGE * _unlinked(main)
    for element in list(main.iterdescendants(*_NAMED_BOXES)):
        names = _names(element)
        if not names or not _is_furniture(element, names, outside=main.tag == "body"):
            continue
        if _unlinked(element) <= most and next(element.iter("pre", "dl", "h1"), None) is None:
            drop(element)
    return main


def _is_furniture(element: HtmlElement, names: str, *, outside: bool) -> bool:
    """Whether an element is furniture by its names; `outside` where no element says that it holds the content."""
    if _NAMED.search(names):
        return True
    if _TOC.search(names):  # of the page itself: what it says stands in the headings again
        links = list(element.iter("a"))
        within = len(links) > 1 and all(_is_within(link) for link in links)  # a single one leads back to the list
        return within and sum(_size(link.text_content()) for link in links) > _LINKED * _size(element.text_content())
    named = _NAVIGATION.search(names) if outside else None
    if named is None:
        return False
    return named[0] == "footer" or _unlinked(element) < (1 - _LINKED) * _size(element.text_content())


def _article(root: HtmlElement, main: HtmlElement) -> HtmlElement | None:
    """The element that holds the article, with what stands beside it taken out; None if it does not read like one."""
    weights = _weigh(root)
    prose = weights[main].prose
    boxes = {
        element
        for element in root.iterdescendants(*_BOXES)
        if _stands_beside(element.get("class") or "") and weights[element].prose < _MOST * prose
    }
    weights = _weigh(root, boxes)
    best = main
    for element in root.xpath(".//article | .//*[contains(@itemprop, 'articleBody')]"):
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
    unwanted += [e for e in best.iterdescendants(*_LINK_BLOCKS) if weights[e].links > _LINKED * weights[e].text]
    for element in unwanted:
        drop(element)
    return best


def _holds_it(element: HtmlElement, prose: int, weights: _Weights) -> bool:
    """Whether an element holds most of `prose` and is neither a single block nor a section under its own heading."""
    if element.tag in _UNDIVIDED or weights[element].prose < _MOST * prose:
        return False
    first = next((e for e in element.iterdescendants() if e.tag in _HEADINGS or (e.text or "").strip()), None)
    return first is None or first.tag not in _HEADINGS[1:]


def _names(element: HtmlElement) -> str:
    """Class names, and the id where it is not the anchor of a section, as words in lower case."""
    names = element.get("class") or ""
    if (anchor := element.get("id")) and next(element.iter(*_HEADINGS), None) is None:
        names += " " + anchor
    return _words(names)


@lru_cache(maxsize=4096)  # a page has a handful of names, many times each
def _words(names: str) -> str:
    return _WORD_JOINT.sub(" ", names).lower()


@lru_cache(maxsize=4096)
def _stands_beside(names: str) -> bool:
    return _BESIDE_ARTICLE.search(_words(names)) is not None


def _is_within(link: HtmlElement) -> bool:
    return (link.get("href") or "#").startswith("#")


def _unlinked(element: HtmlElement) -> int:
    """The size of the text outside links to other pages."""
    links = sum(_size(link.text_content()) for link in element.iter("a") if not _is_within(link))
    return _size(element.text_content()) - links


def _weigh(root: HtmlElement, without: Collection[HtmlElement] = ()) -> _Weights:
    """The weight of every element of a tree, those in `without` counted as nothing."""
    weights: dict[HtmlElement, _Weight] = {}
    for _, element in etree.iterwalk(root, events=("end",)):
        if element in without:
            weights[element] = _NOTHING
            continue
        own = element.text or ""
        loose, loose_links = _size(own), 0  # text with inline elements only around it
        weight = _Weight(marks=_SENTENCE_MARK.search(own) is not None)
        for child in element:
            part, tail = weights[child], child.tail or ""
            weight.links += part.links
            weight.marks = weight.marks or part.marks
            if tail and not tail.isspace():
                loose += _size(tail)
                weight.marks = weight.marks or _SENTENCE_MARK.search(tail) is not None
            if part.blocks or child.tag in _BLOCKS:
                weight.blocks = True
                weight.text += part.text
                weight.prose += part.prose
            else:
                loose += part.text
                loose_links += part.links
        weight.text += loose
        if element.tag == "a" and not _is_within(element):
            weight.links, weight.prose, loose = weight.text, 0, 0  # a teaser with sentences is a link all the same
        if loose >= _MIN_PROSE and weight.marks and loose_links < loose / 2:
            weight.prose += loose - loose_links
        weights[element] = weight
    return weights


def _size(text: str) -> int:
    text = text.strip()
    return len(text) if text.isascii() else len(text.encode())
