"""Measure elements: text, text in links, sentences. Sizes are bytes of UTF-8.

In bytes a word of a script with spaces and its like in a script without weigh about the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lxml.html import HtmlElement

_MIN_PROSE = 60  # about ten words: menus, labels and teasers are shorter
_SENTENCE_MARK = re.compile(r"[.,;:!?…。、，；：！？।۔]")
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2"
        " h3 h4 h5 h6 header li main ol p pre section table tbody td tfoot th thead tr ul",
    )
)


@dataclass(slots=True)
class Weight:
    """Sizes of an element: text, text in links, sentences outside links; whether it has punctuation, and blocks in it.

    `prose` leaves out blocks that are links for the most part, `outside` is their text outside links.
    """

    text: int = 0
    links: int = 0
    prose: int = 0
    outside: int = 0
    marks: bool = False
    blocks: bool = False


_NOTHING = Weight()
Weights = Mapping[HtmlElement, Weight]


def weigh(root: HtmlElement) -> Weights:
    """Return the weight of every element of a tree."""
    weights: dict[HtmlElement, Weight] = {}
    for element in reversed(list(root.iter("*"))):  # children before their parents
        weights[element] = _weight(element, weights)
    return weights


def weigh_without(weights: Weights, boxes: Collection[HtmlElement]) -> Weights:
    """Return the weights of the same tree with `boxes` counted as empty; elements inside a box keep theirs."""
    changed = {ancestor for box in boxes for ancestor in box.iterancestors()}
    lighter = dict(weights)
    for element in weights:  # children still come before their parents
        if element in boxes:
            lighter[element] = _NOTHING
        elif element in changed:
            lighter[element] = _weight(element, lighter)
    return lighter


def _weight(element: HtmlElement, weights: Weights) -> Weight:
    own, loose, loose_links = element.text, 0, 0  # loose: text with inline elements only around it
    weight = Weight()
    if own and not own.isspace():
        loose = size(own)
        weight.marks = _SENTENCE_MARK.search(own) is not None
    for child in element:
        part, tail = weights[child], child.tail
        weight.links += part.links
        weight.marks = weight.marks or part.marks
        if tail and not tail.isspace():
            loose += size(tail)
            weight.marks = weight.marks or _SENTENCE_MARK.search(tail) is not None
        if part.blocks or child.tag in _BLOCKS:  # is_block, without a call for every element
            weight.blocks = True
            weight.text += part.text
            weight.prose += part.prose
            weight.outside += part.outside
        else:
            loose += part.text
            loose_links += part.links
    weight.text += loose
    if element.tag == "a" and not is_same_page_link(element):
        weight.links, loose = weight.text, 0  # a teaser with sentences is a link all the same
        weight.prose = weight.outside = 0
    if loose - loose_links >= _MIN_PROSE and weight.marks:
        weight.outside += loose - loose_links
    if loose >= _MIN_PROSE and weight.marks and loose_links < loose / 2:
        weight.prose += loose - loose_links
    return weight


def is_block(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is a block: by its tag, or because of blocks in it."""
    return element.tag in _BLOCKS or weights[element].blocks


def is_same_page_link(link: HtmlElement) -> bool:
    """Whether a link stays on its page."""
    return (link.get("href") or "#").startswith("#")


def size(text: str) -> int:
    """Return the bytes of a text without surrounding white space."""
    text = text.strip()
    return len(text) if text.isascii() else len(text.encode())
