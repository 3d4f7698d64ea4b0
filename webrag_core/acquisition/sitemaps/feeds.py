"""Parse feeds (RSS 0.9x, 1.0, 2.0, Atom) and the links by which HTML pages announce feeds and sitemaps."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from datetime import datetime

from webrag_core.acquisition.dates import parse_date
from webrag_core.acquisition.sitemaps.listing import (
    Listed,
    Listing,
    TitleRank,
    plain,
    plain_from_markup,
    plain_title,
)
from webrag_core.acquisition.sitemaps.models import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from webrag_core.acquisition.sitemaps.xml import Field, Record
from webrag_core.acquisition.urls import MAX_URL_CHARS, canonicalise
from webrag_core.errors import FetchError

_ATOM = frozenset({"http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"})
_DUBLIN_CORE = frozenset({"http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/"})
# RSS has no namespace or one of these; this excludes an <atom:link>, a <media:title>, an <itunes:summary>
_RSS = frozenset(
    {
        "",
        "http://purl.org/rss/1.0/",
        "http://my.netscape.com/rdf/simple/0.9/",
        "http://channel.netscape.com/rdf/simple/0.9/",
        "http://backend.userland.com/rss2",
        "http://backend.userland.com/RSS2",
        "http://blogs.law.harvard.edu/tech/rss",
    }
)
_DATED = _ATOM | _RSS | _DUBLIN_CORE
_DATES = ("updated", "modified", "pubDate", "date", "published", "issued", "created")  # by preference
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})

_HEAD_CHARS = 300_000
_LINK = re.compile(r"<(link|base)\b([^<>]{0,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([a-z-]{1,40})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


def take_feed_record(record: Record, listing: Listing, file_url: str) -> None:
    """Add one item of a feed. An item about a part of a page (`…#comment-3`) gives the page no title."""
    atom = record.root == "feed"
    fields = [field for field in record.fields if field.namespace in (_ATOM if atom else _RSS)]
    url = _atom_link(fields) if atom else _rss_link(fields)
    if not url or len(url) > MAX_URL_CHARS:
        listing.invalid += 1
        return
    url = _against_bases(url, record.bases, file_url)
    modified = _newest(record.fields)
    if url.partition("#")[2]:
        listing.add(Listed(url, last_modified=modified))
        return
    title = _title(_first(fields, "title"), atom=atom)
    listing.add(
        Listed(
            url,
            title=title,
            description=_description(_first(fields, "summary" if atom else "description"), atom=atom),
            last_modified=modified,
            rank=TitleRank.FEED if title else TitleRank.NONE,
        )
    )


def map_links(page: str, page_url: str) -> tuple[list[str], list[str]]:
    """Return the feeds and sitemaps that `<link>` elements of an HTML page name: canonical, unique, in page order."""
    feeds: dict[str, None] = {}
    sitemaps: dict[str, None] = {}
    base = page_url
    for match in _LINK.finditer(page[:_HEAD_CHARS]):
        attributes = {
            name.lower(): html.unescape(double or single or bare)
            for name, double, single, bare in _ATTRIBUTE.findall(match.group(2))
        }
        relations = attributes.get("rel", "").lower().split()
        media_type = attributes.get("type", "").split(";")[0].strip().lower()
        try:
            target = canonicalise(attributes.get("href", "").strip(), base)
        except FetchError:
            continue
        if match.group(1).lower() == "base":
            base = target
        elif "alternate" in relations and media_type in _FEED_TYPES:
            feeds[target] = None
        elif "sitemap" in relations:
            sitemaps[target] = None
    return list(feeds), list(sitemaps)


def _first(fields: Iterable[Field], name: str) -> Field | None:
    return next((field for field in fields if field.name == name and field.text.strip()), None)


def _rss_link(fields: list[Field]) -> str:
    link = _first(fields, "link")
    if link is not None:
        return link.text.strip()
    guid = _first(fields, "guid")
    if guid is None or guid.attributes.get("isPermaLink", "true").strip().lower() == "false":
        return ""
    return guid.text.strip()


def _atom_link(fields: list[Field]) -> str:
    links = [field.attributes for field in fields if field.name == "link" and field.attributes.get("href", "").strip()]
    pages = [link for link in links if link.get("rel", "alternate").strip().lower() == "alternate"]
    html_first = sorted(pages, key=lambda link: "html" not in link.get("type", "text/html"))
    return html_first[0]["href"].strip() if html_first else ""


def _newest(fields: list[Field]) -> datetime | None:
    for name in _DATES:
        for field in fields:
            if field.name == name and field.namespace in _DATED:
                date = parse_date(field.text)
                if date is not None:
                    return date
    return None


def _title(field: Field | None, *, atom: bool) -> str | None:
    if field is None:
        return None
    if not atom:  # RSS never says whether a title is HTML: "The <details> element" must survive, "<b>New</b>" must not
        return plain_title(field.text, MAX_TITLE_CHARS)
    to_plain = plain_from_markup if _is_html(field) else plain
    return to_plain(field.text, MAX_TITLE_CHARS)


def _description(field: Field | None, *, atom: bool) -> str | None:
    if field is None:
        return None
    to_plain = plain_from_markup if not atom or _is_html(field) else plain
    return to_plain(field.text, MAX_DESCRIPTION_CHARS)


def _is_html(field: Field) -> bool:
    """True for escaped markup; text and XHTML come as plain text."""
    return field.attributes.get("type", "text").strip().lower() in ("html", "text/html")


def _against_bases(url: str, bases: list[str], file_url: str) -> str:
    if not bases:
        return url
    fragment = url.partition("#")[2]
    try:
        base = file_url
        for step in bases:
            base = canonicalise(step, base)
        resolved = canonicalise(url, base)
    except FetchError:
        return url
    return f"{resolved}#{fragment}" if fragment else resolved
