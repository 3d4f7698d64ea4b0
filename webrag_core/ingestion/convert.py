"""A fetched page as Markdown, by its media type. Pure and picklable: it can run in a worker process."""

from __future__ import annotations

import re

from webrag_core.errors import FetchError, Reason
from webrag_core.ingestion.acquirer import AcquiredPage
from webrag_core.ingestion.charset import decode_page
from webrag_core.ingestion.html import ConvertedPage, convert_html
from webrag_core.ingestion.links import storable

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_MIN_WORDS = 3


def convert_page(page: AcquiredPage) -> ConvertedPage:
    """Markdown of a page. Plain text and Markdown answers are their own Markdown.

    Raises FetchError: EMPTY_PAGE for fewer than three words (nothing that could be evidence), and what the
    conversion of its type raises.
    """
    charset = _CHARSET.search(page.headers.get("content-type", ""))
    encoding = charset.group(1) if charset else None
    if page.media_type == "application/pdf":
        from webrag_core.ingestion.pdf import convert_pdf  # loads a library of several megabytes

        converted = convert_pdf(page.body)
    elif page.media_type.startswith("text/") and page.media_type != "text/html":
        converted = _plain(page, encoding)
    else:
        converted = convert_html(page.body, url=page.final_url, charset=encoding)
    if len(re.findall(r"\w+", converted.markdown)) < _MIN_WORDS:
        raise FetchError(Reason.EMPTY_PAGE, f"{page.final_url} has no content to speak of")
    return converted


def _plain(page: AcquiredPage, charset: str | None) -> ConvertedPage:
    return ConvertedPage(storable(decode_page(page.body, charset)), None, None, None, None, None, ())
