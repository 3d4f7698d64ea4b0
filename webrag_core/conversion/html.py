"""HTML to Markdown in one pass: metadata, links, main content, then conversion.

The Markdown is the immutable text that all offsets refer to, so the pre-pass puts into it what a plain converter
would lose: absolute links, code languages, definition lists, TeX; and takes out what is no content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import html_to_markdown
import lxml.html
from html_to_markdown import _html_to_markdown as converter  # its public face builds the options anew for each call
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.acquisition.charset import decode_page
from webrag_core.acquisition.urls import canonicalise
from webrag_core.conversion.anchors import AnchorMarks, mark_headings
from webrag_core.conversion.aria_roles import apply_roles
from webrag_core.conversion.canonical import named_url
from webrag_core.conversion.code_blocks import flatten_inline_code, mark_code, shape_code
from webrag_core.conversion.converted_page import ConvertedPage, LeftOut, PageLink
from webrag_core.conversion.decimals import join_decimals
from webrag_core.conversion.definition_lists import (
    Placeholders,
    may_hold_marks,
    replace_definition_lists,
    strip_placeholder_marks,
)
from webrag_core.conversion.frames import link_frames, without_framesets
from webrag_core.conversion.heading_links import drop_heading_links
from webrag_core.conversion.images import resolve_images
from webrag_core.conversion.left_out import TextLedger
from webrag_core.conversion.links import absolute, clean_anchors, extract_links
from webrag_core.conversion.list_numbers import preserve_numbers
from webrag_core.conversion.main_content import body_of, main_content, shown_text
from webrag_core.conversion.markup.attributes import take_attributes
from webrag_core.conversion.markup.builder import MarkupBuilder
from webrag_core.conversion.markup.json_ld import read_scripts, take_json_ld
from webrag_core.conversion.markup.models import PageMarkup
from webrag_core.conversion.markup.relations import page_relations
from webrag_core.conversion.math import mark_raw_tex, protect_math, shows_raw_tex
from webrag_core.conversion.metadata import Metadata, page_says_nofollow, read_metadata
from webrag_core.conversion.nested_lists import nest_lists
from webrag_core.conversion.plain_text.preformatted import unfold_prose
from webrag_core.conversion.shadow_roots import show_shadow_roots
from webrag_core.conversion.superscripts import bracket_footnotes, lower_indices, raise_exponents
from webrag_core.conversion.tables import add_missing_headers, drop_false_spans, flatten_tables, unwrap_layout_tables
from webrag_core.conversion.unknown_elements import lay_out_unknown_elements
from webrag_core.conversion.whitespace import fold_space
from webrag_core.errors import FetchError, Reason
from webrag_core.store.text import storable

# what HTML allows nowhere, raw or as a reference: the parser gives up at many, and links at one
_LONG_TAG = re.compile(r"<[a-zA-Z][^<>]{20000,}>")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_MAX_ATTRIBUTES = 2_000
_CONTROLS = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
_NAMED_CONTROLS = re.compile(
    r"&#(?:0*(?:[1-8]|1[124-9]|2[0-9]|3[01]|127|6553[45])(?![0-9])"
    r"|[xX]0*(?:[1-8b-cB-Ce-fE-F]|1[0-9a-fA-F]|7[fF]|[fF]{3}[eEfF])(?![0-9a-fA-F]));?"
)
_CLOSED_BREAK = re.compile(r"(?:<br\s*/?>)?</br\s*>", re.IGNORECASE)  # a browser takes </br> for <br>
_ADDRESSES = (
    ("src", ("img", "video", "audio", "source", "embed", "track")),
    ("cite", ("blockquote", "q", "ins", "del")),
)
_OPTIONS = converter.ConversionOptions(
    extract_metadata=False,
    autolinks=False,
    compact_tables=True,
    # its own idea of boilerplate goes by class name and takes code of side notes with it; ours is below
    preprocessing=converter.PreprocessingOptions(enabled=False),
)
_KEPT_ELEMENTS = 20_000
_MAX_DEPTH = 500  # the converter gives up, without a word, at about twice this depth


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A page whose main content is ready to be converted: `html`, with its placeholders and its marked ids."""

    html: str
    placeholders: Placeholders
    marks: AnchorMarks
    markup: PageMarkup
    metadata: Metadata
    links: tuple[PageLink, ...]
    canonical: str | None
    left_out: LeftOut
    warning: str | None


