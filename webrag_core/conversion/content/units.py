"""Cut a page into text units: runs of text with only inline elements among them, each directly in one block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml.html import HtmlElement

BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2"
        " h3 h4 h5 h6 header li main ol p pre section table tbody td tfoot th thead tr ul",
    )
)

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


@dataclass(slots=True)
class TextUnit:
    """One run of text in `block`: its own first text (`leads`), inline children, and text after block children.

    `size` and `linked` are bytes of UTF-8, so that scripts with and without spaces weigh alike; `linked` is the part
    in links to other pages, `links` their number.
    """

    block: HtmlElement
    leads: bool
    inline: list[HtmlElement] = field(default_factory=list)
    after: list[HtmlElement] = field(default_factory=list)
    text: str = ""
    size: int = 0
    linked: int = 0
    links: int = 0

    def remove(self) -> None:
        """Take the text out of the tree; blocks that it stands between stay."""
        if self.leads:
            self.block.text = None
        for element in self.after:
            element.tail = None
        for element in self.inline:
            element.tail = None
            if element.getparent() is not None:
                element.getparent().remove(element)


def text_units(root: HtmlElement) -> list[TextUnit]:
    """Return the units of a tree in reading order. White space is folded; runs without a letter or digit are none."""
    units: list[TextUnit] = []
    _walk(root, _with_blocks(root), linked=False, units=units)
    return units


def elements_around(root: HtmlElement, block: HtmlElement) -> Iterator[HtmlElement]:
    """Yield a block and what it stands in, the innermost first, up to the root and without it."""
    element = block
    while element is not root:
        yield element
        element = element.getparent()


def byte_size(text: str) -> int:
    """Return the bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def is_same_page_link(link: HtmlElement) -> bool:
    """Whether a link stays on its page."""
    return (link.get("href") or "#").startswith("#")


def _with_blocks(root: HtmlElement) -> set[HtmlElement]:
    """Return the elements that are blocks, by their tag or because of blocks in them."""
    blocks: set[HtmlElement] = set()
    for element in reversed(list(root.iter("*"))):  # children before their parents
        if element.tag in BLOCKS or element in blocks:
            blocks.add(element)
            if (parent := element.getparent()) is not None:
                blocks.add(parent)
    return blocks


def _walk(block: HtmlElement, blocks: set[HtmlElement], *, linked: bool, units: list[TextUnit]) -> None:
    linked = linked or (block.tag == "a" and not is_same_page_link(block))
    unit, parts = TextUnit(block, leads=True), [block.text or ""]
    for child in block:
        if child in blocks:
            _close(unit, parts, linked, units)
            _walk(child, blocks, linked=linked, units=units)
            unit, parts = TextUnit(block, leads=False, after=[child]), [child.tail or ""]
            continue
        unit.inline.append(child)
        parts += ("\n" if child.tag == "br" else child.text_content(), child.tail or "")
        for link in child.iter("a"):
            if not is_same_page_link(link):
                unit.links += 1
                unit.linked += byte_size(link.text_content().strip())
    _close(unit, parts, linked, units)


def _close(unit: TextUnit, parts: list[str], linked: bool, units: list[TextUnit]) -> None:
    """Add a unit that has text."""
    unit.text = " ".join("".join(parts).split())
    if not any(map(str.isalnum, unit.text)):
        return
    unit.size = byte_size(unit.text)
    if linked:  # a link around blocks: a teaser with sentences is a link all the same
        unit.linked, unit.links = unit.size, 1
    units.append(unit)
