"""Which hidden parts a page shows on a click: they are content, what nothing visible offers is not.

Text that is hidden for good is a place for instructions that no reader sees. So a part counts as content only where
something visible offers it: a control that names its id, a control, question or empty heading right before it, or
"read more" beside it. Menus, forms, log-ins and cookie dialogs are controls, and copies of shown text say nothing new.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice

from lxml.html import HtmlElement

from webrag_core.conversion.content.units import is_same_page_link, text_units
from webrag_core.conversion.shown.action_words import offers_the_rest
from webrag_core.conversion.shown.alternatives import is_last_alternative
from webrag_core.conversion.shown.attribute_index import AttributeIndex
from webrag_core.conversion.shown.controls import (
    controls,
    is_section_title,
    is_toggle,
    is_visible,
    named_ids,
    offers_what_follows,
)
from webrag_core.conversion.shown.hidden import is_for_screen_readers, is_hidden, is_on_screen, may_be_hidden, unhide

_PANELS = {"tabpanel", "region"}  # hidden until somebody clicks: tabs and accordions
_NEVER_TAGS = {"nav", "svg", "script", "style", "template", "input", "select", "textarea", "button", "option", "iframe"}
_NEVER_ROLES = {"navigation", "search", "banner", "contentinfo", "menu", "menubar", "listbox", "alert", "alertdialog",
                "status", "tooltip", "progressbar"}  # fmt: skip
_CONSENT = re.compile(
    r"(?:cookie|consent|gdpr|ccpa|privacy)s?[ _-]?(?:consent|banner|notice|bar|modal|manager|settings|preferences"
    r"|dialog|popup|wall|layer)|onetrust|cookiebot|usercentrics|didomi",
    re.IGNORECASE,
)
_INTERFACE = re.compile(
    r"(?:^|[\s_-])(?:login|log-in|signin|sign-in|signup|sign-up|search|newsletter|mini-?cart|cart|basket|toast|snackbar"
    r"|spinner|loader|loading|preloader|skeleton|mega-?menu|dropdown-menu|offcanvas-menu|mobile-menu|nav-menu)"
    r"(?=$|[\s_-])",
    re.IGNORECASE,
)
_COOKIES = re.compile(r"\bcookies?\b", re.IGNORECASE)
_FILLED_IN = {"text", "email", "password", "search", "tel", "url", "number", "date"}
_MIN_BESIDE_FORM = 40  # words that a form in a box must have around it
_LINKED = 0.6  # with this share of its text in links a box leads elsewhere
_CAROUSEL = re.compile(
    r"(?:^|[\s_-])(?:carousel|slider|slideshow|slides?|swiper|slick|splide|glide|flickity|owl|keen|mySlides)(?=$|[\s_-])"
)
_COPIES = re.compile(r"clone|duplicate")
_SLIDES = {"div", "li", "article", "section", "figure", "blockquote"}
_INLINE = {"span", "em", "i", "b", "strong", "small", "font", "a", "mark", "ins"}
_SKIPPED = {"script", "style", "template", "br", "input", "noscript", "link", "meta", "svg", "img", "hr"}
_RUNS = {"p", "li", "dd", "tr", "span"}
_WRAPPERS = {"div", "section", "span", "article"}
_ELLIPSIS = re.compile(r"(?:…|\.\.\.|\[…\]|\[\.\.\.\])\s*$")
_QUESTION = re.compile(r"[?？؟;]\s*$")
_MAX_TITLE = 200  # characters of a title whose hidden text follows
_MAX_CONTROLS = 20_000
_MIN_COPY = 40  # characters: short answers may be alike
_MIN_SAME = 20
_WORD = re.compile(r"\w")
_MAX_UP = 3


def take_hidden_parts(index: AttributeIndex, panels: Collection[HtmlElement] = ()) -> list[HtmlElement]:
    """Unhide what a page shows on a click, among it `panels`, and return the other hidden parts, which are to be
    dropped. Linear in the size of the page."""
    candidates = may_be_hidden(index)
    if not candidates:
        return []
    return _Judge(index, candidates, panels).hidden()


class _Judge:
    """Decides on the hidden parts of one page in reading order."""

    def __init__(self, index: AttributeIndex, candidates: list[HtmlElement], panels: Collection[HtmlElement]) -> None:
        self._index = index
        self._root = index.root
        self._candidates = candidates
        self._panels = set(panels)
        self._hidden = {element for element in candidates if is_hidden(element)}
        self._controls = self._named_controls()
        self._before: dict[HtmlElement, HtmlElement | None] = {}
        self._pairs = self._repeated_pairs()
        self._shown: list[HtmlElement] = []
        self._replaced: list[HtmlElement] = []

    def hidden(self) -> list[HtmlElement]:
        dropped: list[HtmlElement] = []
        within: set[HtmlElement] = set()  # what goes with a part that is dropped
        for element in self._candidates:
            if element in within:
                continue
            if element not in self._hidden or self._is_shown(element):
                self._show(element)
                continue
            dropped.append(element)
            within.update(element.iterdescendants("*"))
        copies = self._copies()
        return [*dropped, *self._replaced, *copies]

    def _show(self, element: HtmlElement) -> None:
        if element in self._hidden and element.get("role") not in _PANELS and element not in self._panels:
            self._shown.append(element)
        unhide(element)
        if element.tag == "dialog":
            element.tag = "div"
        if element.get("role") == "dialog":
            del element.attrib["role"]

    def _is_shown(self, element: HtmlElement) -> bool:
        if element in self._panels:
            return True
        if element.tag in _NEVER_TAGS or element.get("role") in _NEVER_ROLES:
            return False
        if is_last_alternative(element):
            return True
        if is_on_screen(element) and _is_label(element):
            return True
        offers = self._offers(element)
        if not offers and element.get("role") not in _PANELS and not self._is_offered_by_its_place(element):
            return False
        return not any("aria-haspopup" in control.attrib for control in offers) and not self._is_interface(element)

    def _named_controls(self) -> dict[str, list[HtmlElement]]:
        """The controls that name the id of a hidden part, by id."""
        ids = {str(element.get("id")) for element in self._hidden if element.get("id")}
        named: dict[str, list[HtmlElement]] = {}
        if ids:
            for control in islice(controls(self._index), _MAX_CONTROLS):
                for name in named_ids(control):
                    if name in ids:
                        named.setdefault(name, []).append(control)
        return named

    def _offers(self, element: HtmlElement) -> list[HtmlElement]:
        """The visible controls outside a part that name its id; of equal ids the first one counts."""
        named = self._controls.pop(element.get("id") or "", [])
        return [control for control in named if is_visible(control, self._root)]

    def _is_offered_by_its_place(self, element: HtmlElement) -> bool:
        """Whether what stands before or behind a part offers it."""
        before = self._preceding(element)
        if element.tag in _INLINE:
            return self._continues_paragraph(element, before)
        if element.tag == "dd" and before is not None and before.tag in ("dt", "dd"):
            return True
        if before is not None:
            if offers_what_follows(before) or (is_section_title(before) and self._ends_section(element)):
                return True
            if _is_title(before) and (self._pairs[self._pair(before, element)] > 1 or _is_bold_question(before)):
                return True
        return self._offers_rest_behind(element) or _is_slide(element)

    def _preceding(self, element: HtmlElement) -> HtmlElement | None:
        """The visible element right before a part or the boxes that begin with it; None where text stands between."""
        inner = element
        for _ in range(_MAX_UP):
            sibling = inner.getprevious()
            while sibling is not None:
                if isinstance(sibling.tag, str) and (sibling.tail or "").strip():
                    return self._kept(element, None if inner.tag not in _INLINE else sibling)
                if sibling in self._hidden:  # of several hidden paragraphs the first one is right behind
                    alike = (
                        element.tag in _RUNS and self._pair(sibling, element)[:2] == self._pair(element, sibling)[:2]
                    )
                    return self._kept(element, self._before.get(sibling) if alike else None)
                if isinstance(sibling.tag, str) and sibling.tag not in _SKIPPED and not is_for_screen_readers(sibling):
                    return self._kept(element, sibling)
                sibling = sibling.getprevious()
            parent = inner.getparent()
            if parent is None or parent is self._root or parent.tag not in _WRAPPERS or (parent.text or "").strip():
                break
            inner = parent
        return self._kept(element, None)

    def _kept(self, element: HtmlElement, before: HtmlElement | None) -> HtmlElement | None:
        self._before[element] = before
        return before

    def _continues_paragraph(self, element: HtmlElement, before: HtmlElement | None) -> bool:
        """Whether an inline part is the rest of its paragraph: behind an ellipsis, or beside "read more"."""
        sibling, parent = element.getprevious(), element.getparent()
        text = (parent.text if sibling is None else sibling.tail) or ""
        if not text.strip() and sibling is not None and isinstance(sibling.tag, str):
            text = "".join(islice(sibling.itertext(), 20))
        if _ELLIPSIS.search(text) or (before is not None and is_toggle(before) and _is_next(before, element)):
            self._replace_beginning(before, element)
            return True
        following = element.getnext()
        if following is not None and not (element.tail or "").strip() and isinstance(following.tag, str):
            return _offers_rest(following)
        return following is None and _offers_rest_next(parent)

    def _replace_beginning(self, before: HtmlElement | None, whole: HtmlElement) -> None:
        """Have the beginning of a text, before "read more", go where the hidden part holds the whole."""
        for short in (before, before.getprevious() if before is not None else None):
            if short is None or short.tag not in _INLINE:
                return
            beginning = _ELLIPSIS.sub("", _folded(short)).rstrip()
            if len(beginning) >= _MIN_SAME and _folded(whole).startswith(beginning):
                self._replaced.append(short)

    def _offers_rest_behind(self, element: HtmlElement) -> bool:
        """Whether "read more" stands right behind a part, or behind the box that ends with it."""
        if (element.tail or "").strip():
            return False
        following = element.getnext()
        for _ in range(_MAX_UP):
            if following is None or not (following in self._hidden and following.tag == element.tag):
                break
            following = following.getnext()
        if following is not None:
            return isinstance(following.tag, str) and _offers_rest(following)
        return _offers_rest_next(element.getparent())

    def _ends_section(self, element: HtmlElement) -> bool:
        """Whether a part is all that stands below the heading before it."""
        following = element.getnext()
        while following is not None and (not isinstance(following.tag, str) or following.tag in _SKIPPED):
            following = following.getnext()
        if (element.tail or "").strip():
            return False
        return following is None or is_section_title(following) or following.tag in ("h1", "button", "summary", "hr")

    def _pair(self, before: HtmlElement, element: HtmlElement) -> tuple[object, ...]:
        return before.tag, before.get("class"), element.tag, element.get("class")

    def _repeated_pairs(self) -> Counter[tuple[object, ...]]:
        """How often each kind of a shown element with a hidden one behind it stands on the page."""
        pairs: Counter[tuple[object, ...]] = Counter()
        for element in self._hidden:
            before = element.getprevious()
            if before is not None and isinstance(before.tag, str) and before not in self._hidden:
                pairs[self._pair(before, element)] += 1
        return pairs

    def _is_interface(self, element: HtmlElement) -> bool:
        """Whether a part is a menu, a form, a log-in or a dialog on cookies."""
        names = _names(element)
        if any(_asks_consent(box) for box in (element, *islice(element.iterancestors(), _MAX_UP))):
            return True
        fields = [field for field in islice(element.iter("input", "textarea"), 50) if _is_filled_in(field)]
        if any((field.get("type") or "").lower() == "password" for field in fields):
            return True
        words = sum(1 for _ in islice(_words(element), _MIN_BESIDE_FORM))
        if fields and words < _MIN_BESIDE_FORM:
            return True
        asks = next(element.iter("button", "input"), None) is not None
        if asks and _COOKIES.search(names):
            return True
        if _INTERFACE.search(names) and (asks or fields or words < _MIN_BESIDE_FORM or _is_linked(element)):
            return True
        if next(element.iter("nav"), None) is not None and words < _MIN_BESIDE_FORM:
            return True
        return _is_linked(element) and not _is_in_content(element)

    def _copies(self) -> list[HtmlElement]:
        """Of what is shown on a click, the parts whose text stands on the page anyway."""
        if not self._shown:
            return []
        inside: set[HtmlElement] = set()
        outermost = []
        for element in self._shown:
            if element not in inside:
                outermost.append(element)
                inside.update(element.iter("*"))
        visible = {unit.text for unit in text_units(self._root) if unit.block not in inside}
        copies = []
        for element in outermost:
            texts = [unit.text for unit in text_units(element)]
            if sum(map(len, texts)) >= _MIN_COPY and all(text in visible for text in texts):
                copies.append(element)
        return copies


def _names(element: HtmlElement) -> str:
    return f"{element.get('class') or ''} {element.get('id') or ''}"


def _asks_consent(box: HtmlElement) -> bool:
    """Whether a box is a dialog on cookies, and no text about them."""
    if not _CONSENT.search(_names(box)):
        return False
    return next(box.iter("button", "input"), None) is not None or not _is_in_content(box)


def _is_label(element: HtmlElement) -> bool:
    """Whether an element shows the name that a box around it has for screen readers."""
    around = islice(element.iterancestors(), _MAX_UP)
    labels = [" ".join(label.split()) for box in around if (label := box.get("aria-label")) is not None]
    return bool(labels) and _folded(element) in labels


def _is_title(element: HtmlElement) -> bool:
    """Whether a visible element is a short title of what follows it, not a paragraph of text."""
    if element.tag in ("ul", "ol", "table", "form", "pre", "nav", "img", "label"):
        return False
    if element.tag == "a" and not is_same_page_link(element):
        return False
    text = _folded(element)
    if not text or len(text) > _MAX_TITLE:
        return False
    return element.tag != "p" or bool(_QUESTION.search(text)) or next(element.iter("b", "strong"), None) is not None


def _is_bold_question(element: HtmlElement) -> bool:
    """Whether a paragraph is a question in bold type and nothing else."""
    bold = next(element.iter("b", "strong"), None)
    text = _folded(element)
    return bold is not None and bool(_QUESTION.search(text)) and _folded(bold).startswith(text[:-1].rstrip())


def _is_slide(element: HtmlElement) -> bool:
    """Whether a part is a further slide of a carousel, and not the copy of one."""
    names = element.get("class") or ""
    if element.tag not in _SLIDES or _COPIES.search(names):
        return False
    if sum(1 for _ in islice(_words(element), 3)) < 3:
        return False
    if element.get("aria-roledescription") == "slide":
        return True
    boxes = [element, *islice(element.iterancestors(), _MAX_UP)]
    return any(_CAROUSEL.search(box.get("class") or "") or "carousel" in _roles(box) for box in boxes)


def _roles(box: HtmlElement) -> str:
    return f"{box.get('aria-roledescription') or ''} {box.get('data-ride') or ''} {box.get('data-bs-ride') or ''}"


def _is_next(before: HtmlElement, element: HtmlElement) -> bool:
    return before.getparent() is element.getparent() and not (before.tail or "").strip()


def _offers_rest(element: HtmlElement) -> bool:
    """Whether an element is, or holds nothing but, a control with words like "read more"."""
    parts = [element, *(inner for inner in islice(element.iterdescendants(), 5) if isinstance(inner.tag, str))]
    return any(offers_the_rest(part.text_content()) and is_toggle(part) for part in parts)


def _offers_rest_next(box: HtmlElement | None) -> bool:
    """Whether what follows a box offers the rest of it."""
    following = box.getnext() if box is not None and not (box.tail or "").strip() else None
    return following is not None and isinstance(following.tag, str) and _offers_rest(following)


def _is_filled_in(field: HtmlElement) -> bool:
    return field.tag == "textarea" or (field.get("type") or "text").lower() in _FILLED_IN


def _is_linked(element: HtmlElement) -> bool:
    links = sum(len(link.text_content().strip()) for link in element.iter("a") if not is_same_page_link(link))
    return links > 0 and links > _LINKED * len(element.text_content().strip())


def _is_in_content(element: HtmlElement) -> bool:
    return any(box.tag in ("main", "article") or box.get("role") == "main" for box in element.iterancestors())


def _words(element: HtmlElement) -> Iterator[str]:
    for text in element.itertext():
        if isinstance(text, str) and _WORD.search(text):
            yield from text.split()


def _folded(element: HtmlElement) -> str:
    return " ".join("".join(islice(element.itertext(), 400)).split())
