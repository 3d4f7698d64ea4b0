"""One spelling per URL. Parsing is WHATWG's (what a browser does), the query policy is ours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

import ada_url

from webrag_core.errors import FetchError, Reason

MAX_URL_CHARS = 8_192
MAX_PAGE_URL_CHARS = 2_600  # of a stored page: an entry of PostgreSQL's indexes holds 2,704 bytes
MAX_HOST_CHARS = 253
MAX_LABEL_CHARS = 63

# Added by whoever placed the link, never read by the page. Parameters that some sites do read (`ref`,
# `source`, `si`) are not in the list: a page fetched twice costs less than the wrong page.
TRACKING_PREFIXES = ("utm_", "hsa_")
TRACKING_PARAMETERS = frozenset(
    {
        *("_ga", "_gl", "dclid", "gad_campaignid", "gad_source", "gbraid", "gclid", "gclsrc", "srsltid"),
        *("epik", "fbclid", "igsh", "igshid", "li_fat_id", "msclkid", "ttclid", "twclid", "yclid", "ysclid"),
        *("_hsenc", "_hsmi", "hsctatracking", "mc_cid", "mc_eid", "mkt_tok", "oly_anon_id", "oly_enc_id"),
        *("_openstat", "rb_clickid", "vero_conv", "vero_id", "wbraid"),
    }
)


def canonicalise(url: str, base: str | None = None) -> str:
    """The canonical spelling of `url`, resolved against `base` when one is given.

    The answer is ASCII and canonicalising it again changes nothing. Ports, `index.html` and slashes stay as
    they are: whether a port may be dialled is for the network gate to say.

    Raises FetchError(INVALID_URL) for what is not an absolute http(s) URL, or holds a user name or password.
    """
    if base is None and len(url) <= MAX_URL_CHARS:  # what is longer is not kept
        return _remembered(url)
    return _canonical(url, base)


def _canonical(url: str, base: str | None = None) -> str:
    parsed = _parse(url, base)
    canonical = f"{parsed.scheme}//{_host(parsed)}{parsed.port}{parsed.path}{_query(parsed.search)}"
    if len(canonical) > MAX_URL_CHARS:
        raise _invalid(f"longer than {MAX_URL_CHARS:,} characters")
    if canonical == parsed.href:
        return canonical
    # Parsed again because something changed: the answer must be ada's own spelling, not text we put together.
    return _parse(canonical).href


# a page's URL is asked for ten times while it is fetched
_remembered = lru_cache(maxsize=1_000)(_canonical)


def page_url(url: str, base: str | None = None) -> str:
    """Canonical URL that a page can be stored under: `canonicalise`, with a limit of 2,600 characters.

    Raises FetchError(INVALID_URL).
    """
    canonical = canonicalise(url, base)
    if len(canonical) > MAX_PAGE_URL_CHARS:
        raise _invalid(f"longer than {MAX_PAGE_URL_CHARS:,} characters")
    return canonical


def source_key(url: str) -> str:
    """Host of `url`, with its port when that is not the scheme's default: the name of a source.

    Raises FetchError(INVALID_URL) as `canonicalise` does.
    """
    parsed = _parse(canonicalise(url))
    return parsed.host + parsed.port


def page_key(url: str) -> str:
    """Canonical URL without a final `index.html` or `index.htm`.

    Two URLs with one key are one page spelled as a directory and as its index file. Only for not fetching a
    page twice: nothing says that the server answers under the key.

    Raises FetchError(INVALID_URL) as `canonicalise` does.
    """
    canonical = canonicalise(url)
    path, mark, query = canonical.partition("?")
    directory, _, name = path.rpartition("/")
    if name in ("index.html", "index.htm"):
        path = f"{directory}/"
    return path + mark + query


def site_roots(urls: Iterable[str]) -> list[str]:
    """The root of the site of each URL, each once. Raises FetchError(INVALID_URL)."""
    return list(dict.fromkeys(canonicalise("/", canonicalise(url)) for url in urls))


def folder_of(url: str) -> str:
    """Path of the folder that the page at canonical `url` lies in, with its last slash."""
    path = url.partition("://")[2].partition("?")[0]
    prefix = "/" + path.partition("/")[2].rpartition("/")[0]
    return prefix if prefix.endswith("/") else f"{prefix}/"


class _Parts(NamedTuple):
    """A URL in WHATWG's spelling, and its parts: `scheme` with its colon at the end, `port` and `search` with the
    mark that they begin with, or empty."""

    href: str
    scheme: str
    user: str | None
    host: str
    port: str
    path: str
    search: str


# Only for what ada has normalised: user names, paths and queries hold none of the delimiters that follow them. One
# match is six times as fast as asking ada for each part.
_NORMALISED = re.compile(r"(https?:)//(?:([^/?#@]*)@)?(\[[^]]*\]|[^/?#:]*)((?::\d+)?)(/[^?#]*)((?:\?[^#]*)?)")


def _parse(url: str, base: str | None = None) -> _Parts:
    try:
        href = ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)
    except ValueError:  # also a lone surrogate, which UTF-8 cannot carry
        raise _invalid("not an absolute URL, or its host is malformed") from None
    match = _NORMALISED.match(href)
    if match is None:
        raise _invalid("only http and https are fetched")
    parsed = _Parts(href, *match.groups())
    if parsed.user is not None:
        raise _invalid("it holds a user name or password")
    return parsed


def _host(parsed: _Parts) -> str:
    host = parsed.host.removesuffix(".")
    if host.startswith("["):
        return host
    # WHATWG lets these pass, but no resolver and no TLS library takes them.
    if len(host) > MAX_HOST_CHARS or not all(0 < len(label) <= MAX_LABEL_CHARS for label in host.split(".")):
        raise _invalid("its host name has an empty or too long part")
    if not all(_is_idna(label) for label in host.split(".")):
        raise _invalid("its host name holds a malformed xn-- part")
    return host


def _is_idna(label: str) -> bool:
    """False for an xn-- label that stands for no name; ada checks only names that come in as Unicode."""
    if not label.startswith("xn--"):
        return True
    try:
        return bool(ada_url.idna_to_ascii(label[4:].encode().decode("punycode")) == label.encode())
    except ValueError:
        return False


def _query(search: str) -> str:
    if not search:
        return ""
    kept = [item for item in search.removeprefix("?").split("&") if not _is_tracking(item)]
    query = "&".join(kept)
    return f"?{query}" if query else ""


def _is_tracking(item: str) -> bool:
    name = unquote(item.partition("=")[0]).lower()
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)


def _invalid(problem: str) -> FetchError:
    return FetchError(Reason.INVALID_URL, f"URL refused: {problem}")
