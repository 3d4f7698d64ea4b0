"""Drop the units of a page that the model takes for boilerplate, without making holes in lists, tables and sections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set

import numpy as np
from lxml.html import HtmlElement
from numpy.typing import NDArray

from webrag_core.conversion.content.cards import CardGroup, card_groups
from webrag_core.conversion.content.facts import states_fact, states_quantity
from webrag_core.conversion.content.model import content_model
from webrag_core.conversion.content.units import HEADINGS, TextUnit, elements_around, text_units

_THRESHOLD = 0.45
"""Below one half: a passage that was never stored cannot be found, while a little noise is only noise."""
_MIN_TEXT = 720  # bytes: on smaller pages there is too little to compare
_HEADING_THRESHOLD = 0.3  # of a heading before content
_CARD_THRESHOLD = 0.4  # of the largest part of cards: what decides for all of them may err less
_STORY_CARD_THRESHOLD = 0.6  # on a page that declares itself an article, where cards lead to others mostly
_PAGE_OF_CARDS_THRESHOLD = 0.3  # of cards that hold most of the page's text
_MOST = 0.5
_PART_THRESHOLD = 0.1  # of any part of cards that stay: below are buttons, and what forums say of members
_LABEL = 0.9  # of the cards: a text that so many share tells them not apart
_MIN_LABEL = 3
_NEARLY_ALL = 0.85  # of the text of a box
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "।", "؟")
_CODE_REACH = 2  # units
_MAX_UNITS = 6_000  # larger pages are lists and manuals, and cost as long as they are
_MIN_KEPT = 0.02  # of the text: with less the page is none that the model knows
_MIN_STATED = 60  # bytes: shorter units stand in any text
_MAX_STATED = 200_000  # characters that are compared with every unit
_MAX_LOST = 0.2  # of what the page states as its article and also shows
_WORD = re.compile(r"\w+")
_WHOLE = frozenset(("ul", "ol", "dl", "table"))
_BOXES = ("div", "section", "article", "aside", "main", "header", "footer", "form",
          "h1", "h2", "h3", "h4", "h5", "h6")  # fmt: skip


def drop_boilerplate(
    root: HtmlElement,
    *,
    is_declared_article: bool,
    article: str | None = None,
    misnamed: Set[HtmlElement] = frozenset(),
) -> bool:
    """Drop units that are probably no content. The names of `misnamed` boxes say nothing.

    Returns False, and drops nothing, where the model does not apply: the page has too many units or too little text,
    next to nothing would stay, or it would lose much of `article`, the text that the page itself states.
    """
    units = text_units(root)
    total = sum(unit.size for unit in units)
    if len(units) > _MAX_UNITS or total < _MIN_TEXT:
        return False
    probabilities = content_model().probabilities(
        root, units, is_declared_article=is_declared_article, misnamed=misnamed
    )
    stays = _selection(root, units, probabilities, keeps_title=not is_declared_article)
    content = [unit for unit, stay in zip(units, stays, strict=True) if stay]
    boilerplate = [unit for unit, stay in zip(units, stays, strict=True) if not stay]
    if sum(unit.size for unit in boilerplate) > (1 - _MIN_KEPT) * total or (
        article and _loses(article, content, boilerplate)
    ):
        return False
    _remove(root, boilerplate, content)
    return True


def _loses(article: str, content: Sequence[TextUnit], boilerplate: Sequence[TextUnit]) -> bool:
    """Whether more than a few of the stated article's sentences are only in what is taken for boilerplate."""
    stated = _words(article[:_MAX_STATED])
    shown, lost = (
        sum(unit.size for unit in units if unit.size >= _MIN_STATED and _words(unit.text) in stated)
        for units in (content, boilerplate)
    )
    return lost > _MAX_LOST * (shown + lost)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _selection(
    root: HtmlElement, units: Sequence[TextUnit], probabilities: NDArray[np.float32], *, keeps_title: bool
) -> list[bool]:
    """Whether each unit stays: a list or table as a whole, code where text around it stays, headings with text.

    `keeps_title`: a heading of the first level stays; that of an article says what its metadata say.
    """
    sizes = np.array([unit.size for unit in units], dtype=float)
    groups: dict[HtmlElement, list[int]] = {}  # by the outermost list or table
    for i, unit in enumerate(units):
        wholes = [element for element in elements_around(root, unit.block) if element.tag in _WHOLE]
        if wholes:
            groups.setdefault(wholes[-1], []).append(i)
    odds = probabilities.copy()
    for whole, members in groups.items():
        if next(whole.iterdescendants(*_BOXES), None) is None:  # else it holds boxes, and lays out the page
            odds[members] = np.average(probabilities[members], weights=sizes[members])
    for group in card_groups(root, units):
        _judge_cards(group, units, sizes, odds, is_declared_article=not keeps_title)
    for i, unit in enumerate(units):
        if unit.block.tag == "pre":
            odds[i] = odds[max(0, i - _CODE_REACH) : i + _CODE_REACH + 1].max()
    stays = [bool(p >= _THRESHOLD) for p in odds]
    for i in range(len(units) - 2, -1, -1):  # backwards: headings may follow each other
        tag = units[i].block.tag
        if (tag == "h1" and keeps_title) or (tag in HEADINGS and stays[i + 1] and odds[i] >= _HEADING_THRESHOLD):
            stays[i] = True
    for i in _facts_beside(root, units, stays, is_declared_article=not keeps_title):
        stays[i] = True
    return stays


