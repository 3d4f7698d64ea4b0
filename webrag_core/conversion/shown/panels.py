"""Put the name of a panel before it, so that every passage of the panel can be told from those of its neighbours.

A panel becomes the definition of its name: that ends where the panel ends, and stands on the path of its passages. A
panel with headings gets its name as a heading above them; in a list item, a cell or a row the name is a bold line.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
MADE = "data-webrag-made"
"""Attribute of the lists that are made here: a page with them is no list of definitions of its own making."""
_FILLED = {"li", "td", "th", "dd", "dt", "tr", "tbody", "table", "ul", "ol", "dl"}
_CELLS = ("td", "th", "a", "pre")
_NO_TEXT = ("svg", "script", "style", "template", "noscript")
_MAX_NAME = 160  # characters
_MAX_NESTED = 6  # panels in panels
_DEFAULT_LEVEL = 1  # where no heading stands before


def folded_text(element: HtmlElement) -> str:
    """Text of an element in one line, without that of drawings, scripts and styles."""
    if next(element.iterdescendants(*_NO_TEXT), None) is None:
        return " ".join(element.text_content().split())
    parts: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, part in walk:
        if event == "start" and part.tag in _NO_TEXT and part is not element:
            walk.skip_subtree()
        elif event == "start":
            parts.append(part.text or "")
        elif part is not element:
            parts.append(part.tail or "")
    return " ".join("".join(parts).split())


def shows_text(element: HtmlElement) -> bool:
    """Whether an element has any text."""
    return any(text.strip() for text in element.itertext())


def new_element(tag: str, text: str | None = None) -> HtmlElement:
    """An element with a text."""
    element = HtmlElement()
    element.tag = tag
    element.text = text
    return element


def levels_before(root: HtmlElement, elements: Collection[HtmlElement]) -> dict[HtmlElement, int]:
    """The level of the last heading before each of `elements` that stands in none of them, 1 to 6; 1 where there is
    none."""
    levels: dict[HtmlElement, int] = {}
    level = _DEFAULT_LEVEL
    wanted = set(elements)
    inner = {heading for element in wanted for heading in element.iter(*HEADINGS)}
    for element in root.iter("*"):
        if element in wanted:
            levels[element] = level
        if element.tag in HEADINGS and element not in inner:
            level = int(element.tag[1])
    return levels


def name_panel(panel: HtmlElement, name: str, level: int, *, as_heading: bool = False) -> bool:
    """Put `name` before the text of `panel`, whose headings belong below `level`, 1 to 6: as a heading too, if it has
    any or `as_heading`. False, and nothing changed,
    where the panel is out of the tree, has no text or begins with its name."""
    parent = panel.getparent()
    name = name[:_MAX_NAME]
    if parent is None or not name or not (shows_text(panel) or next(panel.iter("img", "table"), None) is not None):
        return False
    if _begins_with(panel, name):
        return False
    if panel.tag in _FILLED or next(panel.iterancestors(*_CELLS), None) is not None or _is_deep(panel):
        _insert_line(panel, name)
    elif (highest := _highest_heading(panel)) is not None or as_heading:
        below = min(level + 1, 6)
        panel.addprevious(new_element(f"h{below}", name))
        if highest is not None and highest <= below:
            _lower(panel, below + 1 - highest)
    else:
        _define(panel, name)
    return True


def _is_deep(panel: HtmlElement) -> bool:
    """Whether so many named panels are around a panel that the page would grow too deep."""
    return (
        next(islice((box for box in panel.iterancestors("dl") if MADE in box.attrib), _MAX_NESTED, None), None)
        is not None
    )


def _begins_with(panel: HtmlElement, name: str) -> bool:
    """Whether the first text of a panel is its name, as a title of its own."""
    if (panel.text or "").strip():
        return False
    for element in panel.iterdescendants("*"):
        if (element.text or "").strip():
            return folded_text(element) == name and not (element.tail or "").strip()
    return False


def _insert_line(panel: HtmlElement, name: str) -> None:
    if panel.tag in ("tr", "tbody", "table", "ul", "ol", "dl"):
        if panel.tag in ("ul", "ol", "dl", "table"):
            line = new_element("p")
            line.append(new_element("strong", name))
            panel.addprevious(line)
        return
    line = new_element("p")
    line.append(new_element("strong", name))
    line.tail, panel.text = panel.text, None
    panel.insert(0, line)


def has_headings(panels: Collection[HtmlElement]) -> bool:
    """Whether any of the panels has a heading: what follows one must be a heading, too, to stand beside it."""
    return any(next(panel.iter(*HEADINGS), None) is not None for panel in panels)


def _highest_heading(panel: HtmlElement) -> int | None:
    return min((int(heading.tag[1]) for heading in panel.iter(*HEADINGS)), default=None)


def _lower(panel: HtmlElement, levels: int) -> None:
    for heading in list(panel.iter(*HEADINGS)):
        heading.tag = f"h{min(int(heading.tag[1]) + levels, 6)}"


def _define(panel: HtmlElement, name: str) -> None:
    """Make a panel the only definition of a list of one term, in its place."""
    entry = new_element("dl")
    entry.set(MADE, "")
    term = new_element("dt", name)
    term.set(MADE, "")
    entry.append(term)
    definition = new_element("dd")
    entry.append(definition)
    entry.tail, panel.tail = panel.tail, None
    panel.addprevious(entry)
    definition.append(panel)
