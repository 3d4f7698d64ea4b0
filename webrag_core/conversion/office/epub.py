"""EPUB books to HTML: their chapters in reading order."""

from __future__ import annotations

import posixpath

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.conversion.office.package import Package, damaged, dublin_core, html_page, parse_xml, resolved
from webrag_core.errors import FetchError, Reason

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_MARKUP = frozenset({"application/xhtml+xml", "text/html"})
_REFERENCES = "{http://www.w3.org/2001/04/xmlenc#}CipherReference"


def epub_html(package: Package) -> bytes:
    """Convert a book; its navigation, images and scripts are left out. Raises FetchError."""
    container = parse_xml(package.read("META-INF/container.xml"), declarations=True)
    opf = next((each.get("full-path") or "" for each in container.iter(f"{_CONTAINER}rootfile")), "")
    book = parse_xml(package.read(opf), declarations=True)
    folder = posixpath.dirname(opf)
    parts = {
        each.get("id"): resolved(folder, each.get("href") or "")
        for each in book.iter(f"{_OPF}item")
        if each.get("media-type") in _MARKUP and "nav" not in (each.get("properties") or "").split()
    }
    spine = [
        part
        for each in book.iter(f"{_OPF}itemref")
        if each.get("linear") != "no" and (part := parts.get(each.get("idref"))) is not None and part in package
    ]
    _refuse_locked(package, spine)
    properties = dublin_core(book)
    for meta in book.iter(f"{_OPF}meta"):
        if meta.get("property") == "dcterms:modified" and meta.text:
            properties["modified"] = meta.text.strip()
    return html_page("".join(map(_chapter, map(package.read, spine))), properties)


def _refuse_locked(package: Package, spine: list[str]) -> None:
    """Raise UNSUPPORTED_TYPE for a book whose chapters are encrypted; fonts often are, and do not matter."""
    name = "META-INF/encryption.xml"
    if name in package:
        root = parse_xml(package.read(name), declarations=True)
        locked = {resolved("", each.get("URI") or "") for each in root.iter(_REFERENCES)}
        if locked & set(spine):
            raise FetchError(Reason.UNSUPPORTED_TYPE, "the book is locked by digital rights management")


def _chapter(body: bytes) -> str:
    """The content of a chapter. Links within the book lead nowhere outside of it, so only their text stays."""
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        document: HtmlElement = lxml.html.document_fromstring(body.replace(b"<?xml", b"<?x", 1), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise damaged("a chapter cannot be read") from error
    root = document.find("body")
    if root is None:
        return ""
    for link in root.iter("a"):
        if not (link.get("href") or "").startswith(("http://", "https://")):
            link.attrib.pop("href", None)
    etree.strip_elements(root, "script", "style", "nav", with_tail=False)
    root.tag = "div"
    root.attrib.clear()
    return str(lxml.html.tostring(root, encoding="unicode"))
