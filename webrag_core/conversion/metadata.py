"""Page metadata: title, description, language, dates and robots directives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lxml.html import HtmlElement

from webrag_core.acquisition.dates import parse_date
from webrag_core.conversion.whitespace import without_invisible
from webrag_core.store.text import storable

PRODUCT_TOKEN = "webrag"
_MAX_TITLE = 300
_SPACE = re.compile(r"\s+")
_PUBLISHED = ("article:published_time", "date", "dcterms.created", "dcterms.issued", "dc.date", "pubdate")
_MODIFIED = ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "dc.date.modified")
_ARTICLE_TYPE = re.compile(r"(?:Article|Posting|(?<!\w)Report)\Z")
_MARKED_PUBLISHED = re.compile(r"(?:\A|[\s_-])(?:published|pubdate|entry-date|posted-on)(?:\Z|[\s_-])")
_MARKED_MODIFIED = re.compile(r"(?:\A|[\s_-])(?:updated|modified)(?:\Z|[\s_-])")
_EVERYBODY = frozenset({"robots", PRODUCT_TOKEN})
_STOPS = frozenset({"nofollow", "none"})
_AGENT = re.compile(r"\s*([a-z_-]+)\s*:(.*)", re.DOTALL)
_DIRECTIVES = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a page. Dates are in UTC. `article` is the text of its article that it states, a mere claim."""

    title: str | None
    description: str | None
    language: str | None
    published: datetime | None
    modified: datetime | None
    article: str | None = None


def read_metadata(document: HtmlElement, json_ld: Sequence[Any]) -> Metadata:
    """Read the metadata of a page that still has its head. `json_ld` are the parsed values of its scripts."""
    published, modified = _dates(document, json_ld)
    return Metadata(
        title=_title(document),
        description=_meta(document, "description", "og:description"),
        language=document.get("lang") or document.get("{http://www.w3.org/XML/1998/namespace}lang") or None,
        published=published,
        modified=modified,
        article=max(_json_ld_values(list(_json_ld_nodes(json_ld)), "articleBody"), key=len, default=None),
    )


def page_says_nofollow(document: HtmlElement) -> bool:
    """Tell whether the page's robots meta, or one addressed to our product token, asks not to follow its links.

    `noindex` is not obeyed: it speaks to public search engines about their listings, and a page that a user attached
    is stored for that user alone. Whether a page may be fetched at all is for robots.txt to say.
    """
    for meta in document.iter("meta"):
        if (meta.get("name") or "").strip().lower() in _EVERYBODY:
            directives = {part.strip() for part in (meta.get("content") or "").lower().split(",")}
            if directives & _STOPS:
                return True
    return False


def headers_say_nofollow(headers: Mapping[str, str]) -> bool:
    """Tell whether X-Robots-Tag asks so of everybody or of our product token; names of headers in lower case.

    `googlebot: noindex, nofollow` is for that robot alone, up to the next robot named.
    """
    agent = "robots"
    for part in headers.get("x-robots-tag", "").lower().split(","):
        directive = part
        if (addressed := _AGENT.fullmatch(part)) is not None and addressed[1] not in _DIRECTIVES:
            agent, directive = addressed[1], addressed[2]
        if agent in _EVERYBODY and directive.strip() in _STOPS:
            return True
    return False


def _title(document: HtmlElement) -> str | None:
    for path in (".//title", ".//h1"):
        element = document.find(path)
        if element is not None:
            text = storable(_SPACE.sub(" ", without_invisible(element.text_content())).replace("¶", "").strip())
            if text:
                return text[:_MAX_TITLE].rstrip()
    title = _meta(document, "og:title")
    return title[:_MAX_TITLE].rstrip() if title else None


def _meta(document: HtmlElement, *names: str) -> str | None:
    return next(_metas(document, *names), None)


def _metas(document: HtmlElement, *names: str) -> Iterator[str]:
    for element in document.iter("meta"):
        key = (element.get("name") or element.get("property") or element.get("http-equiv") or "").lower()
        content = storable((element.get("content") or "").strip())
        if key in names and content:
            yield content


def _dates(document: HtmlElement, json_ld: Sequence[Any]) -> tuple[datetime | None, datetime | None]:
    """(published, modified): of `meta`, else of JSON-LD, else of elements that are marked as such.

    The first plausible `meta` counts; elsewhere dates of other pages may stand beside (lists of posts), so all that
    are found must be the same.
    """
    nodes = list(_json_ld_nodes(json_ld))
    published = (
        _first(_metas(document, *_PUBLISHED))
        or _only(_json_ld_values(nodes, "datePublished"))
        or _only(_marked(document, "datePublished", _MARKED_PUBLISHED))
        or _only(_in_article_header(document))
    )
    modified = (
        _first(_metas(document, *_MODIFIED))
        or _only(_json_ld_values(nodes, "dateModified"))
        or _only(_marked(document, "dateModified", _MARKED_MODIFIED))
    )
    return published, modified


def _first(texts: Iterator[str]) -> datetime | None:
    return next((date for text in texts if (date := parse_date(text)) is not None), None)


def _only(texts: Iterator[str]) -> datetime | None:
    dates = {date for text in texts if (date := parse_date(text)) is not None}
    return dates.pop() if len(dates) == 1 else None


def _json_ld_nodes(json_ld: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The top-level nodes. Nested nodes (comments, reviews, list items) describe other things."""
    for data in json_ld:
        for node in data if isinstance(data, list) else [data]:
            if isinstance(node, dict):
                graph = node.get("@graph")
                yield from (each for each in (graph if isinstance(graph, list) else [node]) if isinstance(each, dict))


def _json_ld_values(nodes: list[dict[str, Any]], name: str) -> Iterator[str]:
    """A property of the nodes that are articles, or of all if none is."""
    articles = [node for node in nodes if _is_article(node.get("@type"))]
    for node in articles or nodes:
        if isinstance(value := node.get(name), str):
            yield value


def _is_article(kind: object) -> bool:
    kinds = kind if isinstance(kind, list) else [kind]
    return any(isinstance(each, str) and _ARTICLE_TYPE.search(each) for each in kinds)


def _marked(document: HtmlElement, microdata: str, marks: re.Pattern[str]) -> Iterator[str]:
    """Dates in microdata, and of <time> elements with a class (microformats, WordPress) that says which they are."""
    for element in document.xpath("descendant::*[@itemprop] | descendant::time[@datetime]"):
        if microdata in (element.get("itemprop") or "").split() or (
            element.tag == "time" and marks.search(element.get("class") or "")
        ):
            yield element.get("datetime") or element.get("content") or element.text_content()


def _in_article_header(document: HtmlElement) -> Iterator[str]:
    for header in document.xpath("descendant::article/descendant::header | descendant::main/header"):
        yield from (element.get("datetime") for element in header.iter("time") if element.get("datetime"))
