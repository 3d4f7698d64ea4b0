"""OpenDocument texts to HTML: headings, paragraphs, lists, tables, links and notes."""

from __future__ import annotations

from html import escape

from lxml.etree import _Element as Element

from webrag_core.conversion.office.package import Package, dublin_core, html_page, password_refusal

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_UNREAD = frozenset(
    {
        *(f"{_TEXT}{name}" for name in ("tracked-changes", "table-of-content", "alphabetical-index", "note-citation")),
        *(f"{_OFFICE}{name}" for name in ("annotation", "annotation-end", "forms", "scripts")),
    }
)
_MAX_REPEATED = 1_000
_MAX_DEPTH = 200


def odt_html(package: Package) -> bytes:
    """Convert a text; deleted text, comments, tables of contents, images and macros are left out. Raises FetchError."""
    if "META-INF/manifest.xml" in package and b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise password_refusal()
    content = package.xml("content.xml")
    text = content.find(f"{_OFFICE}body/{_OFFICE}text")
    properties: dict[str, str] = {}
    if "meta.xml" in package:
        meta = package.xml("meta.xml")
        properties = dublin_core(meta)
        properties["modified"] = properties.pop("created", "")  # its dc:date is that of the last change
        properties["created"] = (meta.findtext(f".//{_META}creation-date") or "").strip()
    ordered = {
        each.get(f"{_STYLE}name")
        for each in content.iter(f"{_TEXT}list-style")
        if len(each) and each[0].tag == f"{_TEXT}list-level-style-number"
    }
    code = {
        each.get(f"{_STYLE}name")
        for each in content.iter(f"{_STYLE}style")
        if (each.get(f"{_STYLE}parent-style-name") or "") == "Preformatted_20_Text"
    } | {"Preformatted_20_Text"}
    html = "" if text is None else _Writer(ordered, code).blocks(text)
    return html_page(html, {name: value for name, value in properties.items() if value})


class _Writer:
    def __init__(self, ordered: set[str | None], code: set[str | None]) -> None:
        self._ordered = ordered
        self._code = code

    def blocks(self, parent: Element, depth: int = 0) -> str:
        pieces: list[str] = []
        lines: list[str] = []  # of code under way
        for element in parent if depth < _MAX_DEPTH else ():
            if element.tag == f"{_TEXT}p" and element.get(f"{_TEXT}style-name") in self._code:
                lines.append(self._inline(element))
                continue
            if lines:
                pieces.append(f"<pre>{chr(10).join(lines)}</pre>")
                lines = []
            pieces.append(self._block(element, depth + 1))
        if lines:
            pieces.append(f"<pre>{chr(10).join(lines)}</pre>")
        return "".join(pieces)

    def _block(self, element: Element, depth: int) -> str:
        if element.tag in _UNREAD or not isinstance(element.tag, str):
            return ""
        if element.tag == f"{_TEXT}p":
            tag = "h1" if element.get(f"{_TEXT}style-name") == "Title" else "p"
            return f"<{tag}>{self._inline(element)}</{tag}>"
        if element.tag == f"{_TEXT}h":
            level = element.get(f"{_TEXT}outline-level") or "1"
            level = str(min(int(level), 6)) if level.isdecimal() and level != "0" else "1"
            return f"<h{level}>{self._inline(element)}</h{level}>"
        if element.tag == f"{_TEXT}list":
            tag = "ol" if element.get(f"{_TEXT}style-name") in self._ordered else "ul"
            items = element.iterchildren(f"{_TEXT}list-item", f"{_TEXT}list-header")
            return f"<{tag}>{''.join(f'<li>{self.blocks(item, depth)}</li>' for item in items)}</{tag}>"
        if element.tag == f"{_TABLE}table":
            return self._table(element, depth)
        return self.blocks(element, depth)  # sections, indexes, frames

    def _table(self, table: Element, depth: int) -> str:
        rows = []
        for number, row in enumerate(table.iter(f"{_TABLE}table-row")):
            if next(row.iterancestors(f"{_TABLE}table")) is not table:
                continue
            tag = "td" if number else "th"
            cells = []
            for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                repeated = cell.get(f"{_TABLE}number-columns-repeated") or "1"
                inner = self.blocks(cell, depth)
                count = min(int(repeated), _MAX_REPEATED) if repeated.isdecimal() and inner else 1
                cells.append(f"<{tag}>{inner}</{tag}>" * count)
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f"<table>{''.join(rows)}</table>" if rows else ""

    def _inline(self, element: Element, depth: int = 0) -> str:
        pieces = [escape(element.text or "")]
        for child in element if depth < _MAX_DEPTH else ():
            pieces.append(self._inner(child, depth + 1))
            pieces.append(escape(child.tail or ""))
        return "".join(pieces)

    def _inner(self, child: Element, depth: int) -> str:
        if child.tag in _UNREAD or not isinstance(child.tag, str):
            return ""
        if child.tag == f"{_TEXT}s":
            count = child.get(f"{_TEXT}c") or "1"
            return " " * (min(int(count), _MAX_REPEATED) if count.isdecimal() else 1)
        if child.tag == f"{_TEXT}tab":
            return "\t"
        if child.tag == f"{_TEXT}line-break":
            return "<br>"
        if child.tag == f"{_TEXT}note":
            return f" ({' '.join(self._inline(each, depth) for each in child.iter(f'{_TEXT}p'))})"
        text = self._inline(child, depth)
        if child.tag == f"{_TEXT}a" and (target := child.get(_LINK) or "").startswith("http"):
            return f'<a href="{escape(target)}">{text}</a>'
        if child.tag == f"{_TEXT}p":  # of a frame
            return f" {text} "
        return text
