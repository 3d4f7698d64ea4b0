"""Names of what is shown without words: icons in cells, labels of notices that only screen readers give.

A cell with an icon says "Yes", an empty one says nothing: an icon that is all that a cell, item or term holds becomes
its accessible name. Text for screen readers stays where it is all that stands there, or begins its paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.shown.action_words import is_action
from webrag_core.conversion.shown.attribute_index import AttributeIndex
from webrag_core.conversion.shown.hidden import (
    is_class_for_screen_readers,
    is_for_screen_readers,
    is_hidden,
    is_on_screen,
)
from webrag_core.conversion.shown.panels import new_element

_NAMING = ("aria-label", "title", "aria-hidden", "alt")
_HOLDERS = {"td", "th", "li", "dt", "dd"}
_ROLES = {"cell", "gridcell", "columnheader", "rowheader", "listitem"}
_CELLS = {"td", "th"}
_CONTROLS = {"button", "input", "select", "textarea", "label"}
_MAX_UP = 12
_NO_ICONS = {"input", "select", "textarea", "math", "table", "video", "audio", "iframe", "ul", "ol", "dl"}
_NOT_READ = {"script", "style", "template", "noscript", "svg", "select", "textarea", "input", "math"}
_LABELS = re.compile(
    r"(?:note|notes|warning|caution|danger|tip|hint|important|attention|info|information|notice|error|success|example"
    r"|deprecated|experimental|beta|new|hinweis|achtung|warnung|vorsicht|gefahr|tipp|wichtig|fehler|remarque|attention"
    r"|avertissement|danger|astuce|conseil|important|erreur|nota|advertencia|atención|precaución|peligro|consejo"
    r"|importante|avviso|avvertenza|attenzione|pericolo|suggerimento|aviso|atenção|cuidado|perigo|dica|let op"
    r"|waarschuwing|opmerking|uwaga|ostrzeżenie|wskazówka|внимание|предупреждение|примечание|важно|совет|注意|警告|提示"
    r"|危险|重要|メモ|ヒント)",
    re.IGNORECASE,
)
_LABEL_TAGS = {"aside", "section", "div"}
_LABEL_ROLES = {"note", "alert"}
_MARKS = re.compile(r"[✓✔✗✘✕✖×☑☒☐⬤●○◯✅❌❎➖—–+-]️?")
_MAX_NAME = 80  # characters
_MAX_LABEL = 40
_VALUES = re.compile(
    r"(?:yes|no|true|false|none|full|partial|(?:not )?(?:included|available|supported|allowed)|unsupported|unavailable"
    r"|check(?:ed|mark| mark)?|tick|cross|ok|ja|nein|(?:nicht )?(?:enthalten|verfügbar|unterstützt|inklusive)|oui|non"
    r"|(?:non )?(?:inclus|disponible)|sí|si|(?:no )?(?:incluido|disponible)|incluso|non incluso|sim|não|nee|tak|nie"
    r"|да|нет|是|否|有|无|はい|いいえ|対応|非対応)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:no|not (?:included|available|supported|allowed)|unsupported|unavailable|excluded|nein"
    r"|nicht (?:enthalten|verfügbar|unterstützt|inklusive)|non (?:inclus|disponible|incluso)|indisponible"
    r"|no (?:incluido|disponible)|não (?:incluído|disponível)|niet (?:inbegrepen|beschikbaar))",
    re.IGNORECASE,
)
_SIGN = re.compile(
    r"(?:^|[\s#-])(?:fa|fas|far|bi|mdi|icon|icons?|glyphicon|ti|ri|lucide|feather|svg)-(?:[a-z]+-)?"
    r"(?:(check|tick|ok|yes|checkmark)|times|xmark|x|cross|remove|close|no|minus)(?:$|[\s-])"
)
_MAX_SIGNS = 4  # elements of a cell in which a sign is looked for
_ORNAMENT = re.compile(
    r"icon|external|opens|new (?:tab|window)|link|arrow|chevron|logo|copy|info|menu|search", re.IGNORECASE
)
_LINES = {"div", "p", "span", "li", "td", "dd", "strong", "b"}
_BLOCKS = {
    "p",
    "div",
    "li",
    "dd",
    "td",
    "aside",
    "section",
    "blockquote",
    "dt",
    "th",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
}
_WORD = re.compile(r"[^\W_]")


def write_names(index: AttributeIndex) -> list[HtmlElement]:
    """Write the names of icons where nothing else says it, and return the text for screen readers that says nothing
    more, which is to be dropped. Linear in the size of the page."""
    for_readers = index.of_class(is_class_for_screen_readers)
    drawings = index.root.iterdescendants("svg")
    by_holder: dict[HtmlElement, list[HtmlElement]] = {}
    for element in dict.fromkeys((*index.having(*_NAMING), *drawings, *for_readers)):
        if (holder := _holder(element)) is not None:
            by_holder.setdefault(holder, []).append(element)
    kept: set[HtmlElement] = set()
    for holder, elements in by_holder.items():
        if not _has_text(holder):
            kept.update(_write(holder, elements))
        else:
            _write_denial(holder, elements[0])
    for cell in index.root.iter(*_CELLS):
        if not (cell.text or "").strip() and len(cell) and len(cell) <= _MAX_SIGNS:
            _write_sign(cell)
    for picture in index.having("role"):
        if picture.get("role") == "img":
            _write_picture(picture)
    for box in index.having("aria-label"):
        if box.tag in _LABEL_TAGS or box.get("role") in _LABEL_ROLES:
            _write_label(box)
    return [
        each for each in for_readers if each not in kept and not _begins_paragraph(each) and not _names_contact(each)
    ]


def _holder(element: HtmlElement) -> HtmlElement | None:
    """The cell, item or term that an element stands in; None for one in a control or in a drawing."""
    if element.tag in _CELLS:
        return element
    if element.tag in _CONTROLS or element.tag in _HOLDERS:
        return None
    for box in islice(element.iterancestors(), _MAX_UP):
        if box.tag in _HOLDERS or box.get("role") in _ROLES:
            return box
        if box.tag in _CONTROLS or box.tag in ("svg", "nav", "figure"):
            return None
    return None


def _has_text(holder: HtmlElement) -> bool:
    """Whether a holder shows words, a picture, or something else to read beside its icons."""
    walk = etree.iterwalk(holder, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start":
            skipped = element is not holder and (
                element.tag in _NOT_READ or is_hidden(element) or is_for_screen_readers(element)
            )
            if element.tag in _NO_ICONS and element is not holder:
                return True
            if element.tag == "img" and not skipped and not _is_icon(element):
                return True
            if skipped:
                walk.skip_subtree()
            elif (element.text or "").strip():
                return True
        elif element is not holder and (element.tail or "").strip():
            return True
    return False


def _write_denial(holder: HtmlElement, icon: HtmlElement) -> None:
    """Put "not included" before the words that it is said of, where an icon says it."""
    name = _name(icon) if icon is not holder else ""
    if not _DENIED.fullmatch(name) or (holder.text or "").strip() or is_for_screen_readers(icon):
        return
    if next(holder.iterdescendants("*"), None) in (icon, icon.getparent()):
        _say(icon, f"{name}:", holder)


def _write_sign(cell: HtmlElement) -> None:
    """Write the check mark or cross that a cell without text shows by the class of an icon."""
    if "".join(islice(cell.itertext(), 10)).strip():
        return
    for element in islice(cell.iterdescendants("i", "span", "svg", "use"), _MAX_SIGNS):
        names = element.get("class") or element.get("href") or element.get("xlink:href") or ""
        if (match := _SIGN.search(names)) is not None:
            box = element if element.tag != "use" else element.getparent()
            _say(box, "✓" if match[1] is not None else "✗", cell)
            return


def _is_icon(image: HtmlElement) -> bool:
    """Whether a picture is a sign in a cell that says no more than "yes" or "no"."""
    return _VALUES.fullmatch(" ".join((image.get("alt") or "").split())) is not None


def _write(holder: HtmlElement, elements: list[HtmlElement]) -> Iterator[HtmlElement]:
    """Write the names of the icons of a holder without text into it; yield the text for screen readers that stays."""
    names: list[tuple[HtmlElement, str]] = []
    for element in elements:
        name = _name(element)
        if name and not is_action(name) and name not in [known for _, known in names]:
            names.append((element, name))
    if not names:  # a check mark is shown, and kept from screen readers
        for element in elements:
            if is_on_screen(element) and _MARKS.fullmatch("".join(islice(element.itertext(), 5)).strip()):
                del element.attrib["aria-hidden"]
                return
        return
    readers = [each for each in names if is_for_screen_readers(each[0])]
    for element, name in readers or names:
        if is_for_screen_readers(element):
            element.attrib.pop("class", None)
            yield element
        else:
            _say(element, name, holder)


def _name(element: HtmlElement) -> str:
    """The accessible name of an icon, or the text for screen readers."""
    if is_for_screen_readers(element):
        return _folded("".join(islice(element.itertext(), 20)))
    if element.get("hidden") is not None or (is_hidden(element) and element.tag not in ("svg", "i", "span", "img")):
        return ""
    if element.tag == "a" and (element.get("href") or "").startswith(("mailto:", "tel:")):
        return ""
    for name in ("aria-label", "title", "alt"):
        if value := _folded(element.get(name) or ""):
            return value
    if element.tag == "svg":
        title = next(element.iter("title", "{http://www.w3.org/2000/svg}title"), None)
        return _folded(title.text or "") if title is not None else ""
    return ""


def _folded(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_NAME and _WORD.search(text) else ""


def _say(element: HtmlElement, name: str, holder: HtmlElement) -> None:
    """Put a name where its icon stands; a link keeps it as its words."""
    if element.tag == "a" or element is holder:
        element.text = name
        return
    word = new_element("span", f"{name} ")
    box = element
    while (parent := box.getparent()) is not None and parent is not holder and is_hidden(parent):
        box = parent
    word.tail, box.tail = box.tail, None
    box.addnext(word)
    if element.tag == "img":
        element.drop_tree()


def _write_picture(picture: HtmlElement) -> None:
    """Write the name of a drawing that is a word of its line, or all of a box."""
    name = _folded(picture.get("aria-label") or "")
    parent = picture.getparent()
    if not name or is_hidden(picture) or _ORNAMENT.search(name) or parent is None or parent.tag not in _LINES:
        return
    if picture.tag == "img" or (picture.tag != "svg" and _WORD.search("".join(islice(picture.itertext(), 20)))):
        return
    previous = picture.getprevious()
    before = (parent.text if previous is None else previous.tail) or ""
    if _WORD.search(before) or not _has_text(parent):
        _say(picture, name, parent)
        picture.set("aria-hidden", "true")  # it is said


def _begins_paragraph(element: HtmlElement) -> bool:
    """Whether text for screen readers is a short label before the words of its paragraph; it is then shown."""
    text = " ".join("".join(islice(element.itertext(), 10)).split())
    if not text or len(text) > _MAX_LABEL:
        return False
    if not text.endswith((":", "：")) and not _LABELS.fullmatch(text.rstrip(" .!")) and not _DENIED.fullmatch(text):
        return False
    inner = element
    for box in islice(element.iterancestors(), 4):
        if (box.text or "").strip() or any(
            isinstance(child.tag, str) and child.tag not in ("svg", "i", "img")
            for child in inner.itersiblings(preceding=True)
        ):
            return False
        if box.tag in _BLOCKS:
            break
        inner = box
    else:
        return False
    if box.tag in _CELLS or not _follows_text(inner):
        return False
    element.attrib.pop("class", None)
    return True


def _names_contact(element: HtmlElement) -> bool:
    """Whether text for screen readers is the name of a mail or telephone link; it is then shown."""
    link = next(element.iterancestors("a"), None)
    if link is None or not (link.get("href") or "").startswith(("mailto:", "tel:")) or _has_text(link):
        return False
    element.attrib.pop("class", None)
    return True


def _follows_text(element: HtmlElement) -> bool:
    """Whether words stand behind an element in its box."""
    if _WORD.search(element.tail or ""):
        return True
    following = element.getnext()
    return following is not None and any(_WORD.search(text) for text in islice(following.itertext(), 20))


def _write_label(box: HtmlElement) -> None:
    """Put the name of a notice before its text, where it is shown only by an icon or a colour."""
    label = _folded(box.get("aria-label") or "")
    if not _LABELS.fullmatch(label):
        return
    beginning = " ".join("".join(islice(box.itertext(), 30)).split())
    if beginning and not beginning.casefold().startswith(label.casefold()):
        line = new_element("p")
        line.append(new_element("strong", label))
        line.tail, box.text = box.text, None
        box.insert(0, line)
