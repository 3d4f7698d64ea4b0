"""Rewrites of a page's tables and formulas into what the Markdown converter keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.code_blocks import code_text, is_line_numbers
from webrag_core.conversion.definition_lists import Placeholders

_SPACE = re.compile(r"\s+")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_VERBATIM = {"pre", "code", "kbd", "samp", "tt"}
_TEX_START = re.compile(r"\\[(\[]")
_TEX_END = {"\\(": "\\)", "\\[": "\\]"}


def unwrap_layout_tables(main: HtmlElement) -> None:
    """Make plain blocks of tables that only place things: a Markdown cell is one line and would break what they hold.

    That is a table with headings, several lines of code or another table in it, of one cell, or without header
    cells around lists. Columns of line numbers go.
    """
    layouts = []  # judged before any is changed: an inner table is what makes the outer one layout
    for table in main.iter("table"):
        rows = [row for part in (table, *table.iterchildren("thead", "tbody", "tfoot")) for row in part.findall("tr")]
        cells = [cell for row in rows for cell in row.iterchildren("td", "th")]
        if _is_layout(table, cells):
            layouts.append((table, rows, cells))
    for table, rows, cells in layouts:
        for cell in cells:
            if is_line_numbers(cell):
                cell.drop_tree()
        for element in (table, *table.iterchildren("thead", "tbody", "tfoot", "caption", "colgroup"), *rows, *cells):
            element.tag = "div"


def _is_layout(table: HtmlElement, cells: list[HtmlElement]) -> bool:
    if len(cells) == 1 or (table.get("role") or "").lower() in ("presentation", "none"):
        return True
    if next(table.iter(*_HEADINGS), None) is not None or table.find(".//table") is not None:
        return True
    if any("\n" in code_text(pre).strip("\n") for pre in table.iter("pre")):
        return True
    headed = any(cell.tag == "th" for cell in cells)
    return not headed and next(table.iter("pre", "ul", "ol", "dl"), None) is not None


def shows_raw_tex(document: HtmlElement) -> bool:
    """True when the page loads a script that typesets TeX written in running text."""
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
    found = list(_formulas(text))
    if not found:
        return text, []
    ends = [start for start, _ in found[1:]] + [len(text)]
    elements = []
    for (start, stop), end in zip(found, ends, strict=True):
        formula = lxml.html.HtmlElement()
        formula.tag = "span"
        formula.set("class", "math")
        formula.text = text[start:stop]
        formula.tail = text[stop:end]
        elements.append(formula)
    return text[: found[0][0]], elements


def _formulas(text: str) -> Iterator[tuple[int, int]]:
    """Where formulas stand. What is never closed is looked for once only, so that the time stays linear."""
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
    """TeX goes through unescaped: from MathML annotations and from `math` elements (Sphinx, MathJax)."""
    for annotation in main.xpath("descendant::*[local-name()='annotation'][contains(@encoding, 'tex')]"):
        formula = next((a for a in annotation.iterancestors() if a.tag == "math"), None)
        if formula is not None and formula.getparent() is not None:
            placeholders.replace_inline(formula, f"${_one_line(annotation.text or '')}$")
    for element in main.xpath("descendant::*[contains(concat(' ', @class, ' '), ' math ')]"):
        tex = _one_line(element.text_content() or "")
        if tex and len(element) == 0:
            placeholders.replace_inline(element, re.sub(r"^\\[(\[] ?| ?\\[)\]]$", "$", tex))


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
