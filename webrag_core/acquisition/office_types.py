"""Office files: their media types, and how they are told from other zip files."""

from __future__ import annotations

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
OFFICE_TYPES = frozenset({DOCX, PPTX, XLSX, ODT, EPUB})

DECLARED = {
    **{each: each for each in OFFICE_TYPES},
    # with macros, which are never looked at; and templates
    "application/vnd.ms-word.document.macroenabled.12": DOCX,
    "application/vnd.ms-word.template.macroenabled.12": DOCX,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template": DOCX,
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": PPTX,
    "application/vnd.ms-powerpoint.slideshow.macroenabled.12": PPTX,
    "application/vnd.openxmlformats-officedocument.presentationml.slideshow": PPTX,
    "application/vnd.openxmlformats-officedocument.presentationml.template": PPTX,
    "application/vnd.ms-excel.sheet.macroenabled.12": XLSX,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.template": XLSX,
    "application/vnd.oasis.opendocument.text-template": ODT,
}
"""Media types as servers send them, with ours."""
SUFFIXES = {
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), DOCX),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".ppsm", ".potx"), PPTX),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx"), XLSX),
    **dict.fromkeys((".odt", ".ott"), ODT),
    ".epub": EPUB,
}
"""Endings of file names."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How files of older office programs begin, and newer ones with a password."""

_ZIP = b"PK\x03\x04"
_MIMETYPE = b"mimetype"  # the first file of OpenDocument and EPUB, not packed
_MAIN_PARTS = ((b"word/document.xml", DOCX), (b"ppt/presentation.xml", PPTX), (b"xl/workbook.xml", XLSX))


def office_type(body: bytes) -> str | None:
    """Media type of a whole file by its content; None for what is no office file. Looks at names alone: that the file
    is what it seems is for its reader to find out.
    """
    if not body.startswith(_ZIP):
        return None
    if body[30:38] == _MIMETYPE:
        stated = body[38:128]
        return next((kind for kind in (ODT, EPUB) if stated.startswith(kind.encode())), None)
    return next((kind for name, kind in _MAIN_PARTS if name in body), None)
