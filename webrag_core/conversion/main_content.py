"""Extract the main content: drop boilerplate, and what a fitted model takes for it.

Every page loses what its mark-up marks as boilerplate (nav, roles, hidden parts). A model (`content`) then drops the
units of text that stand around the content. Reference pages (with code or definitions, and not declared an article) and
those that the model does not apply to lose boxes with names of boilerplate only (breadcrumbs, share bars, tables of
contents of the page itself) and keep everything else: evidence that was never stored cannot be found, while a little
noise is only noise.
"""

from __future__ import annotations

from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.boilerplate import kind_of_box
from webrag_core.conversion.cards import is_of_card
from webrag_core.conversion.content.declared import is_declared_article
from webrag_core.conversion.content.selection import drop_boilerplate
from webrag_core.conversion.content.units import byte_size, is_same_page_link
from webrag_core.conversion.shown.accessible_names import write_names
from webrag_core.conversion.shown.attribute_index import AttributeIndex
from webrag_core.conversion.shown.buttons import take_actions
from webrag_core.conversion.shown.code_labels import take_code_labels
from webrag_core.conversion.shown.on_demand import take_hidden_parts
from webrag_core.conversion.shown.options import list_options
from webrag_core.conversion.shown.panels import MADE
from webrag_core.conversion.shown.summaries import free_headings
from webrag_core.conversion.shown.tab_names import find_tabs, name_panels, panels_of

_BOILERPLATE_TAGS = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "input", "select",
                   "textarea", "button", "dialog", "nav")  # fmt: skip
_BOILERPLATE_ROLES = {"navigation", "search", "banner", "contentinfo", "dialog"}
_CONTAINERS = (
    "descendant::main",
    "descendant::*[@role='main']",
    "descendant::article",
    "descendant::*[@itemprop='articleBody']",
)
_SECTIONING = {"main", "article", "section"}
_MIN_MAIN_WORDS = 5  # with fewer it is a shell that a script fills
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NAMED_BOXES = ("div", "section", "aside", "ul", "ol", "p", "footer", "table", "a")
_DEFINITIONS = 0.25  # share of the text
_LARGE = 0.4  # wrappers have names of boilerplate, too ("has-sidebar"): what holds this share of the content stays
_LINKED = 0.6  # with this share of its text in links a block leads elsewhere


def body_of(document: HtmlElement) -> HtmlElement:
    """Return the body of a document, or the document without its titles where there is none."""
    root = document.find("body")  # one further down is a second one, or stands in a head that was never closed
    if root is None:
        root = document
        for element in list(root.iter("title")):
            drop(element)
    return root


def main_content(root: HtmlElement, *, article: str | None = None) -> HtmlElement:
    """Return the element of the body `root` that holds the content, without boilerplate. Changes the tree.

    `article` is the text that the page's metadata state: a check on what is dropped, never the text itself.
    """
    is_article = is_declared_article(root)
    strip_marked_boilerplate(root)
    declared = _declared_container(root)
    is_judged = (is_article or not _is_reference(root, declared)) and drop_boilerplate(
        root, is_declared_article=is_article, article=article
    )
    if is_judged:
        return _without_boilerplate(root)
    return _without_boilerplate(_without_frame(root) if declared is None else declared)


def _is_reference(root: HtmlElement, declared: HtmlElement | None) -> bool:
    """Whether a page holds code, or consists of definitions to a good part; in a declared container any will do."""
    if next(root.iter("pre"), None) is not None:
        return True
    if declared is not None and any(MADE not in term.attrib for term in declared.iter("code", "dt")):
        return True
    definitions = sum(_size(each.text_content()) for each in root.iter("dl") if MADE not in each.attrib)
    return definitions > _DEFINITIONS * _size(root.text_content())


