"""Presentations to HTML: a heading for each slide, its text, lists, tables and notes."""

from __future__ import annotations

from html import escape

from lxml.etree import _Element as Element

from webrag_core.conversion.office.package import Package, html_page, table_html

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLES = frozenset({"title", "ctrTitle"})
_UNREAD = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
_MAX_LEVEL = 8


def pptx_html(package: Package) -> bytes:
    """Convert a presentation; hidden slides and pictures are left out. Raises FetchError."""
    name = "ppt/presentation.xml"
    targets = package.targets(name)
    slides = [targets.get(each.get(f"{_R}id") or "", "") for each in package.xml(name).iter(f"{_P}sldId")]
    return html_page("".join(_slide(package, slide) for slide in slides if slide in package), package.core_properties())


def _slide(package: Package, name: str) -> str:
    root = package.xml(name)
    if root.get("show") == "0":
        return ""
    targets = package.targets(name)
    html = _shapes(root, targets, listed=True)
    notes = next((part for part in targets.values() if part.startswith("ppt/notesSlides/") and part in package), None)
    if notes is not None and (text := _shapes(package.xml(notes), package.targets(notes), listed=False)):
        html += f"<blockquote>{text}</blockquote>"
    return html


def _shapes(root: Element, targets: dict[str, str], *, listed: bool) -> str:
    pieces = []
    for shape in root.iter(f"{_P}sp", f"{_P}graphicFrame"):
        if shape.tag == f"{_P}graphicFrame":
            pieces += [_table(table, targets) for table in shape.iter(f"{_A}tbl")]
            continue
        place = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
        kind = "" if place is None else place.get("type", "body")
        body = shape.find(f"{_P}txBody")
        if body is None or kind in _UNREAD:
            continue
        if kind in _TITLES:
            title = " ".join(filter(None, (_runs(p, targets) for p in body.iter(f"{_A}p"))))
            pieces.append(f"<h2>{title}</h2>" if title else "")
        else:
            pieces.append(_paragraphs(body, targets, listed=listed and kind in ("body", "obj")))
    return "".join(pieces)


def _paragraphs(body: Element, targets: dict[str, str], *, listed: bool) -> str:
    """Paragraphs; those of a body, and those with a bullet, are items of a list nested by their level."""
    pieces: list[str] = []
    depth = 0
    for paragraph in body.iter(f"{_A}p"):
        text = _runs(paragraph, targets)
        if not text:
            continue
        properties = paragraph.find(f"{_A}pPr")
        level, item = 0, listed
        if properties is not None:
            level = min(int(properties.get("lvl") or 0), _MAX_LEVEL) if (properties.get("lvl") or "0").isdigit() else 0
            if properties.find(f"{_A}buNone") is not None:
                item = False
            elif any(properties.find(f"{_A}{name}") is not None for name in ("buChar", "buAutoNum")):
                item = True
        wanted = level + 1 if item else 0
        while depth > wanted:
            pieces.append("</ul>")
            depth -= 1
        while depth < wanted:
            pieces.append("<ul>")
            depth += 1
        pieces.append(f"<li>{text}" if item else f"<p>{text}</p>")  # the list within an item belongs to it
    return "".join(pieces) + "</ul>" * depth


def _runs(paragraph: Element, targets: dict[str, str]) -> str:
    pieces = []
    for run in paragraph.iter(f"{_A}r", f"{_A}fld", f"{_A}br"):
        if run.tag == f"{_A}br":
            pieces.append("<br>")
            continue
        text = escape(run.findtext(f"{_A}t") or "")
        link = run.find(f"{_A}rPr/{_A}hlinkClick")
        target = targets.get(link.get(f"{_R}id") or "", "") if link is not None else ""
        pieces.append(f'<a href="{escape(target)}">{text}</a>' if target.startswith("http") and text else text)
    return "".join(pieces).strip()


def _table(table: Element, targets: dict[str, str]) -> str:
    rows = []
    for row in table.iter(f"{_A}tr"):
        cells = row.findall(f"{_A}tc")
        rows.append(["<br>".join(filter(None, (_runs(p, targets) for p in cell.iter(f"{_A}p")))) for cell in cells])
    return table_html(rows)
