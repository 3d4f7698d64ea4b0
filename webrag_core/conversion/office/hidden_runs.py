"""Take runs of hidden text (`w:vanish`) out of a Word document: nobody sees them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element as Element

from webrag_core.conversion.office.package import Package

_PARTS = r"word/(?:document|footnotes|endnotes)\.xml"
_OFF = ("0", "false", "off")


def without_hidden_runs(body: bytes, package: Package) -> bytes:
    """The document without them; the same bytes where it has none. Raises FetchError for parts that cannot be read."""
    styles = package.read("word/styles.xml") if "word/styles.xml" in package else b""
    hidden = set(_hidden_styles(package)) if b"vanish" in styles else set()
    changed: dict[str, bytes] = {}
    for name in package.names(_PARTS):
        part = package.read(name)
        if b"vanish" in part or hidden:
            root = package.xml(name)
            runs = [run for run in root.iter("{*}r") if _is_hidden(run, hidden)]
            for run in runs:
                _take_out(run)
            if runs:
                changed[name] = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return _replaced(body, changed) if changed else body


def _hidden_styles(package: Package) -> Iterator[str]:
    """The ids of styles of characters and paragraphs whose text is hidden."""
    for style in package.xml("word/styles.xml").iter("{*}style"):
        properties = style.find("{*}rPr")
        if properties is not None and _vanishes(properties):
            yield _attribute(style, "styleId")


def _is_hidden(run: Element, hidden: set[str]) -> bool:
    properties = run.find("{*}rPr")
    if properties is not None:
        if (vanish := properties.find("{*}vanish")) is not None:
            return _attribute(vanish, "val").lower() not in _OFF
        named = properties.find("{*}rStyle")
        if named is not None and _attribute(named, "val") in hidden:
            return True
    if not hidden:
        return False
    above = next(run.iterancestors("{*}p"), None)
    style = None if above is None else above.find("{*}pPr/{*}pStyle")
    return style is not None and _attribute(style, "val") in hidden


def _vanishes(properties: Element) -> bool:
    mark = properties.find("{*}vanish")
    return mark is not None and _attribute(mark, "val").lower() not in _OFF


def _attribute(element: Element, name: str) -> str:
    """Of any namespace; "" without it."""
    return next((str(value) for key, value in element.attrib.items() if str(key).rpartition("}")[2] == name), "")


def _take_out(run: Element) -> None:
    """All of a run but the marks of fields, whose pairs must stay."""
    for child in list(run):
        if isinstance(child.tag, str) and child.tag.rpartition("}")[2] not in ("fldChar", "instrText"):
            run.remove(child)


def _replaced(body: bytes, parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as copy:
        for member in source.infolist():
            if (part := parts.get(member.filename)) is not None:
                copy.writestr(member.filename, part)
            elif member.filename.startswith("word/media/"):
                copy.writestr(member.filename, b"")  # images are left out
            else:
                copy.writestr(member.filename, source.read(member))
    return target.getvalue()
