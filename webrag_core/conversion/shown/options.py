"""The options of a select as a list: sizes, prices, variants. Those that only steer the page are controls."""

from __future__ import annotations

import re
from itertools import islice

from lxml.html import HtmlElement

from webrag_core.conversion.shown.action_words import enters_into_cart
from webrag_core.conversion.shown.panels import folded_text, new_element

_MAX_OPTIONS = 60  # more are countries, years, or all pages of a site
_AROUND = {"nav", "header", "footer"}
_ROLES_AROUND = {"navigation", "search", "banner", "contentinfo", "toolbar"}
_STEERS = re.compile(
    r"\b(?:language|sprache|langue|idioma|lingua|taal|język|язык|version|theme|sort|sortieren|trier|ordenar|ordina"
    r"|per page|items|entries|results|page size|country|currency|region|jump to|go to|filter|search|categories"
    r"|archives?|archiv|kategorien)\b|语言|言語",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?:)?//|/[\w.-]+|[\w-]+\.html?$|\?")
_PROMPT = re.compile(
    r"[-–—.…\s]*(?:please |bitte )?(?:select|choose|pick|wählen|auswählen|choisi\w*|sélectionn\w*|seleccion\w*"
    r"|elija|elige|selezion\w*|scegli|selecion\w*|escolha|kies|selecteer|wybierz|выберите|请选择|選択)\b.*|[-–—.…\s]*",
    re.IGNORECASE,
)
_FLOW = {"p", "label", "span", "b", "strong", "em", "small", "h1", "h2", "h3", "h4", "h5", "h6"}
_ONE_LINE = {"td", "th", "li", "dt"}
_MAX_UP = 12


def list_options(root: HtmlElement) -> None:
    """Put the options of every select that is content behind its label. What is not content stays to be dropped."""
    forms: dict[HtmlElement, bool] = {}  # whether a form is sent, by form
    for select in list(root.iter("select")):
        entries = _entries(select)
        if entries and not _steers(root, select, forms):
            _write(select, entries)


def _entries(select: HtmlElement) -> list[str]:
    """The options with text; none where there are too many, or only numbers."""
    entries = []
    for option in islice(select.iter("option"), _MAX_OPTIONS + 2):
        text = folded_text(option) or (option.get("label") or "").strip()
        is_prompt = "disabled" in option.attrib or option.get("value") == "" or _PROMPT.fullmatch(text)
        if text and not is_prompt:
            entries.append(text)
    return entries if 0 < len(entries) <= _MAX_OPTIONS else []


def _steers(root: HtmlElement, select: HtmlElement, forms: dict[HtmlElement, bool]) -> bool:
    """Whether a select only steers the page, or is filled in and sent."""
    for box in select.iterancestors():
        if box.tag in _AROUND or box.get("role") in _ROLES_AROUND:
            return True
        if box.tag == "form":
            if box not in forms:
                forms[box] = _is_sent(box)
            if forms[box]:
                return True
        if box is root:
            break
    changes = (select.get("onchange") or "").lower()
    if "location" in changes or "href" in changes or "submit" in changes:
        return True
    values = [str(option.get("value")) for option in select.iter("option") if option.get("value")]
    if values and all(_ADDRESS.match(value) for value in values):
        return True
    return _STEERS.search(_label(root, select)) is not None


def _is_sent(form: HtmlElement) -> bool:
    """Whether a form has a control that sends it, other than into a shopping cart."""
    for field in form.iter("button", "input"):
        kind = (field.get("type") or ("submit" if field.tag == "button" else "text")).lower()
        if kind in ("submit", "image"):
            words = folded_text(field) or field.get("value") or field.get("aria-label") or ""
            if not enters_into_cart(words):
                return True
    return False


def _label(root: HtmlElement, select: HtmlElement) -> str:
    """What names a select, as far as it stands beside it."""
    texts = [
        select.get("aria-label") or "",
        select.get("name") or "",
        select.get("id") or "",
        select.get("title") or "",
    ]
    label = next(select.iterancestors("label"), None)
    if label is None:
        label = select.getprevious()
    if label is not None and isinstance(label.tag, str) and label.tag in ("label", "span", "p", "div", "b", "strong"):
        texts.append("".join(islice(label.itertext(), 5)))
    return re.sub("[-_]", " ", " ".join(texts))


def _write(select: HtmlElement, entries: list[str]) -> None:
    """Replace a select by a list, or by a line where it stands in a cell, item or term."""
    boxes = list(islice(select.iterancestors(), _MAX_UP))
    name = " ".join((select.get("aria-label") or "").split())
    if any(box.tag in _ONE_LINE for box in boxes) or re.search(r"\w", select.tail or ""):
        line = new_element("span", " " + "; ".join(entries))
        line.tail, select.tail = select.tail, None
        select.addprevious(line)
        select.drop_tree()
        return
    items = new_element("ul")
    for entry in entries:
        items.append(new_element("li", entry))
    place = select
    for box in boxes:  # a list stands in no line of text
        if box.tag not in _FLOW:
            break
        place = box
    tail, place.tail = place.tail, None
    place.addnext(items)
    items.tail = tail
    if name and place is select and (select.getprevious() is None or select.getprevious().tag != "label"):
        items.addprevious(new_element("p", name))
    select.drop_tree()
