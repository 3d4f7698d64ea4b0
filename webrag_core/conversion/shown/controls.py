"""Controls that show something on a click, and the ids that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from lxml.html import HtmlElement

from webrag_core.conversion.shown.action_words import is_action, offers_the_rest
from webrag_core.conversion.shown.attribute_index import AttributeIndex
from webrag_core.conversion.shown.hidden import is_hidden

_TAGS = {"a", "button", "label", "summary"}
_CLICKED = {"aria-controls", "aria-expanded", "onclick", "tabindex", "data-target", "data-bs-target", "data-toggle",
            "data-tab"}  # fmt: skip
_CLICKED_ROLES = {"button", "tab", "link"}
_IDS = {"aria-controls", "for", "popovertarget", "commandfor", "panel"}
_NAMING = re.compile(
    r"(?:data|uk|x|v|ng|hx|amp)-.*?(?:target|toggle|control|open|show|trigger|modal|collapse|accordion|tab|panel|popup"
    r"|popover|reveal|href|src|for|click)|uk-toggle|on(?:click)?$|@click"
)
_WORD = re.compile(r"[\w.:-]+")
_MAX_VALUE = 300  # characters of an attribute that are read
_HEADINGS = {"h2", "h3", "h4", "h5", "h6"}  # that of the page itself offers nothing
_TRIGGER = re.compile(
    r"(?:^|[\s_-])(?:accordion|toggle|toggler|trigger|collaps\w*|expand\w*|disclosure|spoiler|question|faq|showhide)(?=$|[\s_-])",
    re.IGNORECASE,
)
_MAX_TITLE = 300  # characters: what is longer is text, no title of what follows
_LOOKED_AT = 25  # elements of a box that may hold a control
_AROUND = {"nav", "template", "noscript"}
_ROLES_AROUND = {"navigation", "menu", "menubar", "search", "banner", "contentinfo"}


def controls(index: AttributeIndex) -> Iterator[HtmlElement]:
    """Yield the elements that may be clicked."""
    for element in index.elements():
        if element.tag in _TAGS or not _CLICKED.isdisjoint(element.keys()) or element.get("role") in _CLICKED_ROLES:
            yield element


def named_ids(control: HtmlElement) -> Iterator[str]:
    """Yield the ids that a control may name, as they are written in its attributes."""
    for name, value in control.attrib.items():
        if name == "href":
            if value.startswith("#") and len(value) > 1:
                yield unquote(value[1:])
        elif name in _IDS:
            yield from value[:_MAX_VALUE].split()
        elif name not in ("class", "id", "style") and _NAMING.match(name):
            for word in _WORD.findall(value[:_MAX_VALUE]):
                yield word.lstrip(".:")


def is_toggle(element: HtmlElement) -> bool:
    """Whether an element is a control that can show what follows, and not one for something else."""
    tag, attributes = element.tag, element.attrib
    if tag == "a":
        href = attributes.get("href", "#")
        clicks = not href or href.startswith(("#", "javascript:")) or "aria-expanded" in attributes
    else:
        clicks = (
            tag in ("button", "summary")
            or "aria-expanded" in attributes
            or "onclick" in attributes
            or attributes.get("role") == "button"
            or (tag == "label" and "for" in attributes)
        )
    if not clicks or "aria-haspopup" in attributes:
        return False
    words = element.text_content()
    return offers_the_rest(words) or not is_action(words)


def offers_what_follows(element: HtmlElement) -> bool:
    """Whether an element is or holds a control that shows what follows it, or has the class of one, beside no more
    than a title."""
    if is_toggle(element):
        return True
    if element.tag in ("p", "table", "ul", "ol", "form", "pre", "nav"):
        return False
    if len("".join(islice(element.itertext(), 60)).strip()) > _MAX_TITLE:
        return False
    if _TRIGGER.search(element.get("class") or ""):
        return True
    return any(
        isinstance(inner.tag, str) and is_toggle(inner) for inner in islice(element.iterdescendants(), _LOOKED_AT)
    )


def is_section_title(element: HtmlElement) -> bool:
    """Whether an element is a heading below that of the page, or a box around nothing else."""
    if element.tag in _HEADINGS:
        return True
    if element.tag not in ("div", "header", "summary") or (element.text or "").strip():
        return False
    children = [child for child in islice(element, 4) if isinstance(child.tag, str) and child.tag not in ("svg", "i")]
    return len(children) == 1 and children[0].tag in _HEADINGS and not (children[0].tail or "").strip()


def is_visible(control: HtmlElement, root: HtmlElement) -> bool:
    """Whether a control is in the content: nothing around it is hidden, and it is not in navigation."""
    element: HtmlElement | None = control
    while element is not None and element is not root:
        if element.tag in _AROUND or element.get("role") in _ROLES_AROUND or is_hidden(element):
            return False
        element = element.getparent()
    return element is root
