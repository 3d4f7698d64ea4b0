"""Pages that are empty until scripts ran: whether one is, and what of its text is in the page all the same.

In this order: the tree as browsers build it (the fast parser loses a page in a button that is closed over an open
box), with `noscript` that holds content, segments that React streams into hidden boxes, and wrappers that a script
shows; then state that the page embeds. No script is run: who wants that chooses a renderer for the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import lxml.html
from lxml import etree
from lxml.html import HtmlElement
from selectolax.lexbor import LexborHTMLParser

from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.conversion.embedded_state import MIN_WORDS, state_html
from webrag_core.conversion.html import page_text, parse_html
from webrag_core.errors import FetchError, Reason

WAY_OUT = (
    "the page has no content without a script; to render it, give its source the acquirer `browser`, or use Firecrawl"
)
FROM_STATE = "the text comes from state that the page embeds for its scripts, which may hold more or less than it shows"
FROM_NOSCRIPT = "the text comes from what the page shows without scripts (noscript)"

_MAX_BYTES = 6_000_000  # a tree of a larger page does not fit beside the other
_MAX_TAGS = 200_000
_SPARSE = 60  # words of prose from which on a page is no shell
_MAX_WORDS = 300  # with those of links
_GAIN = 4
_MAX_FRAME_WORDS = 25
_EMPTY_ROOT = re.compile(
    rb"<(\w+)[^<>]*\sid=[\"']?(?:root|app|__next|__nuxt|___gatsby|q-app|react-root|app-root)[\"']?[^<>]*>\s*</\1>"
    rb"|<app-root[^<>]*>\s*</app-root>",
    re.IGNORECASE,
)
_SCRIPT = re.compile(rb"<script[\s>]", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_BYTE_TAG = re.compile(rb"<[^<>]*>")
_BYTE_WORD = re.compile(rb"[\w\x80-\xff]{2,}")
_STATE_ATTRIBUTE = re.compile(rb"=[\"'][{\[][^<>]{200}")
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_MIN_LINE_WORDS = 8
_UNSEEN = (etree.Comment, etree.ProcessingInstruction, "script", "style")
_HIDING = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)[^;]*;?", re.IGNORECASE)

Convert = Callable[[bytes, str | None], ConvertedPage]


def is_sparse(page: ConvertedPage, body: bytes) -> bool:
    """Whether a page has so little prose beside its mark-up that more of it may be hidden."""
    text = page.markdown
    if len(text) > len(body) / 4 or "```" in text or prose_words(text) >= _SPARSE:
        return False
    return _count(_LINK.sub(r"\1", text)) < _MAX_WORDS  # a list of links is a page


def prose_words(markdown: str) -> int:
    """Words outside links in lines of eight or more."""
    counts = (_count(_LINK.sub(" ", line)) for line in markdown.splitlines())
    return sum(count for count in counts if count >= _MIN_LINE_WORDS)


def with_hidden_text(body: bytes, charset: str | None, sparse: ConvertedPage | None, convert: Convert) -> ConvertedPage:
    """Convert a page again, with the text that only scripts show. `sparse` is what it was without (None = nothing).

    Returns `sparse` where there is no more to it. Raises FetchError where both are nothing, or few words around an
    empty box: NEEDS_SCRIPT, or EMPTY_PAGE for a page without a script.
    """
    least = max(MIN_WORDS, _GAIN * prose_words(sparse.markdown) if sparse is not None else 0)
    if _may_hide_text(body):
        for make in (_shown, _stated):
            document = parse_html(_as_browsers_read(body, charset), "utf-8")
            warning = make(document)
            try:
                page = convert(lxml.html.tostring(document, encoding="utf-8"), "utf-8")
            except FetchError as error:
                if error.reason is not Reason.EMPTY_PAGE:
                    raise
                continue
            if prose_words(page.markdown) >= least:
                return page if warning is None else replace(page, warnings=(*page.warnings, warning))
    if sparse is not None and not _is_frame(sparse, body):
        return sparse
    if _SCRIPT.search(body):
        raise FetchError(Reason.NEEDS_SCRIPT, WAY_OUT)
    raise FetchError(Reason.EMPTY_PAGE, "the page has no readable text")


def _is_frame(page: ConvertedPage, body: bytes) -> bool:
    """Whether a page is a few words around an empty box that scripts fill."""
    if prose_words(page.markdown) or _count(page.markdown) > _MAX_FRAME_WORDS:
        return False
    return _SCRIPT.search(body) is not None and _EMPTY_ROOT.search(body) is not None


def _may_hide_text(body: bytes) -> bool:
    """Whether there are words outside tags, or state in an attribute, in a page that is not too much to read again."""
    if len(body) > _MAX_BYTES or body.count(b"<") > _MAX_TAGS:
        return False
    words = islice(_BYTE_WORD.finditer(_BYTE_TAG.sub(b" ", body)), MIN_WORDS)
    return sum(1 for _ in words) == MIN_WORDS or _STATE_ATTRIBUTE.search(body) is not None


def _as_browsers_read(body: bytes, charset: str | None) -> bytes:
    """A page with its elements nested as the standard has it, in UTF-8."""
    return (LexborHTMLParser(page_text(body, charset)).html or "").encode("utf-8", "replace")


def _shown(document: HtmlElement) -> str | None:
    """Show what waits in the page: `noscript`, streamed segments, hidden wrappers. Returns the warning."""
    warning = None
    for box in list(document.iter("noscript")):
        if prose_words(_lines(box)) >= MIN_WORDS:
            box.tag = "div"
            warning = FROM_NOSCRIPT
    for segment in document.xpath("//div[@hidden][starts-with(@id, 'S:')]"):
        del segment.attrib["hidden"]
        place = document.xpath("//template[@id=$id]", id="B:" + segment.get("id")[2:])
        if place and segment not in place[0].iterancestors():
            place[0].addprevious(segment)
    body = document.find("body")
    for box in _wrappers(body) if body is not None else ():
        box.attrib.pop("hidden", None)
        box.attrib.pop("aria-hidden", None)
        if "style" in box.attrib:
            box.set("style", _HIDING.sub("", box.get("style") or ""))
    return warning


def _wrappers(body: HtmlElement) -> list[HtmlElement]:
    """Elements that hold half of the page's text or more."""
    sizes: dict[HtmlElement, int] = {}
    for _, element in etree.iterwalk(body, events=("end",)):
        inner = sum(sizes.get(child, 0) + len(child.tail or "") for child in element)
        sizes[element] = inner + (len(element.text or "") if element.tag not in _UNSEEN else 0)
    return [element for element, size in sizes.items() if 2 * size >= sizes[body] and isinstance(element.tag, str)]


def _stated(document: HtmlElement) -> str | None:
    """Put the prose of the page's state in place of its content; links stay, as navigation. Returns the warning."""
    html = state_html(document)
    body = document.find("body")
    if html is None or body is None:
        return None
    navigation = lxml.html.Element("nav")
    navigation.extend(list(body.iter("a")))
    stated = [each for each in body.iter("script") if (each.get("type") or "").startswith("application/ld+json")]
    body.clear()
    body.extend((navigation, *stated, lxml.html.fragment_fromstring(html, create_parent="main")))
    return FROM_STATE


def _lines(box: HtmlElement) -> str:
    """The text of a box, a line for each of its texts."""
    return "\n".join(" ".join(text.split()) for text in box.itertext())


def _count(text: str) -> int:
    return len(_WORD.findall(text)) + len(_UNSPACED.findall(text)) // 2
