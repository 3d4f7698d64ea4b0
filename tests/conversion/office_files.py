"""Office files written by hand: as few parts as their readers need."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape

_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
R = f'xmlns:r="{_OFFICE}"'
CORE = (
    '<c:coreProperties xmlns:c="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>A title</dc:title>"
    "<dc:language>en</dc:language><dcterms:created>2024-03-05T10:00:00Z</dcterms:created></c:coreProperties>"
)


def zipped(parts: Mapping[str, str | bytes], *, packed: bool = True) -> bytes:
    """A zip file; a part named mimetype is not packed."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as file:
        for name, content in parts.items():
            file.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return target.getvalue()


def relations(*targets: str) -> str:
    """Relationships r1, r2, …; those with a scheme are external."""
    each = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{"hyperlink" if ":" in target else "officeDocument"}"'
        f' Target="{target}"{" TargetMode=" + chr(34) + "External" + chr(34) if ":" in target else ""}/>'
        for number, target in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_RELS}">{each}</Relationships>'


def docx(body: str, **parts: str | bytes) -> bytes:
    """A document with one external relationship, r1."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="H{n}"><w:name w:val="heading {n}"/></w:style>' for n in (1, 2)
    )
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations("word/document.xml"),
            "word/_rels/document.xml.rels": relations("https://example.org/guide"),
            "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
            "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
            "docProps/core.xml": CORE,
            **parts,
        }
    )


def paragraph(text: str, style: str = "") -> str:
    """One of a document."""
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:t>{text}</w:t></w:r></w:p>"


def pptx(*slides: str, notes: str = "") -> bytes:
    """A presentation of slides, each the XML of its shapes; the first has the notes."""
    tree = f"<p:sld {A} {R}><p:cSld><p:spTree>{{}}</p:spTree></p:cSld></p:sld>"
    parts = {
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f"<p:presentation {A} {R}><p:sldIdLst>"
        + "".join(f'<p:sldId id="{n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(*(f"slides/slide{n}.xml" for n in range(1, len(slides) + 1))),
        "docProps/core.xml": CORE,
    }
    for number, shapes in enumerate(slides, start=1):
        parts[f"ppt/slides/slide{number}.xml"] = tree.format(shapes)
    if notes:
        parts["ppt/slides/_rels/slide1.xml.rels"] = relations("../notesSlides/notesSlide1.xml", "https://example.org/x")
        parts["ppt/notesSlides/notesSlide1.xml"] = tree.format(shape(notes, "body"))
    return zipped(parts)


def shape(text: str, kind: str = "", level: int = 0) -> str:
    """A shape of one paragraph; of several where lines are broken."""
    place = f'<p:ph type="{kind}"/>' if kind else ""
    lines = "".join(
        f'<a:p><a:pPr lvl="{line.count(chr(9))}"/><a:r><a:t>{line.strip()}</a:t></a:r></a:p>'
        for line in text.split("\n")
    )
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"


def xlsx(
    sheet: str, *, strings: str = "", extra: str = "", state: str = "visible", formats: Sequence[str] = ()
) -> bytes:
    """A workbook of one sheet, given as its rows; `extra` follows them. Style 1 is a date, 2 a percentage, from 3 on
    come `formats`."""
    codes = "".join(
        f'<numFmt numFmtId="{number}" formatCode="{escape(code)}"/>' for number, code in enumerate(formats, 165)
    )
    styles = "".join(f'<xf numFmtId="{number}"/>' for number in range(165, 165 + len(formats)))
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": f'<workbook {S} {R}><sheets><sheet name="Prices" state="{state}" r:id="r1"/></sheets>'
            "</workbook>",
            "xl/_rels/workbook.xml.rels": relations("worksheets/sheet1.xml"),
            "xl/worksheets/_rels/sheet1.xml.rels": relations("https://example.org/kettle"),
            "xl/worksheets/sheet1.xml": f"<worksheet {S} {R}><sheetData>{sheet}</sheetData>{extra}</worksheet>",
            "xl/sharedStrings.xml": f"<sst {S}>{strings}</sst>",
            "xl/styles.xml": f"<styleSheet {S}><numFmts>"
            f'<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>{codes}</numFmts><cellXfs>'
            f'<xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/>{styles}</cellXfs></styleSheet>',
            "docProps/core.xml": CORE,
        }
    )


def odt(text: str, manifest: str = "<manifest/>") -> bytes:
    """An OpenDocument text."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
    )
    content = (
        f'<office:document-content {spaces} xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<office:body><office:text>{text}</office:text></office:body></office:document-content>"
    )
    mimetype = "application/vnd.oasis.opendocument.text"
    return zipped({"mimetype": mimetype, "META-INF/manifest.xml": manifest, "content.xml": content})


def epub(*chapters: str, **parts: str) -> bytes:
    """A book of chapters, each the content of its body."""
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    items = "".join(
        f'<item id="c{n}" href="text/c%20{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"'
            ' xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>A book</dc:title>'
            "<dc:language>de</dc:language><dc:date>2024-03-05</dc:date></metadata><manifest>"
            f'{items}<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/></manifest>'
            f'<spine><itemref idref="nav"/>{order}</spine></package>',
            "OPS/nav.xhtml": "<html><body>Contents</body></html>",
            **{
                f"OPS/text/c {n}.xhtml": f'<?xml version="1.0"?><!DOCTYPE html><html><body>{chapter}</body></html>'
                for n, chapter in enumerate(chapters)
            },
            **parts,
        }
    )
