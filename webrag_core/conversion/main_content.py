"""Which part of a page is its content: furniture out, the element that holds the content chosen and trimmed.

Every page loses what its mark-up calls furniture (nav, roles, hidden parts) and boxes whose class names say so
(breadcrumbs, share bars, tables of contents of the page itself). More is taken only from a page whose metadata call
it an article and that reads like one: there the element is sought in which most sentences stand, and boxes, captions
and blocks of links go. All other pages, reference and index pages above all, keep everything else: evidence that was
never stored cannot be found, while a little noise is only noise.
"""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.article import find_article, says_article
from webrag_core.conversion.furniture import kind_of_box
from webrag_core.conversion.text_weights import is_within, size

_FURNITURE_TAGS = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "input", "select",
                   "textarea", "button", "dialog", "nav")  # fmt: skip
_HIDDEN_CLASSES = {"sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text"}
_ON_DEMAND = {"tabpanel", "region"}  # hidden until somebody clicks: tabs and accordions
_FURNITURE_ROLES = {"navigation", "search", "banner", "contentinfo", "dialog"}
_TELLING = (
    "descendant::*[@role or @aria-hidden or @hidden or @style"
    " or @class[.='sr-only' or .='visually-hidden' or .='visuallyhidden' or .='screen-reader-text']]"
)
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden"
    # far outside the page; nearer is where sliders keep what they show next
    r"|(?:left|right|top|bottom|text-indent)\s*:\s*-(?:(?:[5-9]\d{3}|\d{5,})(?:px|pt)|\d{3,}(?:r?em|vw|vh))",
    re.IGNORECASE,
)
_NO_SIZE = re.compile(r"font-size\s*:\s*0+(?:\.0+)?\s*(?:[a-z%]{1,4}\s*)?(?:;|!|$)", re.IGNORECASE)
_CONTAINERS = (
    "descendant::main",
    "descendant::*[@role='main']",
    "descendant::article",
    "descendant::*[@itemprop='articleBody']",
)
_SECTIONING = {"main", "article", "section"}
_TITLES = {"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"}
_MIN_MAIN_WORDS = 5  # with fewer it is a shell that a script fills
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NAMED_BOXES = ("div", "section", "aside", "ul", "ol", "p", "footer", "table", "a")
_LARGE = 0.4  # wrappers have names of furniture, too ("has-sidebar"): what holds this share of the content stays
_LINKED = 0.6  # with this share of its text in links a block leads elsewhere


def main_content(root: HtmlElement) -> HtmlElement:
    """The element of the body `root` that holds the content, freed of what is none. Changes the tree."""
    is_article = says_article(root)
    _keep_what_furniture_holds(root)
    for element in list(root.iterdescendants(*_FURNITURE_TAGS)):
        drop(element)
    for element in root.xpath(_TELLING):
        if _is_hidden_or_furniture(element):
            drop(element)
        else:
            _show(element)
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)
    main = _container(root)
    found = find_article(root, main) if is_article else None
    if found is None:
        return _page(main)
    article, unwanted = found
    for element in unwanted:
        drop(element)
    return article


def drop(element: HtmlElement) -> None:
    """Take an element out, if it still is in the tree; the text after it stays."""
    if element.getparent() is not None:
        element.drop_tree()


def _keep_what_furniture_holds(root: HtmlElement) -> None:
    """Text in elements that are furniture otherwise: formulas in scripts, titles that open a section, ticks."""
    for script in list(root.iter("script")):
        if (script.get("type") or "").startswith("math/tex"):
            formula = HtmlElement(rf"\({script.text or ''}\)")
            formula.tag, formula.tail = "span", script.tail
            formula.set("class", "math")
            script.getparent().replace(script, formula)
    for box in root.iter("input"):
        if box.get("type") == "checkbox" and box.get("disabled") is not None:  # of a task list: only shown
            box.tag = "span"
            box.text = "[x]" if box.get("checked") is not None else "[ ]"
    for button in list(root.iter("button")):
        parent = button.getparent()
        if parent is not None and parent.tag in _TITLES:
            button.drop_tag()
    for media in root.iter("video", "audio"):  # what they hold is for browsers that cannot play them
        media.text = None
        for child in list(media):
            child.tail = None
            if child.tag != "source":
                drop(child)


def _is_hidden_or_furniture(element: HtmlElement) -> bool:
    role = element.get("role")
    if role in _FURNITURE_ROLES:
        return True
    if role in _ON_DEMAND:
        return False
    if element.get("class") in _HIDDEN_CLASSES:
        return True
    style = element.get("style")
    if element.get("aria-hidden") == "true" or element.get("hidden", "until-found") != "until-found":
        return True
    if style is None:
        return False
    if _NO_SIZE.search(style) and not len(element):  # what it holds may have a size of its own
        return True
    # of a formula the browser may show a picture, and hide what says it
    return _HIDDEN_STYLE.search(style) is not None and next(element.iter("math"), None) is None


def _show(element: HtmlElement) -> None:
    """Make visible to the converter what stays; it drops what is hidden itself."""
    element.attrib.pop("hidden", None)
    if "style" in element.attrib and _HIDDEN_STYLE.search(element.get("style") or ""):
        del element.attrib["style"]


def _container(root: HtmlElement) -> HtmlElement:
    """The element that says it holds the content: main, role=main, one article or its body; else all but furniture."""
    for path in _CONTAINERS:
        found = root.xpath(path)
        if len(found) == 1 and len(found[0].text_content().split()) >= _MIN_MAIN_WORDS:
            return found[0]
    headings = list(root.iter("h1"))
    for element in list(root.iter("header", "footer", "aside")):
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
        if not names or not _is_furniture(element, kind_of_box(names), outside=main.tag == "body"):
            continue
        if _unlinked(element) <= most and next(element.iter("pre", "dl", "h1"), None) is None:
            drop(element)
    return main


def _is_furniture(element: HtmlElement, kind: str, *, outside: bool) -> bool:
    """Whether a box of this kind is furniture; `outside` where no element says that it holds the content."""
    if kind == "toc":  # of the page itself: what it says stands in the headings again
        links = list(element.iter("a"))
        within = len(links) > 1 and all(is_within(link) for link in links)  # a single one leads back to the list
        return within and sum(size(link.text_content()) for link in links) > _LINKED * size(element.text_content())
    if kind == "navigation":
        return outside and _unlinked(element) < (1 - _LINKED) * size(element.text_content())
    return kind == "furniture" or (kind == "footer" and outside)


def _names(element: HtmlElement) -> str:
    """Class names, and the id where it is not the anchor of a section."""
    names = element.get("class") or ""
    if (anchor := element.get("id")) and next(element.iter(*_HEADINGS), None) is None:
        names += " " + anchor
    return names


def _unlinked(element: HtmlElement) -> int:
    """The size of the text outside links to other pages."""
    links = sum(size(link.text_content()) for link in element.iter("a") if not is_within(link))
    return size(element.text_content()) - links