def strip_marked_boilerplate(root: HtmlElement) -> None:
    """Drop what mark-up itself marks as no content: scripts, navigation, controls, hidden parts, comments."""
    _rescue_content(root)
    index = AttributeIndex(root)
    tabs = find_tabs(index)
    for element in (*write_names(index), *take_hidden_parts(index, panels_of(tabs)), *name_panels(index, tabs)):
        drop(element)
    list_options(root)
    for element in take_actions(index):
        drop(element)
    free_headings(root)
    for element in (*take_code_labels(root), *root.iterdescendants(*_BOILERPLATE_TAGS)):
        drop(element)
    for element in index.having("role"):
        if element.get("role") in _BOILERPLATE_ROLES:
            drop(element)
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)


def drop(element: HtmlElement) -> None:
    """Remove an element that is still in the tree; the text after it stays."""
    if element.getparent() is not None:
        element.drop_tree()


def _rescue_content(root: HtmlElement) -> None:
    """Rescue text from elements that are boilerplate otherwise: formulas in scripts, check marks of lists of tasks."""
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
    for media in root.iter("video", "audio"):  # fallback content for browsers that cannot play them
        media.text = None
        for child in list(media):
            child.tail = None
            if child.tag in ("source", "track"):
                child.text = None  # the parser does not know them as empty
                del child[:]
            else:
                drop(child)


def _declared_container(root: HtmlElement) -> HtmlElement | None:
    """Return the only main, role=main, article or article body that has text."""
    for path in _CONTAINERS:
        elements = root.xpath(path)
        if len(elements) == 1 and len(elements[0].text_content().split()) >= _MIN_MAIN_WORDS:
            return elements[0]
    return None


def _without_frame(root: HtmlElement) -> HtmlElement:
    """Drop header, footer and asides of a page; those of sections and cards stay, a header of the only title too."""
    headings = list(root.iter("h1"))
    for element in list(root.iter("header", "footer", "aside")):
        of_section = any(ancestor.tag in _SECTIONING for ancestor in element.iterancestors())
        holds_title = element.tag == "header" and len(headings) == 1 and element in headings[0].iterancestors()
        if not of_section and not holds_title and not is_of_card(element):
            drop(element)
    return root


def _without_boilerplate(main: HtmlElement) -> HtmlElement:
    """Drop boxes that are boilerplate by name, unless they hold code, definitions or much of the text."""
    most = _LARGE * _unlinked(main)
    for element in list(main.iterdescendants(*_NAMED_BOXES)):
        names = _names(element)
        if not names or not _is_boilerplate(element, kind_of_box(names), outside=main.tag == "body"):
            continue
        if _unlinked(element) <= most and next(element.iter("pre", "dl", "h1"), None) is None:
            drop(element)
    return main


def _is_boilerplate(element: HtmlElement, kind: str, *, outside: bool) -> bool:
    """Whether a box of this kind is boilerplate; `outside` where no container is declared."""
    if kind == "toc":  # table of contents of the page: repeats its headings
        links = list(element.iter("a"))
        # a single link leads back to the list
        within = len(links) > 1 and all(is_same_page_link(link) for link in links)
        return within and sum(_size(link.text_content()) for link in links) > _LINKED * _size(element.text_content())
    if kind == "navigation":
        return outside and _unlinked(element) < (1 - _LINKED) * _size(element.text_content())
    return kind == "boilerplate" or (kind == "footer" and outside)


def _names(element: HtmlElement) -> str:
    """Return class names, and the id unless it is the anchor of a section."""
    names = element.get("class") or ""
    if (anchor := element.get("id")) and next(element.iter(*_HEADINGS), None) is None:
        names += " " + anchor
    return names


def _unlinked(element: HtmlElement) -> int:
    """Return the size of the text outside links to other pages."""
    links = sum(_size(link.text_content()) for link in element.iter("a") if not is_same_page_link(link))
    return _size(element.text_content()) - links


def _size(text: str) -> int:
    """Return the bytes of a text without surrounding white space."""
    return byte_size(text.strip())
