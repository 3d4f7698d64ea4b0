"""Choose the reader of an office file."""

from __future__ import annotations

from webrag_core.acquisition.office_types import DECLARED, DOCX, EPUB, PPTX, XLSX, office_type
from webrag_core.conversion.missing_extra import require_for_page
from webrag_core.conversion.office.package import Package, damaged
from webrag_core.extras import OFFICE


def office_html(body: bytes, media_type: str) -> bytes:
    """HTML of an office file, in UTF-8, whose head states its properties. Its content decides what it is.

    Raises FetchError: UNSUPPORTED_TYPE for a password, a locked book or an older format, PARSE_FAILURE for a damaged
    file and one that declares entities, TOO_LARGE for one that unpacks to more than its limits.
    """
    package = Package(body)
    kind = office_type(body) or DECLARED.get(media_type)
    if kind == DOCX:
        require_for_page(OFFICE, "a Word document")
        from webrag_core.conversion.office.docx import docx_html

        return docx_html(body, package)
    if kind == PPTX:
        from webrag_core.conversion.office.pptx import pptx_html

        return pptx_html(package)
    if kind == XLSX:
        from webrag_core.conversion.office.xlsx import xlsx_html

        return xlsx_html(package)
    if kind == EPUB:
        from webrag_core.conversion.office.epub import epub_html

        return epub_html(package)
    if kind is None:
        raise damaged("it is no office file")
    from webrag_core.conversion.office.odt import odt_html

    return odt_html(package)
