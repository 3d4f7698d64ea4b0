"""HTML to Markdown in one pass: metadata, links, main content, then conversion.

The Markdown is the immutable text that all offsets refer to, so the pre-pass puts into it what a plain converter
would lose: absolute links, code languages, definition lists, TeX; and takes out what is no content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urljoin

import html_to_markdown
import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from webrag_core.errors import FetchError, Reason
from webrag_core.ingestion.definition_lists import (
    Placeholders,
    replace_definition_lists,
    strip_placeholder_marks,
)
from webrag_core.ingestion.links import PageLink, extract_links, storable

EXTRACTOR_VERSION = "html-1"

_SPACE = re.compile(r"\s+")
_OPTIONS = html_to_markdown.ConversionOptions(extract_metadata=False, autolinks=False, compact_tables=True)
_DROPPED = (
    ".//script | .//style | .//noscript | .//template | .//svg | .//iframe | .//object | .//canvas"
    " | .//input | .//select | .//textarea | .//button | .//dialog | .//nav"
    " | .//*[@hidden] | .//*[@aria-hidden='true']"
    " | .//*[@role='navigation' or @role='search' or @role='banner' or @role='contentinfo']"
)
_BODY_FURNITURE = ".//header | .//footer | .//aside"
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HIGHLIGHT = re.compile(r"(?:^|\s)(?:highlight|language|lang|sourceCode)-([\w+#.]+)")
_LANGUAGES = {
    "python3": "python",
    "py3": "python",
    "pycon": "python",
    "ipython3": "python",
    "default": "python",
}
_NO_LANGUAGE = {"none", "text", "notranslate", "plaintext"}
_MIN_MAIN_WORDS = 5


@dataclass(frozen=True, slots=True)
class ConvertedPage:
    """A page as text: Markdown and what its head says. Dates are aware or None."""

    markdown: str
    title: str | None
    description: str | None
    language: str | None
    published: datetime | None
    modified: datetime | None
    links: tuple[PageLink, ...]


def convert_html(body: bytes, *, url: str, charset: str | None = None) -> ConvertedPage:
    """Convert one HTML page whose canonical URL is `url`; `charset` is that of the HTTP header.

    Raises FetchError(EMPTY_PAGE) when nothing readable is left, FetchError(PARSE_FAILURE) for what is no HTML.
    """
    document = _parse(body, charset)
    head_base = document.find(".//base[@href]")
    base_url = urljoin(url, head_base.get("href") or "") if head_base is not None else url
    root = document.find(".//body")
    root = document if root is None else root
    title = _title(document)
    links = tuple(extract_links(root, base_url, url))
    main = _main_content(root)
    _clean(main, base_url, url)
    _unwrap_layout_tables(main)
    strip_placeholder_marks(main)
    placeholders = Placeholders(_convert)
    _mark_code(main)
    _flatten_inline_code(main)
    _protect_math(main, placeholders)
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
    )


def _parse(body: bytes, charset: str | None) -> HtmlElement:
    text: bytes | str = body
    if charset:
        try:
            text = body.decode(charset, "replace")
        except LookupError:  # a charset nobody knows: let the parser look at the page itself
            text = body
    if isinstance(text, str):  # lxml refuses str with an XML declaration
        text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text.replace("\x00", "").removeprefix("\ufeff"))
    try:
        # bytes without a declared charset are UTF-8 when they can be; else the parser goes by <meta> or latin-1
        encoding = "utf-8" if isinstance(text, bytes) and _is_utf8(text) else None
        return lxml.html.document_fromstring(text, parser=lxml.html.HTMLParser(encoding=encoding))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        reason = Reason.EMPTY_PAGE if not body.strip() else Reason.PARSE_FAILURE
        raise FetchError(reason, "the page could not be parsed as HTML") from error


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _main_content(root: HtmlElement) -> HtmlElement:
    """The element that holds the content: main, role=main, a single article, else the body without furniture."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = root.xpath(path)
        if len(found) == 1 and len(found[0].text_content().split()) >= _MIN_MAIN_WORDS:
            return found[0]
    for element in root.xpath(_BODY_FURNITURE):
        _drop(element)
    return root


def _clean(main: HtmlElement, base_url: str, page_url: str) -> None:
    for element in main.xpath(_DROPPED):
        _drop(element)
    for element in main.xpath(".//*[@style]"):
        if _HIDDEN_STYLE.search(element.get("style") or ""):
            _drop(element)
    for element in main.xpath(".//a[contains(concat(' ', @class, ' '), ' headerlink ')]"):
        _drop(element)
    for anchor in main.iter("a"):
        if (anchor.text_content() or "").strip() in {"¶", "#", "§", "\uf0c1"}:
            anchor.text = ""
            del anchor[:]
            anchor.attrib.pop("href", None)
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


def _unwrap_layout_tables(main: HtmlElement) -> None:
    """A table without header cells whose cells hold lists, code or tables is layout: its cells become blocks."""
    for table in list(main.iter("table")):
        if table.find(".//th") is None and table.xpath(".//td[ul or ol or dl or pre or table or .//li]"):
            for part in (table, *table.xpath(".//tbody | .//thead | .//tfoot | .//tr | .//td | .//caption")):
                part.tag = "div"


def _drop(element: HtmlElement) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _mark_code(main: HtmlElement) -> None:
    """Make every <pre> plain text in one <code class=language-…>, its language taken from the markup around it."""
    for pre in list(main.iter("pre")):
        for number in pre.xpath(".//*[contains(concat(' ', @class, ' '), ' linenos ')]"):
            number.drop_tree()
        language = _language(pre)
        code = etree.SubElement(pre, "code")
        for line_break in list(pre.iter("br")):
            line_break.tail = "\n" + (line_break.tail or "")
        text = pre.text_content()
        del pre[:]
        pre.text = None
        pre.append(code)
        code.text = text.lstrip("\n")
        if language:
            code.set("class", f"language-{language}")


def _flatten_inline_code(main: HtmlElement) -> None:
    """Inline code is one span of text: a line end inside it would end it in Markdown."""
    for code in list(main.iter("code", "tt", "kbd", "samp")):
        if (
            all(inner.tag == "span" for inner in code.iterdescendants())
            and next(code.iterancestors("pre"), None) is None
        ):
            text = _SPACE.sub(" ", code.text_content())
            del code[:]
            code.text = text


def _language(pre: HtmlElement) -> str | None:
    places: list[HtmlElement] = [*pre.iter("code"), pre]
    for ancestor in pre.iterancestors():
        places.append(ancestor)
        if len(places) > 5:
            break
    for place in places:
        match = _HIGHLIGHT.search(place.get("class") or "")
        if match:
            name = match.group(1).lower()
            return None if name in _NO_LANGUAGE else _LANGUAGES.get(name, name)
    return None


def _protect_math(main: HtmlElement, placeholders: Placeholders) -> None:
    """TeX goes through unescaped: from MathML annotations and from Sphinx/MathJax `math` elements."""
    for annotation in main.xpath(".//*[local-name()='annotation'][contains(@encoding, 'tex')]"):
        formula = next((a for a in annotation.iterancestors() if a.tag == "math"), None)
        if formula is not None and formula.getparent() is not None:
            placeholders.replace_inline(formula, f"${(annotation.text or '').strip()}$")
    for element in main.xpath(".//*[contains(concat(' ', @class, ' '), ' math ')]"):
        tex = (element.text_content() or "").strip()
        if tex and len(element) == 0:
            placeholders.replace_inline(element, re.sub(r"^\\[(\[]|\\[)\]]$", "$", tex))


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