def convert_html(
    body: bytes,
    *,
    url: str,
    charset: str | None = None,
    relations: tuple[tuple[str, str], ...] = (),
    nofollow: bool = False,
    is_document: bool = False,
    all_text: bool = False,
) -> ConvertedPage:
    """Convert one HTML page whose canonical URL is `url`.

    `charset`, `relations` and `nofollow` come from the HTTP headers; the page may add to them. `is_document`: it was
    made of a document, so that there is nothing around the content. `all_text` keeps everything that the page shows.

    Raises FetchError: EMPTY_PAGE when nothing readable is left, PARSE_FAILURE for what cannot be parsed as HTML.
    """
    prepared = _prepare(
        body, url, charset, relations, nofollow, is_document, all_text
    )  # its tree is gone: it is larger than all the rest
    metadata = prepared.metadata
    marked = storable(prepared.placeholders.convert_html(prepared.html)).strip()
    markdown, anchors = prepared.marks.taken_from(marked)
    if not any(character.isalnum() for character in markdown):
        raise FetchError(Reason.EMPTY_PAGE, "the page has no readable text")
    return ConvertedPage(
        markdown=markdown + "\n",
        title=metadata.title,
        description=metadata.description,
        language=metadata.language,
        published=metadata.published,
        modified=metadata.modified,
        links=prepared.links,
        canonical=prepared.canonical,
        markup=replace(prepared.markup, anchors=anchors, cut=(*prepared.markup.cut, *prepared.marks.cut)),
        warnings=() if prepared.warning is None else (prepared.warning,),
        left_out=prepared.left_out,
    )


def _prepare(
    body: bytes,
    url: str,
    charset: str | None,
    from_header: tuple[tuple[str, str], ...],
    nofollow: bool,
    is_document: bool,
    all_text: bool,
) -> _Prepared:
    text = page_text(body, charset)
    document = _tree(text)
    read = list(islice(document.iter(), _KEPT_ELEMENTS))  # while they live, no pass over the tree makes them anew
    _refuse_too_deep(document)
    base_url = _base_url(document, url)
    scripts = read_scripts(document)
    metadata = read_metadata(document, [value for _, value in scripts])
    markup = _read_markup(document, scripts, base_url, from_header)
    link_frames(document, base_url, url)
    show_shadow_roots(document)
    root = body_of(document)
    canonical = named_url(markup.relations)
    lay_out_unknown_elements(root, text)
    apply_roles(root)
    drop_heading_links(root)
    nest_lists(root)
    links = tuple(extract_links(root, base_url, url))
    if nofollow or page_says_nofollow(document):
        links = tuple(replace(link, nofollow=True) for link in links)
    shape_code(root, text)
    raw_tex = shows_raw_tex(document)
    ledger = TextLedger(root)
    main = root
    if is_document:
        ledger.marked()
    elif all_text:
        main = shown_text(root)
        ledger.marked()
    else:
        main = main_content(root, article=metadata.article, ledger=ledger)
    left_out, warning = ledger.left_out(main)
    _clean(main, base_url, url)
    if may_hold_marks(text):
        strip_placeholder_marks(main)
    placeholders = Placeholders(_convert)
    unwrap_layout_tables(main)
    drop_false_spans(main)
    flatten_tables(main)
    add_missing_headers(main)
    unfold_prose(main)
    mark_code(main)
    flatten_inline_code(main)
    bracket_footnotes(main)
    join_decimals(main, metadata.language)
    raise_exponents(main, metadata.language)
    lower_indices(main)
    preserve_numbers(main)
    if raw_tex:
        mark_raw_tex(main)
    protect_math(main, placeholders)
    marks = mark_headings(main)
    replace_definition_lists(main, placeholders, marks)
    read.clear()
    return _Prepared(
        placeholders.html(main), placeholders, marks, markup, metadata, links, canonical, left_out, warning
    )


def _read_markup(
    document: HtmlElement, scripts: list[tuple[int, Any]], base_url: str, from_header: tuple[tuple[str, str], ...]
) -> PageMarkup:
    builder = MarkupBuilder(base_url)
    take_json_ld(scripts, builder)
    take_attributes(document, builder)
    return PageMarkup(builder.nodes(), page_relations(document, base_url, from_header), cut=builder.cut())


