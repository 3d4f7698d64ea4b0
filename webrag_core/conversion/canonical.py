"""The canonical URL that a page declares (`rel=canonical`), and when it is trusted.

A canonical link is a claim of the site, often a wrong one: whole sites name their front page, every page of a list
names the first, pinned versions of a documentation name the newest. It is trusted only where it is another spelling of
the URL that answered, never where it leads to another page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import ada_url

from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError

_INDEX_FILE = re.compile(r"/(?:index\.(?:html?|php|aspx?|jsp)|default\.(?:aspx?|html?))$")
# Parameters that choose what a page says: a canonical without them is the first of several pages, not this one.
_CHOOSES = frozenset(
    {
        *("page", "paged", "pg", "p", "start", "offset", "from", "id", "pid", "tid", "cat", "category", "tag"),
        *("lang", "language", "locale", "hl", "v", "ver", "version", "q", "query", "search", "s", "title", "tab"),
    }
)


def named_url(relations: Iterable[tuple[str, str]]) -> str | None:
    """Return the canonical URL that a page declares in its head and its Link header. None when it declares none, or two
    different ones."""
    declared = {url for relation, url in relations if relation == "canonical"}
    return declared.pop() if len(declared) == 1 else None


def preferred_url(final_url: str, declared: str | None) -> str:
    """Choose the URL of a page: `declared` where it is another spelling of `final_url`, else `final_url`.

    Another spelling has the same host (with or without `www.`), http or https, and the same path but for a slash at the
    end, an index file (`index.html`, `index.php`, `default.aspx` and the like) and letter case. Its query has the same
    parameters or fewer; what is left out may not choose the content (a number, a page, a language, …), nor may
    anything be left out on a front page, where the query alone tells the pages apart. An https page stays https.

    Both URLs are canonical (a malformed `declared` counts as none); so is the result.
    """
    url = _usable(declared, final_url) if declared else None
    if url is None or url == final_url:
        return final_url
    final, other = ada_url.URL(final_url), ada_url.URL(url)
    if _bare(final.host) != _bare(other.host) or _page_path(final.pathname) != _page_path(other.pathname):
        return final_url
    if not _is_lesser_query(other.search, final.search, at_front=_page_path(final.pathname) == "/"):
        return final_url
    if (final.protocol, other.protocol) == ("https:", "http:"):
        if final.host != other.host:
            return final_url  # that spelling was not declared under https
        return canonicalise("https:" + url.removeprefix("http:"))
    return url


def _usable(href: str, base_url: str) -> str | None:
    if not href.strip():
        return None
    try:
        return canonicalise(href.strip(), base_url)
    except FetchError:
        return None


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _page_path(path: str) -> str:
    """Reduce a path to what all its spellings share."""
    directory = _INDEX_FILE.sub("/", path.lower())
    return directory.rstrip("/") or "/"


def _is_lesser_query(fewer: str, more: str, *, at_front: bool) -> bool:
    """Whether a query has no parameters but those of another, and lacks none that chooses the content."""
    remaining, original = Counter(_parameters(fewer)), Counter(_parameters(more))
    dropped = original - remaining
    if not remaining <= original:
        return False
    return not dropped or not (at_front or any(map(_chooses, dropped)))


def _parameters(search: str) -> list[str]:
    return [item for item in search.removeprefix("?").split("&") if item]


def _chooses(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.lower() in _CHOOSES or value.isdigit()
