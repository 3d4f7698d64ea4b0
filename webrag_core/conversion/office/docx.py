"""Word documents to HTML, by mammoth."""

from __future__ import annotations

import io
from typing import Any
from xml.parsers.expat import ExpatError

import mammoth

from webrag_core.conversion.office.hidden_runs import without_hidden_runs
from webrag_core.conversion.office.package import Package, damaged, html_page

MAX_XML_BYTES = 6_000_000
"""Of one part: mammoth needs 1.5 CPU-seconds and 50 MB for a megabyte."""


_CODE = ("Source Code", "HTML Preformatted", "Preformatted Text", "Code", "Plain Text")
_QUOTES = ("Quote", "Intense Quote", "Block Text")
_STYLES = "\n".join(
    [
        "p[style-name='Title'] => h1:fresh",
        *(f"p[style-name='{name}'] => pre:separator('\\n')" for name in _CODE),
        *(f"p[style-name='{name}'] => blockquote > p:fresh" for name in _QUOTES),
        *(f"r[style-name='{name}'] => code" for name in ("Verbatim Char", "HTML Code", "Source Text")),
    ]
)


def docx_html(body: bytes, package: Package) -> bytes:
    """Convert a document. Deleted and hidden text, comments, formulas, images and macros are left out.

    Raises FetchError.
    """
    if "word/document.xml" not in package:
        raise damaged("it has no word/document.xml")
    package.checked(r".*\.(?:xml|rels)", MAX_XML_BYTES)
    try:
        result = mammoth.convert_to_html(
            io.BytesIO(without_hidden_runs(body, package)),
            style_map=_STYLES,
            include_embedded_style_map=False,
            convert_image=_nothing,
            external_file_access=False,
        )
    except (ExpatError, KeyError, ValueError, AttributeError, TypeError, LookupError, OSError, EOFError) as error:
        raise damaged("its parts do not fit together") from error
    return html_page(result.value, package.core_properties())


def _nothing(_: Any) -> list[Any]:
    return []