def _judge_cards(
    group: CardGroup,
    units: Sequence[TextUnit],
    sizes: NDArray[np.float64],
    odds: NDArray[np.float32],
    *,
    is_declared_article: bool,
) -> None:
    """Have the parts of cards stay where their largest part does; else those of teasers stay or go as a whole."""
    parts = [list(part) for part in group.parts]
    means = [float(np.average(odds[part], weights=sizes[part])) for part in parts]
    largest = max(range(len(parts)), key=lambda k: sizes[parts[k]].sum())
    share = sizes[list(group.units)].sum() / sizes.sum()
    if means[largest] < _least(share, is_declared_article=is_declared_article):
        if share <= _MOST:  # teasers, not what the page is about
            for part, mean in zip(parts, means, strict=True):
                odds[part] = mean
        return
    texts = Counter(units[i].text for i in group.units)
    label = max(_MIN_LABEL, _LABEL * group.cards)
    unlikely = {i for part, mean in zip(parts, means, strict=True) if mean < _PART_THRESHOLD for i in part}
    for i in group.units:
        unit, count = units[i], texts[units[i].text]
        is_action = count > 1 and 2 * unit.linked > unit.size
        if not is_action and count < label and (i not in unlikely or states_fact(unit.text)):
            odds[i] = max(odds[i], _THRESHOLD)


def _least(share: float, *, is_declared_article: bool) -> float:
    """The probability from which on cards stay that hold this share of a page's text."""
    if share > _MOST:
        return _PAGE_OF_CARDS_THRESHOLD
    return _STORY_CARD_THRESHOLD if is_declared_article else _CARD_THRESHOLD


def _facts_beside(
    root: HtmlElement, units: Sequence[TextUnit], stays: Sequence[bool], *, is_declared_article: bool
) -> list[int]:
    """Return the units that state a fact and stand in one box with prose that stays; sentences where all else stays.

    Dates beside the text of an article are those of its metadata, its last sentences are about its author.
    """
    states = states_quantity if is_declared_article else states_fact
    boxes: set[HtmlElement] = set()
    kept: dict[HtmlElement, list[int]] = {}  # bytes that stay, and all, directly in the blocks of a box
    for unit, stay in zip(units, stays, strict=True):
        if unit.block is root:
            continue
        box = unit.block.getparent()
        sizes = kept.setdefault(box, [0, 0])
        sizes[0] += stay * unit.size
        sizes[1] += unit.size
        if stay and unit.size >= _MIN_STATED:
            boxes.add(box)
            if box is not root:
                boxes.add(box.getparent())
    boxes.discard(root)
    facts = []
    for i, unit in enumerate(units):
        if stays[i] or unit.block is root or unit.block.tag in HEADINGS or 2 * unit.linked > unit.size:
            continue
        box = unit.block.getparent()
        is_fact = box in boxes and states(unit.text) and "©" not in unit.text
        is_rest = not is_declared_article and unit.text.endswith(_SENTENCE_ENDS) and not unit.linked
        if is_fact or (is_rest and kept[box][0] >= _NEARLY_ALL * kept[box][1]):
            facts.append(i)
    return facts


def _remove(root: HtmlElement, boilerplate: Sequence[TextUnit], content: Sequence[TextUnit]) -> None:
    """Take boilerplate out of the tree, and with it boxes in which no content stands."""
    boxes = {element for unit in content for element in elements_around(root, unit.block)}
    empty = {element: None for unit in boilerplate for element in elements_around(root, unit.block)}
    for unit in boilerplate:
        unit.remove()
    for element in empty:
        if element not in boxes and element.getparent() is not None:
            element.drop_tree()
