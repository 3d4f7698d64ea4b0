"""Extract the main content: drop boilerplate, and what a fitted model takes for it.

Every page loses what its mark-up marks as boilerplate (nav, roles, hidden parts). A model (`content`) then drops the
units of text that stand around the content. Reference pages (with code or definitions, and not declared an article) and
those that the model does not apply to lose boxes with names of boilerplate only (breadcrumbs, share bars, tables of
contents of the page itself) and keep everything else: evidence that was never stored cannot be found, while a little
noise is only noise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.boilerplate import Kind, is_of_card, is_of_comment, kind_of_box
from webrag_core.conversion.content.declared import is_declared_article
from webrag_core.conversion.content.selection import drop_boilerplate
from webrag_core.conversion.content.units import byte_size, is_same_page_link
from webrag_core.conversion.left_out import TextLedger
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
_PARTS = {*_SECTIONING, "blockquote", "figure", "li", "td", "dd", "details", "fieldset"}
_CARDS = _PARTS - {"main", "section"}
_CONTROLS = ("button", "form", "input", "select", "textarea")
_MAX_FRAMES = 2  # of the same name: above and below the content
_TELLING = ("links", "comments", "control", "part")
_CARD_LEVELS = 2  # a card may stand in a column
_PARTLY_LINKED = 0.2
_MAX_CONTROL = 60  # bytes
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


def main_content(root: HtmlElement, *, ledger: TextLedger, article: str | None = None) -> HtmlElement:
    """Return the element of the body `root` that holds the content, without boilerplate. Changes the tree.

    `article` is the text that the page's metadata state: a check on what is dropped, never the text itself. `ledger`
    notes what the page's own mark-up drops.
    """
    is_article = is_declared_article(root)
    with_controls = _boxes_around(root, *_CONTROLS)
    strip_marked_boilerplate(root)
    ledger.marked()
    declared = _declared_container(root)
    named = _named_boxes(root)
    is_judged = (is_article or not _is_reference(root, declared)) and drop_boilerplate(
        root, is_declared_article=is_article, article=article, misnamed=_misnamed(named, with_controls)
    )
    main = root
    if not is_judged:
        main = _without_frame(root) if declared is None else declared
    return _without_boilerplate(main, declared, named, with_controls)


def shown_text(root: HtmlElement) -> HtmlElement:
    """Return the body `root` without scripts, styles and what is not shown: navigation and buttons stay as text."""
    for box in root.iter("nav"):
        box.tag = "div"
    for button in root.iter("button"):
        button.tag = "span"
    for box in root.xpath("descendant::*[@role]"):
        if box.get("role") in _BOILERPLATE_ROLES and box.get("role") != "dialog":
            del box.attrib["role"]
    strip_marked_boilerplate(root)
    return root


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
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)  # they have no text to be asked for
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


def _boxes_around(root: HtmlElement, *tags: str) -> set[HtmlElement]:
    """Return the elements that are of these tags, or hold one that is."""
    boxes: set[HtmlElement] = set()
    for each in root.iter(*tags):
        element = each
        while element is not None and element not in boxes:
            boxes.add(element)
            element = element.getparent()
    return boxes


def _without_frame(root: HtmlElement) -> HtmlElement:
    """Drop header, footer and asides of a page; those of its parts stay, and a header around the only title."""
    headings = list(root.iter("h1"))
    around = {tag: _boxes_around(root, tag) for tag in ("header", "footer", "aside")}
    for element in list(root.iter(*around)):
        if _is_of_part(element, around[element.tag]):
            continue
        holds_title = element.tag == "header" and len(headings) == 1 and element in headings[0].iterancestors()
        if not holds_title:
            drop(element)
    return root


def _is_of_part(element: HtmlElement, around: set[HtmlElement]) -> bool:
    """Whether a header, footer or aside stands in a section, a quote, an entry of a list, or in a card among others.

    `around`: what holds an element with its tag.
    """
    if is_of_card(element.get("class") or "") or any(each.tag in _PARTS for each in element.iterancestors()):
        return True
    cards = islice(element.iterancestors("div"), _CARD_LEVELS)
    twins = ((card, twin) for card in cards for twin in (card.getprevious(), card.getnext()))
    return any(twin in around and twin.get("class") == card.get("class") and twin.tag == "div" for card, twin in twins)


_Named = list[tuple[HtmlElement, str, Kind]]
"""Boxes with their names, and what those say that they may be."""


def _named_boxes(root: HtmlElement) -> _Named:
    return [
        (element, names, kind)
        for element in root.iterdescendants(*_NAMED_BOXES)
        if (names := _names(element)) and (kind := kind_of_box(names))
    ]


def _misnamed(named: _Named, with_controls: set[HtmlElement]) -> set[HtmlElement]:
    """Return the boxes whose names are those of links and controls that they do not hold."""
    return {
        element
        for element, _, kind in named
        if kind in _TELLING
        and not _is_boilerplate(element, kind, outside=True, has_controls=element in with_controls, places=frozenset())
    }


def _without_boilerplate(
    main: HtmlElement, declared: HtmlElement | None, named: _Named, with_controls: set[HtmlElement]
) -> HtmlElement:
    """Drop boxes that are boilerplate by name, unless they hold code, definitions or much of the text.

    Within the container that the page declares (`declared`) only boxes of links and controls are.
    """
    most = _LARGE * _unlinked(main)
    here = set(main.iterdescendants(*_NAMED_BOXES))
    inside = here if declared is main else set() if declared is None else {*declared.iterdescendants(*_NAMED_BOXES)}
    alike = Counter(names for element, names, _ in named if element in here)
    places = _places(main) if any(kind == "toc" for _, _, kind in named) else frozenset()
    for element, names, kind in named:
        if element not in here:
            continue
        outside = element not in inside
        if kind == "frame" and (
            alike[names] > _MAX_FRAMES or any(each.tag in _CARDS for each in element.iterancestors())
        ):
            outside = False  # it belongs to a part of the page
        has_controls = element in with_controls
        if not _is_boilerplate(element, kind, outside=outside, has_controls=has_controls, places=places):
            continue
        held = ("pre", "h1") if kind == "toc" else ("pre", "dl", "h1")  # DocBook's contents are a list of terms
        if _unlinked(element) <= most and next(element.iter(*held), None) is None:
            drop(element)
    return main


def _is_boilerplate(
    element: HtmlElement,
    kind: Kind,
    *,
    outside: bool,
    has_controls: bool,
    places: frozenset[str],
) -> bool:
    """Whether a box of this kind is boilerplate; `outside` where no container around it is declared. `places` are the
    ids of the page."""
    if kind == "toc":  # table of contents of the page: repeats its headings
        entries = list(element.iter("a"))
        # a single link leads back to the list
        within = len(entries) > 1 and _stay_on_page(entries, places)
        linked = sum(_size(entry.text_content()) for entry in entries)
        return within and linked > _LINKED * _size(element.text_content())
    if kind == "part":
        return False
    size = _size(element.text_content())
    if kind == "control":
        return size <= _MAX_CONTROL
    if kind == "comments":
        return has_controls or any(is_of_comment(_names(each)) for each in element.iterdescendants(*_NAMED_BOXES, "li"))
    links = 1 - _unlinked(element) / max(1, size)
    if links >= _LINKED:
        return kind == "links" or outside
    return outside and (kind == "frame" or (kind == "links" and (has_controls or links >= _PARTLY_LINKED)))


def _places(main: HtmlElement) -> frozenset[str]:
    """Return what links within the page may lead to."""
    elements = list(main.getroottree().iter("*"))
    return frozenset(place for name in ("id", "name") for each in elements if (place := each.get(name)))


def _stay_on_page(links: Sequence[HtmlElement], places: frozenset[str]) -> bool:
    """Whether all links lead to places of their page, which they may name: `manual.html#installing`."""
    targets = [(link.get("href") or "").partition("#") for link in links if not is_same_page_link(link)]
    return len({page for page, _, _ in targets}) < 2 and all(place in places for _, _, place in targets)


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
