"""Sitemaps: the XML of sitemaps.org (pages and indexes) and its plain-text form."""

from __future__ import annotations

from webrag_core.acquisition.dates import parse_date
from webrag_core.acquisition.sitemaps.listing import Listed, Listing
from webrag_core.acquisition.sitemaps.models import MAX_ENTRIES
from webrag_core.acquisition.sitemaps.xml import Record
from webrag_core.acquisition.urls import MAX_URL_CHARS
from webrag_core.errors import FetchError, Reason


def take_sitemap_record(record: Record, listing: Listing) -> None:
    """One `url` or `sitemap` element. Only its own loc and lastmod count: alternates, images, videos, news do not."""
    said = {field.name: field.text.strip() for field in reversed(record.fields) if field.name in ("loc", "lastmod")}
    url = said.get("loc", "")
    if not url or len(url) > MAX_URL_CHARS:
        listing.invalid += 1
    elif record.root == "sitemapindex":
        if len(listing.children) < MAX_ENTRIES:
            listing.children.append(url)
        else:
            listing.cut = True
    else:
        listing.add(Listed(url, last_modified=parse_date(said.get("lastmod", ""))))


def read_text_sitemap(text: str) -> Listing:
    """A list of URLs, one on a line. Lines that are none are counted.

    Raises FetchError(BAD_RESPONSE) when less than half of the lines are URLs: then it is another kind of text.
    """
    listing = Listing("sitemap")
    for line in text.splitlines():
        url = line.strip()
        if url.startswith(("http://", "https://")) and len(url.split(None, 1)) == 1 and len(url) <= MAX_URL_CHARS:
            listing.add(Listed(url))
        elif url and not url.startswith("#"):
            listing.invalid += 1
    if not listing.pages or listing.invalid > len(listing.pages):
        raise FetchError(Reason.BAD_RESPONSE, "it is neither a sitemap nor a feed")
    return listing
