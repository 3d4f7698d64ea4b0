"""Read one sitemap, feed or inventory: unpack, detect the format, parse, canonicalise the URLs of one host."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace

from webrag_core.acquisition.charset import decode_page
from webrag_core.acquisition.dates import parse_date
from webrag_core.acquisition.sitemaps.feeds import take_feed_record
from webrag_core.acquisition.sitemaps.inventory import MARK, read_inventory
from webrag_core.acquisition.sitemaps.listing import Listed, Listing
from webrag_core.acquisition.sitemaps.llms_txt import read_llms_txt
from webrag_core.acquisition.sitemaps.models import MAX_ENTRIES, MAX_FILE_BYTES, MapSymbol
from webrag_core.acquisition.sitemaps.search_index import read_search_index
from webrag_core.acquisition.sitemaps.xml import Record, read_records
from webrag_core.acquisition.urls import MAX_URL_CHARS, canonicalise, page_url, source_key
from webrag_core.errors import FetchError, Reason

_MAX_GZIP_MEMBERS = 1_000
_HTML = re.compile(rb"\s*(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_WIDE_STARTS = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")


@dataclass(frozen=True, slots=True)
class Scope:
    """The host whose pages are wanted, as in `source_key`; `upgrade` = its http URLs are read as https."""

    host: str
    upgrade: bool

    @classmethod
    def of(cls, url: str) -> Scope:
        """Return the scope of a canonical `url`."""
        host = source_key(url)
        return cls(host, upgrade=url.startswith("https://") and ":" not in host.rpartition("]")[2])


@dataclass(slots=True)
class ScopedFile:
    """Entries of a file that belong to one host. `pages` and `symbols` have canonical URLs; so have `children`, which
    may be on any host.

    `invalid` counts entries without a valid page URL, `foreign` the URLs per other host.
    """

    listing: Listing
    pages: list[tuple[str, Listed]] = field(default_factory=list)
    symbols: list[MapSymbol] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    invalid: int = 0
    foreign: Counter[str] = field(default_factory=Counter)


def read_map_file(
    body: bytes,
    url: str,
    media_type: str,
    scope: Scope,
    deadline: float,
    index_suffix: str | None = None,
    *,
    is_llms_txt: bool = False,
) -> ScopedFile:
    """Read the entries of the file at canonical `url` that are in `scope`. Blocking: for a thread.

    `index_suffix` is given for a search index: what its documents' URLs end in. `is_llms_txt`: of texts, it is a list
    in Markdown. `media_type` decides between HTML and text only where the content does not. `deadline` is in
    time.monotonic().

    Raises FetchError: SOFT_404 for an HTML page, EMPTY_PAGE, TOO_LARGE above 50 MB unpacked, BAD_RESPONSE.
    """
    return in_scope(_read(body, url, media_type, deadline, index_suffix, is_llms_txt), url, scope)


def in_scope(listing: Listing, url: str, scope: Scope) -> ScopedFile:
    """Keep the entries of `listing`, read from canonical `url`, that are in `scope`."""
    scoped = ScopedFile(listing, invalid=listing.invalid)
    targets: dict[str, str] = {}  # of pages in scope
    for page in listing.pages:
        try:
            target = page_url(page.url, url)
        except FetchError:
            scoped.invalid += 1
            continue
        host = target.split("/", 3)[2]  # as source_key has it: a canonical URL names no default port
        if host != scope.host:
            scoped.foreign[host] += 1
            continue
        if scope.upgrade and target.startswith("http://"):
            target = f"https://{target.removeprefix('http://')}"
        scoped.pages.append((target, page))
        targets[page.url] = target
    scoped.symbols = [replace(symbol, url=targets[symbol.url]) for symbol in listing.symbols if symbol.url in targets]
    for child in listing.children:
        try:
            scoped.children.append(canonicalise(child, url))
        except FetchError:
            scoped.invalid += 1
    return scoped


def _read(
    body: bytes, url: str, media_type: str, deadline: float, index_suffix: str | None, is_llms_txt: bool
) -> Listing:
    problem = None
    if body.startswith(b"\x1f\x8b"):
        body, problem = _gunzipped(body)
    if not body.strip():
        raise FetchError(Reason.EMPTY_PAGE, "the file is empty")
    if body.startswith(MARK):
        return read_inventory(body)
    if _HTML.match(body.removeprefix(b"\xef\xbb\xbf")):
        raise FetchError(Reason.SOFT_404, "an HTML page came instead of the file")
    if is_llms_txt:
        listing = read_llms_txt(decode_page(body, None))
    elif index_suffix is not None:
        listing = read_search_index(body, index_suffix, deadline)
    elif body.startswith(_WIDE_STARTS) or body.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        listing = _read_xml(body, url, deadline)
    elif media_type in ("text/html", "application/xhtml+xml"):
        raise FetchError(Reason.SOFT_404, "an HTML page came instead of the file")
    else:
        listing = _read_text_sitemap(decode_page(body, None))
    listing.problem = listing.problem or problem
    return listing


def _read_xml(body: bytes, url: str, deadline: float) -> Listing:
    listing = Listing("sitemap")

    def take(record: Record) -> bool:
        if record.root in ("urlset", "sitemapindex"):
            _take_sitemap_record(record, listing)
        else:
            listing.kind = "feed"
            take_feed_record(record, listing, url)
        return not listing.cut

    listing.problem = read_records(body, take, deadline)
    return listing


def _take_sitemap_record(record: Record, listing: Listing) -> None:
    """Add one `url` or `sitemap` element. Only its own loc and lastmod count, not those of images or news."""
    values = {entry.name: entry.text.strip() for entry in reversed(record.fields) if entry.name in ("loc", "lastmod")}
    url = values.get("loc", "")
    if not url or len(url) > MAX_URL_CHARS:
        listing.invalid += 1
    elif record.root == "sitemapindex":
        if len(listing.children) < MAX_ENTRIES:
            listing.children.append(url)
        else:
            listing.cut = True
    else:
        listing.add(Listed(url, last_modified=parse_date(values.get("lastmod", ""))))


def _read_text_sitemap(text: str) -> Listing:
    """Read a list of URLs, one per line; count invalid lines.

    Raises FetchError(BAD_RESPONSE) when fewer than half of the lines are URLs.
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


def _gunzipped(body: bytes) -> tuple[bytes, str | None]:
    """Unpack a file; return it with a note when it is truncated. Raises FetchError (TOO_LARGE, BAD_RESPONSE)."""
    out = bytearray()
    data = body
    for _ in range(_MAX_GZIP_MEMBERS):
        inflater = zlib.decompressobj(wbits=31)
        try:
            out += inflater.decompress(data, MAX_FILE_BYTES + 1 - len(out))
        except zlib.error:
            if data is not body:
                return bytes(out), None  # trailing bytes are ignored, as in browsers
            raise FetchError(Reason.BAD_RESPONSE, "the compressed file is damaged") from None
        if len(out) > MAX_FILE_BYTES:
            raise FetchError(Reason.TOO_LARGE, f"the file has more than {MAX_FILE_BYTES} bytes when unpacked")
        if not inflater.eof:
            return bytes(out), "it breaks off before its end"
        data = inflater.unused_data
        if not data.strip(b"\0"):
            return bytes(out), None
    raise FetchError(Reason.BAD_RESPONSE, "the compressed file has too many parts")
