"""What is left of HTML in a page's text, as text: tables with spanning cells, formulas, stray tags."""

from __future__ import annotations

import re
from html import unescape

from lxml import etree
from lxml.html import HtmlElement, fragment_fromstring

from webrag_core.conversion.math import as_tex

_BLOCK = re.compile(r"<(table|math|dl|pre)\b[^>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|blockquote|body|br|caption|center|cite|code|col|colgroup|dd|del|details|dfn|div|dl|dt"
    r"|em|figcaption|figure|font|footer|h[1-6]|head|header|hr|html|i|img|ins|kbd|li|main|mark|nav|ol|p|pre|q|s|samp"
    r"|section|small|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|wbr)"
    r"(?:\s[^<>]*)?/?>|<!--.*?-->",
    re.IGNORECASE | re.DOTALL,
)
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_BREAKING = re.compile(
    r"</?(?:blockquote|br|dd|details|div|dl|dt|figure|h[1-6]|hr|li|ol|p|section|table|tr|ul)\b", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")
_WIDEST = 60  # columns and rows that a span may claim
_CODE_CLASS = re.compile(r"(?:language|highlight|lang)-([\w+#-]{1,20})")


def without_html(text: str) -> str:
    """`text` with its HTML elements as readable text; angle brackets that are no HTML stay."""
    if "<" not in text:
        return text
    return _TAG.sub(_bare, _BLOCK.sub(_block, text))


def _bare(match: re.Match[str]) -> str:
    tag = match[0]
    if tag[:4].lower() == "<img":
        found = _ALT.search(tag)
        words = unescape((found[1] or found[2]) if found else "").strip()
        return f"(image: {words})" if words else ""
    return "\n" if _BREAKING.match(tag) else ""


def _block(match: re.Match[str]) -> str:
    try:
        element = fragment_fromstring(match[0])
    except (etree.ParserError, ValueError):
        return match[0]  # the tags are taken off one by one
    kind = str(element.tag).lower()
    if kind == "math":
        return as_tex(element)
    lines = {"table": table_lines, "dl": _definitions, "pre": _code}[kind](element)
    return "\n" + "\n".join(lines) + "\n"


def table_lines(table: HtmlElement) -> list[str]:
    """Rows between bars; a cell that spans others is repeated in each, so that every row can be read alone."""
    rows = _grid(table)
    if not rows:
        return []
    width = max(len(row) for row in rows)
    lines = [_row([*row, *[""] * (width - len(row))]) for row in rows]
    lines.insert(1, "|" + "---|" * width)
    caption = table.find("caption")
    return lines if caption is None else [_words(caption), "", *lines]


def _grid(table: HtmlElement) -> list[list[str]]:
    rows: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column -> rows still to fill, text
    for row in table.iter("tr"):
        if next(row.iterancestors("table"), table) is not table:
            continue  # of a table in a cell, whose words are in that cell
        cells: list[str] = []

        def fill(cells: list[str] = cells) -> None:
            while (column := len(cells)) in hanging:
                left, words = hanging.pop(column)
                if left > 1:
                    hanging[column] = (left - 1, words)
                cells.append(words)

        for cell in row:
            if cell.tag not in ("td", "th"):
                continue
            fill()
            words = _words(cell)
            rowspan = _span(cell, "rowspan")
            for _ in range(_span(cell, "colspan")):
                if rowspan > 1:
                    hanging[len(cells)] = (rowspan - 1, words)
                cells.append(words)
        fill()
        if cells:
            rows.append(cells)
    return rows


def _span(cell: HtmlElement, name: str) -> int:
    text = (cell.get(name) or "1").strip()
    return max(1, min(_WIDEST, int(text))) if text.isascii() and text.isdigit() and len(text) < 6 else 1


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _words(element: HtmlElement) -> str:
    for formula in list(element.iter("math")):
        tex, tail = as_tex(formula), formula.tail
        formula.clear()
        formula.text, formula.tail = tex, tail
    for image in element.iter("img"):
        image.text = f"(image: {image.get('alt')})" if image.get("alt") else None
    return _SPACE.sub(" ", " ".join(str(part) for part in element.itertext())).strip()


def _definitions(listing: HtmlElement) -> list[str]:
    return [
        f"**{_words(item)}**" if item.tag == "dt" else f": {_words(item)}"
        for item in listing.iter("dt", "dd")
        if _words(item)
    ]


def _code(element: HtmlElement) -> list[str]:
    classes = " ".join(str(part.get("class") or "") for part in element.iter())
    language = _CODE_CLASS.search(classes)
    return [f"```{language[1] if language else ''}", element.text_content().strip("\n"), "```"]