def _without_attribute_flood(tag: re.Match[str]) -> str:
    """Drop the attributes of a tag with thousands: the parser is quadratic in them."""
    if len(_QUOTED.sub("", tag[0]).split(None, _MAX_ATTRIBUTES + 1)) <= _MAX_ATTRIBUTES:
        return tag[0]
    return re.split(r"[\s/>]", tag[0], maxsplit=1)[0] + ">"


def page_text(body: bytes, charset: str | None) -> str:
    """The text of a page without what HTML allows nowhere and what parsers are quadratic in."""
    # NUL is no character of HTML; the declaration of XHTML names a charset that no longer applies
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", decode_page(body, charset).replace("\x00", "\ufffd"))
    text = _CONTROLS.sub("", text.replace("\x0c", " ").replace("\r\n", "\n").replace("\r", "\n"))
    text = _LONG_TAG.sub(_without_attribute_flood, text)
    text = without_framesets(text)
    if "</br" in text or "</BR" in text or "</Br" in text:
        text = _CLOSED_BREAK.sub("<br>", text)
    return _NAMED_CONTROLS.sub("", text)


def parse_html(body: bytes, charset: str | None) -> HtmlElement:
    """Parse a page, whatever its mark-up. `charset` is what the HTTP headers say.

    Raises FetchError: EMPTY_PAGE for nothing but comments, PARSE_FAILURE for what is no HTML or nested too deeply.
    """
    document = _tree(page_text(body, charset))
    _refuse_too_deep(document)
    return document


def _tree(text: str) -> HtmlElement:
    # without huge_tree the parser drops whatever follows a text of 10 MB or the 256th level
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return lxml.html.document_fromstring(text.encode(), parser=parser)
    except etree.ParserError as error:  # nothing at all, or only comments
        raise FetchError(Reason.EMPTY_PAGE, "the page is empty") from error
    except (etree.XMLSyntaxError, ValueError) as error:
        if getattr(error, "code", None) == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        raise FetchError(Reason.PARSE_FAILURE, "the page could not be parsed as HTML") from error


def _refuse_too_deep(document: HtmlElement) -> None:
    depth = 0
    for event, _ in etree.iterwalk(document, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _MAX_DEPTH:
            raise FetchError(Reason.PARSE_FAILURE, f"the page is nested more than {_MAX_DEPTH} levels deep")


def _base_url(document: HtmlElement, url: str) -> str:
    """Return the base of relative links: the first <base href> when it is usable, else the page itself.

    Removes the elements: lxml applies any, unusable ones too.
    """
    first = next((element.get("href") or "" for element in document.iter("base") if "href" in element.attrib), None)
    etree.strip_tags(document, "base")
    try:
        return url if first is None else canonicalise(first, url)
    except FetchError:
        return url


def _clean(main: HtmlElement, base_url: str, page_url: str) -> None:
    resolve_images(main)
    clean_anchors(main, base_url, page_url)
    for name, elements in _ADDRESSES:
        for element in main.iter(*elements):
            if written := element.get(name):
                element.set(name, absolute(written, base_url) or written)
    for element in main.iter("aside", "header", "footer", "form"):
        element.tag = "div"  # within the content they are content; the converter would drop them
    for quote in list(main.iter("blockquote")):
        if _only_indents(quote):
            quote.tag = "div"


def _only_indents(quote: HtmlElement) -> bool:
    """Whether a quote serves layout: it wraps one box, as docutils does, or holds nothing but code and tables."""
    if (quote.text or "").strip():
        return False
    if [child.tag for child in quote] == ["div"]:
        return True
    children = [child for child in quote if isinstance(child.tag, str)]
    return bool(children) and all(
        not (child.tail or "").strip() and (child.tag in ("pre", "table") or _only_indents(child)) for child in children
    )


def _convert(html: str) -> str:
    try:
        return converter.convert(fold_space(html), _OPTIONS).content or ""
    except (html_to_markdown.ConversionError, html_to_markdown.PanicError) as error:
        raise FetchError(Reason.PARSE_FAILURE, "the page could not be converted to Markdown") from error
