"""Buttons: words of a sentence, entries of a list and titles of panels are text, actions are not."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from lxml.html import HtmlElement

from webrag_core.conversion.content.units import is_same_page_link
from webrag_core.conversion.shown.action_words import is_action, offers_the_rest
from webrag_core.conversion.shown.attribute_index import AttributeIndex
from webrag_core.conversion.shown.controls import named_ids
from webrag_core.conversion.shown.panels import (
    HEADINGS,
    folded_text,
    has_headings,
    levels_before,
    name_panel,
    new_element,
    shows_text,
)

_TITLES = {*HEADINGS, "dt", "summary"}
_HOLDERS = {"li", "td", "th", "dd", "dt", "figcaption", "caption"}
_INLINE = {"a", "abbr", "b", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "label", "mark", "q", "s", "samp",
           "small", "span", "strong", "sub", "sup", "time", "u", "var"}  # fmt: skip
_PANELS = {"div", "section", "p", "ul", "ol", "dl", "article", "table", "dd", "pre", "figure"}
_ACCORDION = re.compile(r"accordion|collaps|toggle|expand|question|faq|disclosure|spoiler", re.IGNORECASE)
_ROWS_OF_ACTIONS = re.compile(r"pagin|toolbar|breadcrumb|menu|share|social|filter|actions|btn-group", re.IGNORECASE)
_CHOICES = {"radio", "option", "switch", "checkbox", "menuitemradio"}
_CHOOSERS = {"radiogroup", "listbox"}
_ENDED = re.compile(r"[.?!:;。？！：|·•]\s*$")
_LETTER = re.compile(r"[^\W_]")
_GOES_ON = re.compile(r"\s*+(?:[,;:()]?+\s*+[^\W_]|[.,;:!?)](?:\s|$))")
_FIELDS = {"text", "email", "password", "search", "tel", "url", "number", "date"}
_CLICKED = ("href", "onclick", "data-toggle", "data-bs-toggle")
_TOGGLES = {"data-toggle", "data-bs-toggle", "aria-controls"}
_MIN_WORDS = 6  # of a card that is a button
_MAX_UP = 2


def take_actions(index: AttributeIndex) -> list[HtmlElement]:
    """Turn the buttons of a page that are text into text, and return the others, which are to be dropped."""
    others = [element for element in index.having("role", *_CLICKED) if acts_as_button(element)]
    buttons = [*index.root.iter("button"), *others]
    return _Buttons(index, buttons).actions() if buttons else []


class _Buttons:
    """The buttons of one page, and what they control."""

    def __init__(self, index: AttributeIndex, buttons: list[HtmlElement]) -> None:
        self._root = index.root
        self._buttons = buttons
        self._by_id: dict[str, HtmlElement] = {}
        for element in index.having("id"):
            self._by_id.setdefault(element.get("id") or "", element)
        self._taken: set[HtmlElement] = set()  # panels that a button before shows
        self._pairs = Counter(filter(None, map(_pair, buttons)))
        self._panels = [self._panel(button) if _words(button) else None for button in buttons]
        results = [panel for panel in self._panels if panel is not None]
        self._levels = levels_before(index.root, results) if results else {}
        self._as_heading = has_headings(results)
        self._level: dict[HtmlElement | None, int] = {}  # of the panels of a box: that before the first

    def actions(self) -> list[HtmlElement]:
        dropped: list[HtmlElement] = []
        choices: dict[HtmlElement, list[HtmlElement]] = {}
        for button, panel in zip(self._buttons, self._panels, strict=True):
            if button.getparent() is None:
                continue
            words = _words(button)
            if button.tag != "button":
                if self._is_done(button, panel, words):
                    dropped.append(button)
            elif _is_choice(button) and words and not is_action(words):
                choices.setdefault(button.getparent(), []).append(button)
            elif not self._kept(button, panel, words):
                dropped.append(button)
        for parent, members in choices.items():
            _list(parent, members)
        return dropped

    def _is_done(self, element: HtmlElement, panel: HtmlElement | None, words: str) -> bool:
        """Whether an element that acts as a button says nothing where it stands: it is an action, or its words stand
        before its panel now."""
        if not words or _title_around(element) is not None or not (panel is not None or is_action(words)):
            return False
        if all(box is not self._root for box in element.iterancestors()):  # it is dropped already
            return False
        if is_action(words):
            before, after = _beside(element)
            return not _LETTER.search(after) and (not _LETTER.search(before) or bool(_ENDED.search(before)))
        return panel is not None and not self._name(element, panel, words)

    def _kept(self, button: HtmlElement, panel: HtmlElement | None, words: str) -> bool:
        """Turn a button into text, or return False."""
        if not _LETTER.search(words):
            return False
        before, after = _beside(button)
        if _LETTER.search(before) and not _ENDED.search(before) and _GOES_ON.match(after) and _LETTER.search(after):
            button.drop_tag()  # within a sentence, whatever it does
            return True
        title = _title_around(button)
        if title is not None and (folded_text(title) == words or not is_action(words)):
            button.drop_tag()
            return True
        if (
            (is_action(words) and not (panel is not None and _opens_text(button, panel, words)))
            or (button.get("type") or "").lower() in ("submit", "reset")
            or "aria-haspopup" in button.attrib
        ):
            return False
        if panel is not None:
            return self._name(button, panel, words)
        if _is_card(button, words):
            button.tag = "div"
            return True
        if _is_in_form(button):
            return False
        if (_LETTER.search(after) and _GOES_ON.match(after)) or (
            _LETTER.search(before) and not _ENDED.search(before) and (not after.strip() or _GOES_ON.match(after))
        ):
            button.drop_tag()
            return True
        if _is_alone(button, words):
            button.drop_tag()
            return True
        return False

    def _panel(self, button: HtmlElement) -> HtmlElement | None:
        """What a button shows: the part that it names, or the one behind it."""
        if "aria-haspopup" in button.attrib or "dropdown" in (button.get("data-bs-toggle"), button.get("data-toggle")):
            return None
        for name in named_ids(button):
            panel = self._by_id.get(name)
            if panel is None or panel in self._taken:
                continue
            if panel is button or panel.tag not in _PANELS or panel in button.iterancestors():
                return None
            self._taken.add(panel)
            return panel
        pair = _pair(button)
        if pair is None:
            return None
        is_accordion = "aria-expanded" in button.attrib or _ACCORDION.search(button.get("class") or "") is not None
        panel = _behind(button) if is_accordion or self._pairs[pair] > 1 else None
        if panel is not None and panel not in self._taken:
            self._taken.add(panel)
            return panel
        return None

    def _name(self, button: HtmlElement, panel: HtmlElement, words: str) -> bool:
        """Put the words of a button before its panel."""
        around = _box_around(button, words)
        if panel.getparent() is None or (around is None and button.getnext() is not panel):
            if button.tag == "button":
                button.drop_tag()
            return True
        if _leads_away(panel) and not any(box.tag in ("main", "article") for box in panel.iterancestors()):
            return False
        level = self._level.setdefault(panel.getparent(), self._levels.get(panel, 1))
        if name_panel(panel, words, level, as_heading=self._as_heading):
            return False  # its words stand before the panel now
        if shows_text(panel):  # which begins with them
            return False
        if button.tag == "button":
            button.drop_tag()
        return True


def acts_as_button(element: HtmlElement) -> bool:
    """Whether an element other than a button is one by its role, or is a link that leads nowhere."""
    if element.tag == "a":
        href = element.get("href") or "#"
        return href in ("#", "#!") or href.startswith("javascript:") or not _TOGGLES.isdisjoint(element.keys())
    return element.tag in ("div", "span", "p") and element.get("role") == "button"


def _title_around(element: HtmlElement) -> HtmlElement | None:
    """The heading, term or summary that an element stands in."""
    return next((box for box in islice(element.iterancestors(), _MAX_UP + 1) if box.tag in _TITLES), None)


def _opens_text(button: HtmlElement, panel: HtmlElement, words: str) -> bool:
    """Whether a button with the words of an action is the title of a part of the content."""
    if (
        "aria-expanded" not in button.attrib
        or offers_the_rest(words)
        or next(panel.iter("input", "nav"), None) is not None
    ):
        return False
    is_in_content = any(box.tag in ("main", "article") for box in panel.iterancestors())
    return is_in_content and not _leads_away(panel) and len(folded_text(panel).split()) >= _MIN_WORDS


def _words(button: HtmlElement) -> str:
    return folded_text(button)


def _pair(button: HtmlElement) -> tuple[object, ...] | None:
    """The kind of a button with the block behind it; None where no block follows."""
    panel = _behind(button)
    return None if panel is None else (button.get("class"), panel.tag, panel.get("class"))


def _behind(button: HtmlElement) -> HtmlElement | None:
    """The block right behind a button, or behind the box that holds nothing else."""
    element = button
    for _ in range(_MAX_UP + 1):
        if (element.tail or "").strip():
            return None
        following = element.getnext()
        while following is not None and not isinstance(following.tag, str):
            following = following.getnext()
        if following is not None:
            return following if following.tag in _PANELS and shows_text(following) else None
        parent = element.getparent()
        if (
            parent is None
            or parent.tag not in ("div", "span", "header")
            or len(parent) > 1
            or (parent.text or "").strip()
        ):
            return None
        element = parent
    return None


def _box_around(button: HtmlElement, words: str) -> HtmlElement | None:
    """The outermost box around a button that holds its words alone; None where other text stands beside it."""
    parent = button.getparent()
    before, after = _beside(button)
    return None if _LETTER.search(before) or _LETTER.search(after) else parent


def _beside(button: HtmlElement) -> tuple[str, str]:
    """The text right before and right behind a button in its line."""
    previous, following = button.getprevious(), button.getnext()
    before = (button.getparent().text if previous is None else previous.tail) or ""
    if not before.strip() and previous is not None and previous.tag in _INLINE:
        before = folded_text(previous)
    after = button.tail or ""
    if not after.strip() and following is not None and following.tag in _INLINE:
        after = folded_text(following)
    return before, after


def _is_choice(button: HtmlElement) -> bool:
    """Whether a button is one of several to choose from."""
    if button.get("role") in _CHOICES:
        return True
    return button.getparent() is not None and button.getparent().get("role") in _CHOOSERS


def _list(parent: HtmlElement, buttons: list[HtmlElement]) -> None:
    """Make a list of the buttons to choose from that stand in one box."""
    if len(buttons) == 1 or parent.tag in ("li", "td", "p", "span"):
        for button in buttons:
            button.tail = f" {button.tail or ''}"
            button.drop_tag()
        return
    entries = new_element("ul")
    buttons[0].addprevious(entries)
    for button in buttons:
        entry = new_element("li", _words(button))
        entries.append(entry)
        button.drop_tree()


def _is_card(button: HtmlElement, words: str) -> bool:
    """Whether a button is a box with a heading, or with paragraphs of text."""
    if next(button.iter(*HEADINGS), None) is not None:
        return True
    return next(button.iter("p", "ul", "dl", "table"), None) is not None and len(words.split()) >= _MIN_WORDS


def _is_in_form(button: HtmlElement) -> bool:
    form = next(button.iterancestors("form"), None)
    if form is None:
        return False
    return any((field.get("type") or "text").lower() in _FIELDS for field in islice(form.iter("input"), 50)) or (
        next(form.iter("textarea"), None) is not None
    )


def _is_alone(button: HtmlElement, words: str) -> bool:
    """Whether a list item or cell holds a button and nothing else."""
    for box in islice(button.iterancestors(), _MAX_UP + 1):
        if box.tag in _HOLDERS:
            rows = islice(box.iterancestors(), 2)
            return folded_text(box) == words and not any(_ROWS_OF_ACTIONS.search(_names(row)) for row in rows)
    return False


def _names(box: HtmlElement) -> str:
    return f"{box.get('class') or ''} {box.get('role') or ''}"


def _leads_away(panel: HtmlElement) -> bool:
    links = sum(len(link.text_content()) for link in panel.iter("a") if not is_same_page_link(link))
    return links > 0.6 * len(panel.text_content())
