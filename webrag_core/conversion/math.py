"""Formulas as TeX between dollar signs: from raw TeX in running text, marked elements, and MathML."""

from __future__ import annotations

import re
from collections.abc import Iterator

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.definition_lists import Placeholders

_SPACE = re.compile(r"\s+")
_VERBATIM = {"pre", "code", "kbd", "samp", "tt"}
_TEX_START = re.compile(r"\\[(\[]")
_TEX_END = {"\\(": "\\)", "\\[": "\\]"}
_MAX_DEPTH = 40


def shows_raw_tex(document: HtmlElement) -> bool:
    """Whether the page loads a script that typesets TeX in running text."""
    return any(
        name in f"{script.get('src') or ''} {script.text or ''}".lower()
        for script in document.iter("script")
        for name in ("mathjax", "katex")
    )


def mark_raw_tex(main: HtmlElement) -> None:
    r"""Put TeX in running text, \(…\) and \[…\], into `math` elements."""
    for element in list(main.iter(etree.Element)):
        parent = element.getparent()
        if element.text and not _is_verbatim(element):
            element.text, formulas = _split_tex(element.text)
            for formula in reversed(formulas):
                element.insert(0, formula)
        if element is not main and element.tail and parent is not None and not _is_verbatim(parent):
            before, formulas = _split_tex(element.tail)
            element.tail = None  # a neighbour is added before the tail
            for formula in reversed(formulas):
                element.addnext(formula)
            element.tail = before


def _is_verbatim(element: HtmlElement) -> bool:
    if "math" in (element.get("class") or "").split():
        return True
    return element.tag in _VERBATIM or any(ancestor.tag in _VERBATIM for ancestor in element.iterancestors())


def _split_tex(text: str) -> tuple[str, list[HtmlElement]]:
    """(what comes before the first formula, `math` elements with the text that follows each)."""
    spans = list(_formulas(text))
    if not spans:
        return text, []
    ends = [start for start, _ in spans[1:]] + [len(text)]
    elements = []
    for (start, stop), end in zip(spans, ends, strict=True):
        formula = lxml.html.HtmlElement()
        formula.tag = "span"
        formula.set("class", "math")
        formula.text = text[start:stop]
        formula.tail = text[stop:end]
        elements.append(formula)
    return text[: spans[0][0]], elements


def _formulas(text: str) -> Iterator[tuple[int, int]]:
    """Return the spans of formulas. A missing end is searched once only, so that the time stays linear."""
    position = 0
    unclosed: set[str] = set()
    while (opened := _TEX_START.search(text, position)) is not None:
        position = opened.end()
        closing = _TEX_END[opened.group()]
        end = -1 if closing in unclosed else text.find(closing, opened.end() + 1)
        if end < 0:
            unclosed.add(closing)
        else:
            position = end + len(closing)
            yield opened.start(), position


def protect_math(main: HtmlElement, placeholders: Placeholders) -> None:
    """Put TeX through unescaped: of MathML, and of elements with the class `math` (Sphinx, MathJax)."""
    for formula in [element for element in main.iter("math") if element.getparent() is not None]:
        placeholders.replace_inline(formula, _in_place(as_tex(formula), formula))
    for element in main.xpath("descendant::*[contains(concat(' ', @class, ' '), ' math ')]"):
        tex = _one_line(element.text_content() or "")
        if tex and len(element) == 0:
            tex = re.sub(r"^\\[(\[] ?| ?\\[)\]]$", "$", tex)
            placeholders.replace_inline(element, _in_place(tex, element))


def _in_place(tex: str, element: HtmlElement) -> str:
    """TeX as Markdown takes it there: in a table, bars part the cells."""
    in_cell = next(element.iterancestors("td", "th"), None) is not None
    return re.sub(r"(?<!\\)\|", r"\\|", tex) if in_cell else tex


def as_tex(formula: HtmlElement) -> str:
    """`$…$` from the author's own TeX (annotation or alttext), else from the structure."""
    for annotation in formula.iter("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower() and (annotation.text or "").strip():
            return f"${_bare(annotation.text or '')}$"
    written = formula.get("alttext")
    tex = _bare(written if written and written.strip() else _tex(formula, 0))
    return f"${tex}$" if tex else ""


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _bare(tex: str) -> str:
    return _one_line(tex).strip("$").strip()


def _tex(element: HtmlElement, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return str(element.text_content())
    name = str(element.tag).rpartition(":")[2].lower()
    parts = [
        _tex(child, depth + 1)
        for child in element
        if isinstance(child.tag, str) and child.tag.lower() not in ("annotation", "annotation-xml")
    ]
    match name, parts:
        case "mfrac", [over, under]:
            return rf"\frac{{{over}}}{{{under}}}"
        case "msup", [base, high]:
            return f"{_grouped(base)}^{{{high}}}"
        case "msub", [base, low]:
            return f"{_grouped(base)}_{{{low}}}"
        case (("msubsup" | "munderover"), [base, low, high]):
            return f"{_grouped(base)}_{{{low}}}^{{{high}}}"
        case "munder", [base, low]:
            return f"{_grouped(base)}_{{{low}}}"
        case "mover", [base, high]:
            return rf"\overset{{{high}}}{{{base}}}"
        case "msqrt", _:
            return rf"\sqrt{{{' '.join(parts)}}}"
        case "mroot", [base, index]:
            return rf"\sqrt[{index}]{{{base}}}"
        case "mtable", rows:
            return r"\begin{matrix}" + r" \\ ".join(rows) + r"\end{matrix}"
        case "mtr", cells:
            return " & ".join(cells)
        case "mtext", _:
            return rf"\text{{{_one_line(element.text_content())}}}"
        case "mfenced", _:
            return (element.get("open") or "(") + ", ".join(parts) + (element.get("close") or ")")
    texts = [element.text or "", *parts] if parts else [element.text_content()]
    return " ".join(part for part in (_SPACE.sub(" ", part).strip() for part in texts) if part)


def _grouped(base: str) -> str:
    return f"{{{base}}}" if len(base) > 1 and " " in base else base
