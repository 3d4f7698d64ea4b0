"""What a page asks of robots: `<meta name="robots">` and the X-Robots-Tag header.

Of its directives only `nofollow` (and `none`, which holds it) means something here: no link of the page is followed.
`noindex` is not obeyed: it speaks to public search engines about their listings, and a page that a user attached is
stored for that user alone. Whether a page may be fetched at all is for robots.txt to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lxml.html import HtmlElement

PRODUCT_TOKEN = "webrag"
_EVERYBODY = frozenset({"robots", PRODUCT_TOKEN})
_STOPS = frozenset({"nofollow", "none"})
_AGENT = re.compile(r"\s*([a-z_-]+)\s*:(.*)", re.DOTALL)
_DIRECTIVES = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})


def page_says_nofollow(document: HtmlElement) -> bool:
    """True when the page's robots meta, or one addressed to our product token, asks not to follow its links."""
    for meta in document.iter("meta"):
        if (meta.get("name") or "").strip().lower() in _EVERYBODY:
            asked = {part.strip() for part in (meta.get("content") or "").lower().split(",")}
            if asked & _STOPS:
                return True
    return False


def headers_say_nofollow(headers: Mapping[str, str]) -> bool:
    """True when X-Robots-Tag asks so of everybody or of our product token; names of headers in lower case.

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
