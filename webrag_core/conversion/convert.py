"""Convert a fetched page to Markdown by its media type. Pure: it runs in a worker process."""

from __future__ import annotations

import re
from dataclasses import replace

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.charset import charset_warning, decode_page
from webrag_core.acquisition.refreshes import refresh_of
from webrag_core.conversion.canonical import named_url
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.html import convert_html
from webrag_core.conversion.markup.models import PageMarkup
from webrag_core.conversion.markup.relations import header_relations
from webrag_core.conversion.metadata import headers_say_nofollow
from webrag_core.conversion.missing_extra import require_for_page
from webrag_core.conversion.plain_text.document import text_as_html
from webrag_core.conversion.script_pages import WAY_OUT, is_sparse, with_hidden_text
from webrag_core.conversion.soft_404 import needs_script, says_not_found
from webrag_core.conversion.walls import find_wall
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.extras import PDF
from webrag_core.plugins import FORMATS
from webrag_core.store.text import storable

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_MIN_WORDS = 3


def convert_page(page: AcquiredPage) -> ConvertedPage:
    """Convert a page. Markdown is taken as it is, and so is plain text that is no prose; other formats than HTML and
    PDF are read by the plugin that is named as their media type.

    Raises FetchError: EMPTY_PAGE for fewer than three words, NEEDS_SCRIPT for a shell that only a script fills,
    SOFT_404 for a page that says it does not exist, WALL and NOTICE for what stands before or in place of the page,
    HTTP_STATUS for any other answer whose status is an error, and what the conversion of its type raises.
    """
    leads = refresh_of(page.final_url, page.headers, page.body, page.charset) if page.media_type in _HTML else None
    try:
        converted = _converted(page)
    except FetchError as error:
        if error.reason in (Reason.EMPTY_PAGE, Reason.NEEDS_SCRIPT) and page.media_type in _HTML:
            _refuse_wall(page, None)
        if error.reason in (Reason.WALL, Reason.NOTICE):
            raise
        if page.status >= 400:
            raise _refused_status(page) from error
        if leads is None or error.reason not in (Reason.EMPTY_PAGE, Reason.NEEDS_SCRIPT):
            raise
        raise FetchError(error.reason, f"{error.message}; it leads to {leads.url}", status=error.status) from error
    if page.status >= 400:
        raise _refused_status(page)
    if leads is None:
        return converted
    warning = f"the page leads to {leads.url} after {leads.seconds:.0f} seconds"
    return replace(converted, warnings=(*converted.warnings, warning))


def _converted(page: AcquiredPage) -> ConvertedPage:
    encoding = page.charset
    relations = header_relations(page.headers, page.final_url)
    markup = PageMarkup(relations=relations)
    is_file = page.media_type == "application/pdf"
    if is_file:
        require_for_page(PDF, "a PDF")
        from webrag_core.conversion.pdf import convert_pdf  # loads a library of several megabytes

        converted = convert_pdf(page.body)
        markup = replace(markup, anchors=converted.markup.anchors)  # where its pages begin
        converted = replace(converted, canonical=named_url(relations), markup=markup)
    elif is_file := page.media_type in FORMATS:
        html = _html_by_plugin(page)
        converted = convert_html(html, url=page.final_url, charset="utf-8", relations=relations, is_document=True)
    elif page.media_type.startswith("text/") and page.media_type != "text/html":
        converted = _plain(page, encoding, relations)
    else:
        converted = _markup(page, encoding, relations)
    if not is_file:
        _refuse_placeholder(page, converted)
    if len(re.findall(r"\w+", converted.markdown)) < _MIN_WORDS:
        raise FetchError(Reason.EMPTY_PAGE, f"{page.final_url} has fewer than three words")
    if is_file:
        return converted
    if needs_script(converted):
        raise FetchError(Reason.NEEDS_SCRIPT, WAY_OUT)
    if (warning := charset_warning(page.body, encoding)) is not None:
        converted = replace(converted, warnings=(*converted.warnings, warning))
    return converted


def _html_by_plugin(page: AcquiredPage) -> bytes:
    """What the plugin of the page's format makes of it. Raises FetchError, PARSE_FAILURE for a plugin that fails."""
    try:
        plugin = FORMATS.find(page.media_type)
        html = plugin.make(page)
        if not isinstance(html, bytes):
            raise plugin.broken("gives no HTML as bytes")
    except InvalidInputError as error:
        raise FetchError(Reason.PARSE_FAILURE, error.message) from error
    return html


def _refuse_placeholder(page: AcquiredPage, converted: ConvertedPage) -> None:
    """Raise FetchError for a soft 404, a wall or a notice."""
    if says_not_found(converted):
        raise FetchError(Reason.SOFT_404, f"{page.final_url} says that the page does not exist", status=page.status)
    _refuse_wall(page, converted)


def _refuse_wall(page: AcquiredPage, converted: ConvertedPage | None) -> None:
    """Raise FetchError, WALL or NOTICE, for what stands before or in place of the page."""
    result = find_wall(page, converted)
    if result is not None:
        message = f"{page.final_url} answers with {result.kind} in place of the page: known by {result.seen}"
        raise FetchError(result.reason, message, status=page.status)


def _refused_status(page: AcquiredPage) -> FetchError:
    return FetchError(Reason.HTTP_STATUS, f"the server answered with status {page.status}", status=page.status)


def _markup(page: AcquiredPage, encoding: str | None, relations: tuple[tuple[str, str], ...]) -> ConvertedPage:
    """Convert HTML, with the text that only scripts show where there is hardly any other."""
    nofollow = headers_say_nofollow(page.headers)

    def convert(body: bytes, charset: str | None) -> ConvertedPage:
        return convert_html(
            body, url=page.final_url, charset=charset, relations=relations, nofollow=nofollow, all_text=page.all_text
        )

    sparse = None
    try:
        sparse = convert(page.body, encoding)
    except FetchError as error:
        if error.reason is not Reason.EMPTY_PAGE:
            raise
    if sparse is not None and (not is_sparse(sparse, page.body) or says_not_found(sparse)):
        return sparse
    return with_hidden_text(page.body, encoding, sparse, convert)


def _plain(page: AcquiredPage, charset: str | None, relations: tuple[tuple[str, str], ...]) -> ConvertedPage:
    """Convert a text file: prose that is laid out with blanks becomes Markdown, everything else stays as it is."""
    text = decode_page(page.body, charset)
    html = text_as_html(text) if page.media_type == "text/plain" else None
    if html is not None:
        converted = convert_html(html, url=page.final_url, charset="utf-8", relations=relations, is_document=True)
        return replace(converted, title=_first_heading(converted.markdown))
    markup = PageMarkup(relations=relations)
    return ConvertedPage(
        storable(text), None, None, None, None, None, (), canonical=named_url(relations), markup=markup
    )


def _first_heading(markdown: str) -> str | None:
    """The heading of the first level that a text begins with, its title."""
    first = markdown.split("\n", 1)[0]
    return first.removeprefix("# ") if first.startswith("# ") else None
