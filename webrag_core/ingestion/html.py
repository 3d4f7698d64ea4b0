"""HTML to Markdown in one pass: metadata, links, main content, then conversion.

The Markdown is the immutable text that all offsets refer to, so the pre-pass puts into it what a plain converter
would lose: absolute links, code languages, definition lists, TeX; and takes out what is no content.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import html_to_markdown
import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.errors import FetchError, Reason
from webrag_core.ingestion.canonical import named_url
from webrag_core.ingestion.charset import decode_page
from webrag_core.ingestion.definition_lists import (
    Placeholders,
    replace_definition_lists,
    strip_placeholder_marks,
)
from webrag_core.ingestion.links import PageLink, extract_links, storable
from webrag_core.ingestion.main_content import drop, main_content
from webrag_core.ingestion.page_robots import page_says_nofollow
from webrag_core.ingestion.rewrites import (
    flatten_inline_code,
    mark_code,
    mark_raw_tex,
    protect_math,
    raise_exponents,
    shows_raw_tex,
    tell_images,
    unwrap_layout_tables,
)
from webrag_core.ingestion.urls import canonicalise

EXTRACTOR_VERSION = "html-3"

_SPACE = re.compile(r"\s+")
_OPTIONS = html_to_markdown.ConversionOptions(
    extract_metadata=False,
    autolinks=False,
    compact_tables=True,
    # its own idea of furniture goes by class name and takes code of side notes with it; ours is below
    preprocessing=html_to_markdown.PreprocessingOptions(enabled=False),
)
_MAX_DEPTH = 500  # the converter gives up, without a word, at about twice this depth


@dataclass(frozen=True, slots=True)
class ConvertedPage:
    """A page as text: Markdown and what its head says. Dates are aware or None.

    `canonical` is the canonical URL that the page names as its own, a mere claim: see `canonical.preferred_url`.
    """

    markdown: str
    title: str | None
    description: str | None
    language: str | None
    published: datetime | None
    modified: datetime | None
    links: tuple[PageLink, ...]
    canonical: str | None = None


def convert_html(
    body: bytes, *, url: str, charset: str | None = None, canonicals: Sequence[str] = (), nofollow: bool = False
) -> ConvertedPage:
    """Convert one HTML page whose canonical URL is `url`.

    `charset`, `canonicals` (absolute URLs) and `nofollow` are what the HTTP headers say; the page may say more.

    Raises FetchError(EMPTY_PAGE) when nothing readable is left, FetchError(PARSE_FAILURE) for what is no HTML.
    """
    document = _parse(body, charset)
    base_url = _take_base(document, url)
    root = document.find(".//body")
    root = document if root is None else root
    title = _title(document)
    canonical = named_url(document, base_url, canonicals)
    links = tuple(extract_links(root, base_url, url))
    if nofollow or page_says_nofollow(document):
        links = tuple(replace(link, nofollow=True) for link in links)
    raw_tex = shows_raw_tex(document)
    main = main_content(root)
    _clean(main, base_url, url)
    strip_placeholder_marks(main)
    placeholders = Placeholders(_convert)
    unwrap_layout_tables(main)
    mark_code(main)
    flatten_inline_code(main)
    raise_exponents(main)
    if raw_tex:
        mark_raw_tex(main)
    protect_math(main, placeholders)
    replace_definition_lists(main, placeholders)
    markdown = storable(placeholders.convert(main)).strip()
    if not any(character.isalnum() for character in markdown):
        raise FetchError(Reason.EMPTY_PAGE, "the page has no readable text")
    return ConvertedPage(
        markdown=markdown + "\n",
        title=title,
        description=_meta(document, "description", "og:description"),
        language=(document.get("lang") or document.get("{http://www.w3.org/XML/1998/namespace}lang") or None),
        published=_date(_meta(document, "article:published_time", "date", "dcterms.created")),
        modified=_date(_meta(document, "article:modified_time", "last-modified", "dcterms.modified")),
        links=links,
        canonical=canonical,
    )


def _parse(body: bytes, charset: str | None) -> HtmlElement:
    # NUL is no character of HTML; the declaration of XHTML names a charset that no longer applies
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", decode_page(body, charset).replace("\x00", "\ufffd"))
    # without huge_tree the parser drops whatever follows a text of 10 MB or the 256th level
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        document = lxml.html.document_fromstring(text.encode(), parser=parser)
    except etree.ParserError as error:  # nothing at all, or only comments
        raise FetchError(Reason.EMPTY_PAGE, "the page is empty") from error
    except (etree.XMLSyntaxError, ValueError) as error:
        raise FetchError(Reason.PARSE_FAILURE, "the page could not be parsed as HTML") from error
    if _is_too_deep(document):
        raise FetchError(Reason.PARSE_FAILURE, f"the page is nested more than {_MAX_DEPTH} levels deep")
    return document


def _is_too_deep(document: HtmlElement) -> bool:
    depth = 0
    for event, _ in etree.iterwalk(document, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _MAX_DEPTH:
            return True
    return False


def _take_base(document: HtmlElement, url: str) -> str:
    """What relative links refer to: the first <base href> when it is usable, else the page itself.

    The elements are taken out: lxml applies any that it finds, unusable ones too.
    """
    base = url
    for element in reversed(document.xpath(".//base[@href]")):
        try:
            base = canonicalise(element.get("href") or "", url)
        except FetchError:
            base = url
        element.drop_tag()
    return base


def _clean(main: HtmlElement, base_url: str, page_url: str) -> None:
    for element in main.xpath(".//a[contains(concat(' ', @class, ' '), ' headerlink ')]"):
        drop(element)
    for anchor in main.iter("a"):
        if (anchor.text_content() or "").strip() in {"¶", "#", "§", "\uf0c1"}:
            anchor.text = ""
            del anchor[:]
            anchor.attrib.pop("href", None)
    tell_images(main)
    main.make_links_absolute(base_url, resolve_base_href=False, handle_failures="ignore")
    for element in main.iter("aside", "header", "footer", "form"):
        element.tag = "div"  # within the content they are content; the converter would drop them
    for quote in main.iter("blockquote"):
        if [child.tag for child in quote] == ["div"] and not (quote.text or "").strip():
            quote.tag = "div"  # docutils indents with it; real quotes hold paragraphs
    for anchor in main.iter("a"):
        anchor.attrib.pop("title", None)  # a tooltip repeats the target's name and would cost tokens in every chunk
        href = anchor.get("href") or ""
        if href.split("#", 1)[0] in ("", page_url) or not href.startswith(("http:", "https:")):
            anchor.attrib.pop("href", None)  # within the page, or no page at all: the words stay


def _convert(html: str) -> str:
    try:
        return html_to_markdown.convert(html, _OPTIONS).content or ""
    except (html_to_markdown.ConversionError, html_to_markdown.PanicError) as error:
        raise FetchError(Reason.PARSE_FAILURE, "the page could not be converted to Markdown") from error


def _title(document: HtmlElement) -> str | None:
    for path in (".//title", ".//h1"):
        element = document.find(path)
        if element is not None:
            text = storable(_SPACE.sub(" ", element.text_content()).replace("¶", "").strip())
            if text:
                return text
    return _meta(document, "og:title")


def _meta(document: HtmlElement, *names: str) -> str | None:
    for element in document.iter("meta"):
        key = (element.get("name") or element.get("property") or "").lower()
        content = storable((element.get("content") or "").strip())
        if key in names and content:
            return content
    return None


def _date(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        value = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return value if value.tzinfo else value.astimezone()
