"""Parse llms.txt: a Markdown file in which a site lists its pages, each with a title and a description."""

from __future__ import annotations

import re
from collections.abc import Container

from webrag_core.acquisition.sitemaps.listing import Listed, Listing, TitleRank, plain
from webrag_core.acquisition.sitemaps.models import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from webrag_core.errors import FetchError, Reason

_MAX_LINE_CHARS = 10_000
_ITEM = re.compile(
    r"\s*(?:[-*+]|\d{1,4}[.)])\s+(?:\*\*)?\[([^\[\]]{1,500})\]\(\s*<?([^()<>\s]{1,2600})>?(?:\s[^()]*)?\)(.*)"
)
_DIVIDER = re.compile(r"(?:\*\*)?\s*[:\u2013\u2014-]\s*")
# the whole site in a file, and lists of lists
_NO_PAGE = re.compile(r"/llms(?:-[\w-]{1,40})?\.txt$", re.IGNORECASE)


def read_llms_txt(text: str) -> Listing:
    """Read the links of all list items. Raises FetchError(BAD_RESPONSE) for a file without one."""
    listing = Listing("llms_txt")
    for line in text.splitlines():
        item = _ITEM.match(line) if len(line) <= _MAX_LINE_CHARS else None
        if item is None or _NO_PAGE.search(item.group(2)):
            continue
        title, url, rest = item.groups()
        divider = _DIVIDER.match(rest)
        described = plain(rest[divider.end() :], MAX_DESCRIPTION_CHARS) if divider else None
        listing.add(Listed(url, plain(title, MAX_TITLE_CHARS), described, rank=TitleRank.FEED))
    if not listing.pages:
        raise FetchError(Reason.BAD_RESPONSE, "it lists no page")
    return listing


def page_of_markdown(url: str, known: Container[str]) -> str:
    """The page among `known` whose Markdown the canonical `url` holds, as generators name it; `url` where none is."""
    if url in known or not url.endswith(".md"):
        return url
    page = url.removesuffix(".md")
    folder = page.removesuffix("index.html").removesuffix("index")
    return next((other for other in (page, f"{page}.html", f"{page}/", folder) if other in known), url)
