"""Rewrites of a page's elements into what the Markdown converter keeps: code, tables, formulas, exponents, images."""

from __future__ import annotations

import re

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.ingestion.definition_lists import Placeholders

_SPACE = re.compile(r"\s+")
_HIGHLIGHT = re.compile(r"(?:^|\s)(?:highlight|language|lang|sourceCode)-([\w+#.]+)")
_LANGUAGES = {
    "python3": "python",
    "py3": "python",
    "pycon": "python",
    "ipython3": "python",
    "default": "python",
}
_NO_LANGUAGE = {"none", "text", "notranslate", "plaintext"}
_LINE_BLOCKS = {"div", "p", "li", "tr"}
_LINE_NUMBERS = {"linenos", "lineno", "line-numbers", "gutter", "rouge-gutter", "hljs-ln-numbers"}
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_VERBATIM = {"pre", "code", "kbd", "samp", "tt"}
_RAW_TEX = re.compile(r"\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)
_SIMPLE_EXPONENT = re.compile(r"[+\-\u2212]?\d{1,4}|[a-z]")
_EXPONENT = re.compile(r"(?=.*[\d+\-\u2212*/])[\w+\-\u2212*/. ]{2,16}", re.ASCII)


def unwrap_layout_tables(main: HtmlElement) -> None:
    """Make plain blocks of tables that only place things: a Markdown cell is one line and would break what they hold.

    That is a table with headings, several lines of code or another table in it, of one cell, or without header
    cells around lists. Columns of line numbers go.
    """
    for table in reversed(list(main.iter("table"))):
        rows = [row for part in (table, *table.iterchildren("thead", "tbody", "tfoot")) for row in part.findall("tr")]
        cells = [cell for row in rows for cell in row.iterchildren("td", "th")]
        if not _is_layout(table, cells):
            continue
        for cell in cells:
            if _is_line_numbers(cell):
                cell.drop_tree()
        for element in (table, *table.iterchildren("thead", "tbody", "tfoot", "caption", "colgroup"), *rows, *cells):
            element.tag = "div"


def _is_layout(table: HtmlElement, cells: list[HtmlElement]) -> bool:
    if len(cells) == 1 or (table.get("role") or "").lower() in ("presentation", "none"):
        return True
    if next(table.iter(*_HEADINGS), None) is not None or table.find(".//table") is not None:
        return True
    if any("\n" in _code_text(pre).strip("\n") for pre in table.iter("pre")):
        return True
    headed = any(cell.tag == "th" for cell in cells)
    return not headed and next(table.iter("pre", "ul", "ol", "dl"), None) is not None


def _is_line_numbers(element: HtmlElement) -> bool:
    return not _LINE_NUMBERS.isdisjoint((element.get("class") or "").split())


def mark_code(main: HtmlElement) -> None:
    """Make every <pre> plain text in one <code class=language-…>, its language taken from the markup around it."""
    for pre in list(main.iter("pre")):
        if pre.getparent() is None:
            continue  # within another one
        for number in [element for element in pre.iterdescendants(etree.Element) if _is_line_numbers(element)]:
            number.drop_tree()
        language = _language(pre)
        text = _code_text(pre)
        del pre[:]
        pre.text = None
        code = etree.SubElement(pre, "code")
        code.text = text.lstrip("\n")
        if language:
            code.set("class", f"language-{language}")


def flatten_inline_code(main: HtmlElement) -> None:
    """Inline code is one span of text: a line end inside it would end it in Markdown."""
    for code in list(main.iter("code", "tt", "kbd", "samp")):
        if (
            all(inner.tag == "span" for inner in code.iterdescendants())
            and next(code.iterancestors("pre"), None) is None
        ):
            text = _SPACE.sub(" ", code.text_content())
            del code[:]
            code.text = text


def _code_text(pre: HtmlElement) -> str:
    """Text of a <pre> as a browser lays it out: <br> and blocks within it begin a new line."""
    parts: list[str] = []

    def add(text: str | None) -> None:
        if text:
            parts.append(text)

    def end_line() -> None:
        if parts and not parts[-1].endswith("\n"):
            parts.append("\n")

    for event, element in etree.iterwalk(pre, events=("start", "end", "comment", "pi")):
        if event == "start":
            if element.tag == "br":
                parts.append("\n")
            elif element.tag in _LINE_BLOCKS:
                end_line()
            add(element.text)
            continue
        if event == "end" and element.tag in _LINE_BLOCKS:
            end_line()
        if element is not pre:
            add(element.tail)
    return "".join(parts)


def _language(pre: HtmlElement) -> str | None:
    places: list[HtmlElement] = [*pre.iter("code"), pre]
    for ancestor in pre.iterancestors():
        places.append(ancestor)
        if len(places) > 5:
            break
    for place in places:
        match = _HIGHLIGHT.search(place.get("class") or "")
        if match:
            name = match.group(1).lower()
            return None if name in _NO_LANGUAGE else _LANGUAGES.get(name, name)
    return None


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
            element.text = _wrap_tex(element, 0, element.text)
        if element is not main and element.tail and parent is not None and not _is_verbatim(parent):
            element.tail = _wrap_tex(parent, parent.index(element) + 1, element.tail)


def _is_verbatim(element: HtmlElement) -> bool:
    if "math" in (element.get("class") or "").split():
        return True
    return element.tag in _VERBATIM or any(ancestor.tag in _VERBATIM for ancestor in element.iterancestors())


def _wrap_tex(parent: HtmlElement, position: int, text: str) -> str:
    """Insert `math` elements for the formulas of `text` at `position`; what comes before the first is returned."""
    found = list(_RAW_TEX.finditer(text))
    if not found:
        return text
    ends = [match.start() for match in found[1:]] + [len(text)]
    for number, (match, end) in enumerate(zip(found, ends, strict=True)):
        formula = lxml.html.HtmlElement()
        formula.tag = "span"
        formula.set("class", "math")
        formula.text = match.group()
        formula.tail = text[match.end() : end]
        parent.insert(position + number, formula)
    return text[: found[0].start()]


def protect_math(main: HtmlElement, placeholders: Placeholders) -> None:
    """TeX goes through unescaped: from MathML annotations and from `math` elements (Sphinx, MathJax)."""
    for annotation in main.xpath(".//*[local-name()='annotation'][contains(@encoding, 'tex')]"):
        formula = next((a for a in annotation.iterancestors() if a.tag == "math"), None)
        if formula is not None and formula.getparent() is not None:
            placeholders.replace_inline(formula, f"${_one_line(annotation.text or '')}$")
    for element in main.xpath(".//*[contains(concat(' ', @class, ' '), ' math ')]"):
        tex = _one_line(element.text_content() or "")
        if tex and len(element) == 0:
            placeholders.replace_inline(element, re.sub(r"^\\[(\[] ?| ?\\[)\]]$", "$", tex))


def raise_exponents(main: HtmlElement) -> None:
    """10<sup>6</sup> is not 106: exponents get a caret. Marks of footnotes (links) and ordinals stay as they are."""
    for sup in main.iter("sup"):
        text = _one_line(sup.text_content())
        previous = sup.getprevious()
        parent = sup.getparent()
        if previous is not None:
            before = previous.tail or previous.text_content()
        else:
            before = parent.text if parent is not None else None
        if not before or not (before[-1].isalnum() or before[-1] in ")]") or sup.find(".//a") is not None:
            continue
        if _SIMPLE_EXPONENT.fullmatch(text):
            marked = f"^{text}"
        elif _EXPONENT.fullmatch(text):
            marked = f"^({text})"
        else:
            continue
        del sup[:]
        sup.text = marked


def tell_images(main: HtmlElement) -> None:
    """Pictures that lie in the page itself become their alternative text; lazy ones get their address."""
    for image in list(main.iter("img")):
        address = (image.get("src") or "").strip()
        later = (image.get("data-src") or "").strip()
        if later and (not address or address.startswith("data:")):
            image.set("src", later)
        elif address.startswith("data:"):
            image.tag = "span"
            image.text = image.get("alt") or ""


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
