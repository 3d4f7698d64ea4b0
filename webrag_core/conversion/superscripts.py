"""Write superscripts and subscripts as plain text: footnote marks, exponents, indices."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_SPACE = re.compile(r"\s+")
_MAX_MARK = 6  # characters of a footnote mark: "1", "†", "n 12"
_NAMED_NOTE = re.compile(r"\b(?:footnote|noteref|fnref)")
_SIMPLE_EXPONENT = re.compile(r"[+\-\u2212]?\d{1,4}|[a-z]", re.ASCII)
_SIGNS = r"+\-\u2212*/=,.^()\u221e\u00b0 "
# with a digit, a sign or a Greek letter; words, ordinals (2nd, 1ère) and abbreviations (Mlle) are no exponents
_EXPONENT = re.compile(
    rf"(?!.*[^\W\d_]{{4}})(?=.*[\d+\-\u2212*/\u221e\u0370-\u03ff])[\w{_SIGNS}]{{2,24}}|[\u0370-\u03ff\u221eT]"
)
_VARIABLE = re.compile(r"(?:\A|\W)[a-z]\Z|[)\]]\Z")
_LETTERS = re.compile(r"[a-z]{2,3}")
_ORDINAL = {"st", "nd", "rd", "th", "er", "re", "me", "de"}
_WORD_END = re.compile(r"[^\W\d_]{3}\Z")
_WORD = re.compile(r"(?:\A|[^\w])([^\W\d_]{4,}|[^\W\d_]{11,})\Z")
# of the words that take exponents, those of four letters and more
_POWERS = frozenset(
    ("inch", "inches", "foot", "feet", "yard", "yards", "mile", "miles", "acre", "acres", "meter", "meters", "metre",
     "metres", "mètre", "mètres", "metro", "metros", "metri", "zoll", "sinh", "cosh", "tanh", "grad", "pixel", "pixels",
     "second", "seconds")
)  # fmt: skip
_SHORT_NOTE = re.compile(r"[1-9]\d?")
_NUMBERED = re.compile(r"(?:\A|\W)\d+\Z")
_ORDINAL_LETTERS = {"a", "o", "e"}
_INDEX = re.compile(r"\w{1,12}")
_FORMULA_END = re.compile(r"(?:[A-Z][a-z]?|\))\Z")  # H2O, Fe2, Ca(OH)2: chemists and readers write no mark
_DIGITS = re.compile(r"\d{1,3}")


def bracket_footnotes(main: HtmlElement) -> None:
    """Put footnote marks in brackets: 2019<sup>1</sup> is not 20191."""
    for sup in list(main.iter("sup")):
        text = _one_line(sup)
        if not text or text[0] in "[(":
            continue
        links = list(sup.iter("a"))
        outer = next(sup.iterancestors("a"), None)
        if links:
            for link in links:
                _bracket(link, sup)
        elif outer is not None and _one_line(outer) == text:
            _bracket(sup, outer)
        elif _names_note(sup):
            _bracket(sup, sup)
            _join_label(sup)
    for link in main.iter("a"):
        if _names_note(link):
            _bracket(link, link)


def _join_label(label: HtmlElement) -> None:
    """Move the mark before the paragraph of a footnote into its text."""
    note = label.getnext()
    if note is not None and note.tag == "p" and not (label.tail or "").strip():
        note.text = f"{label.text} {(note.text or '').lstrip()}"
        label.drop_tree()


def _names_note(element: HtmlElement) -> bool:
    if element.get("role") == "doc-noteref":
        return True
    names = element.get("class")
    return names is not None and _NAMED_NOTE.search(names) is not None


def _bracket(mark: HtmlElement, outermost: HtmlElement) -> None:
    text = _one_line(mark)
    if not text or text[0] in "[(" or len(text) > _MAX_MARK:
        return
    del mark[:]
    mark.text = f"[{text}]"
    if outermost.tail and outermost.tail.startswith("("):
        outermost.tail = " " + outermost.tail  # in Markdown [1](words) is a link


def raise_exponents(main: HtmlElement, language: str | None) -> None:
    """Write exponents with a caret (10<sup>6</sup> is not 106). Ordinals stay as they are, in the page's `language`;
    a small number behind a word is a note where the page has a first one."""
    has_notes = any(_one_line(sup) == "1" and _WORD.search(_text_before(sup)) for sup in main.iter("sup"))
    has_ordinals = language is not None and not language.lower().startswith("en")
    for sup in reversed(list(main.iter("sup"))):  # the innermost first
        before = _text_before(sup)
        if not before or sup.find(".//a") is not None:
            continue
        text = _one_line(sup)
        if not text or text[0] in "[(" or (has_ordinals and text in _ORDINAL_LETTERS and _names_number(before)):
            continue
        word = _WORD.search(before)
        if has_notes and word is not None and _SHORT_NOTE.fullmatch(text) and word[1].lower() not in _POWERS:
            _bracket(sup, sup)  # no word has a power: it is a note
            continue
        if _SIMPLE_EXPONENT.fullmatch(text):
            marked = f"^{text}"
        elif _EXPONENT.fullmatch(text) or (
            _LETTERS.fullmatch(text) and text not in _ORDINAL and _VARIABLE.search(before)
        ):
            marked = f"^({text})" if len(text) > 1 else f"^{text}"
        elif text in ("TM", "SM"):
            marked = "\u2122" if text == "TM" else "\u2120"
        else:
            if len(text) > 2 and text[0].isalpha() and _WORD_END.search(before):
                sup.text = f" {sup.text or ''}"  # a word of its own: API<sup>beta</sup>
            continue
        del sup[:]
        sup.text = marked


def lower_indices(main: HtmlElement) -> None:
    """Write indices with an underscore (a<sub>ij</sub> is not aij), except the counts of chemical formulas."""
    for sub in reversed(list(main.iter("sub"))):
        before = _text_before(sub)
        text = _one_line(sub)
        if not before or not text or not text[0].isalnum():
            continue
        if _DIGITS.fullmatch(text) and _FORMULA_END.search(before):
            continue
        if _INDEX.fullmatch(text):
            del sub[:]
            sub.text = f"_{text}"
        else:
            sub.text = f"_({(sub.text or '').lstrip()}"
            _append(sub, ")")


def _append(element: HtmlElement, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "").rstrip() + text
    else:
        element.text = (element.text or "").rstrip() + text


def _text_before(element: HtmlElement) -> str:
    """Return the last characters of the text that `element` would run into, or ""."""
    previous, parent = element.getprevious(), element.getparent()
    if previous is not None:
        before = previous.tail or previous.text_content()
    else:
        before = (parent.text if parent is not None else None) or ""
    return before[-12:] if before and (before[-1].isalnum() or before[-1] in ")]") else ""


def _names_number(before: str) -> bool:
    """Whether an ordinal (1<sup>a</sup>) or the word for number (N<sup>o</sup>) ends with a superscript letter."""
    return _NUMBERED.search(before) is not None or before[-1:] in ("N", "n", "№")


def _one_line(element: HtmlElement) -> str:
    return _SPACE.sub(" ", element.text_content()).strip()
