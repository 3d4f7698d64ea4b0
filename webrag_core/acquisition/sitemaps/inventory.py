"""Parse Sphinx inventories (objects.inv): all pages of a documentation, most with titles, and what they document."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from webrag_core.acquisition.sitemaps.listing import Listed, Listing, TitleRank, plain
from webrag_core.acquisition.sitemaps.models import MAX_ENTRIES, MAX_FILE_BYTES, MAX_TITLE_CHARS, MapSymbol
from webrag_core.errors import FetchError, Reason
from webrag_core.store.text import storable

MARK = b"# Sphinx inventory version "
_HEADER_LINES = 4
_MAX_HEADER_BYTES = 10_000
_MAX_LINE_BYTES = 20_000
_MAX_ANCHOR_CHARS = 300
_MAX_ROLE_CHARS = 100
# pages and sections; words; parameters, whose function is a symbol
_NO_SYMBOLS = frozenset({"std:doc", "std:label", "std:term", "std:token", "c:functionparam", "cpp:functionparam"})
# name, then "domain:role priority ", then URI and title; names contain blanks, so match the middle
_MIDDLE = re.compile(r"(?<=\s)([^\s:]+:\S+)\s+-?\d+\s")


@dataclass(frozen=True, slots=True)
class _Entry:
    page: Listed
    symbol: MapSymbol | None


def read_inventory(body: bytes) -> Listing:
    """Read one entry per page, and the symbols that pages document. URLs are relative to that of the inventory.

    Titles by preference: the document's (std:doc), a label of the whole page, a label of a section. Objects of other
    kinds give no title and are symbols, except words of glossaries and grammars, and parameters.

    Raises FetchError: BAD_RESPONSE for another version or a broken file, TOO_LARGE above 50 MB decoded.
    """
    version = body[len(MARK) : len(MARK) + 10].split(None, 1)[:1]
    if version == [b"2"]:
        *header, packed = _lines(body, _HEADER_LINES)
        if b"zlib" not in header[-1]:
            raise FetchError(Reason.BAD_RESPONSE, "the inventory does not say how it is compressed")
        content, problem = _unpacked(packed)
        pages = _pages(content, _version_2)
    elif version == [b"1"]:
        problem = None
        pages = _pages(_lines(body, _HEADER_LINES - 1)[-1], _version_1)
    else:
        raise FetchError(Reason.BAD_RESPONSE, "the inventory is of an unknown version")
    pages.problem = problem
    return pages


def _lines(body: bytes, count: int) -> list[bytes]:
    """Split off the first `count` lines."""
    *header, rest = parts = body.split(b"\n", count)
    if len(parts) <= count or sum(map(len, header)) > _MAX_HEADER_BYTES:
        raise FetchError(Reason.BAD_RESPONSE, "the inventory has no complete header")
    return [*header, rest]


def _unpacked(packed: bytes) -> tuple[bytes, str | None]:
    inflater = zlib.decompressobj()
    pieces: list[bytes] = []
    room = MAX_FILE_BYTES
    problem = None
    try:
        while not inflater.eof and (piece := inflater.decompress(packed, min(room + 1, 1_000_000))):
            pieces.append(piece)
            room -= len(piece)
            packed = inflater.unconsumed_tail
            if room < 0:
                raise FetchError(Reason.TOO_LARGE, f"the inventory has more than {MAX_FILE_BYTES} bytes")
    except zlib.error:
        problem = "its compressed part is damaged"
    if not pieces and not inflater.eof:
        raise FetchError(Reason.BAD_RESPONSE, "the compressed part of the inventory is damaged")
    return b"".join(pieces), problem or (None if inflater.eof else "it breaks off before its end")


def _version_2(line: str) -> _Entry | None:
    middle = _MIDDLE.search(line)
    name = line[: middle.start()].strip() if middle else ""
    if middle is None or not name:
        return None
    uri, _, shown = line[middle.end() :].partition(" ")
    if uri.endswith("$"):
        uri = uri[:-1] + name
    page, _, fragment = uri.partition("#")
    title = plain(name if shown.strip() == "-" else shown, MAX_TITLE_CHARS)
    kind = middle.group(1).lower()
    rank = TitleRank.NONE
    if title and kind == "std:doc":
        rank = TitleRank.DOCUMENT
    elif title and kind == "std:label":
        rank = TitleRank.SECTION if fragment else TitleRank.PAGE_LABEL
    listed = Listed(page or "./", title=title if rank else None, rank=rank)
    return _Entry(listed, _symbol(name, kind, listed.url, fragment))


def _version_1(line: str) -> _Entry | None:
    """`name type location`: objects only, no titles. Their anchors are not in the file: they are what they document."""
    parts = line.split(None, 2)
    if len(parts) != 3:
        return None
    page, _, fragment = parts[2].strip().partition("#")
    kind = "py:module" if parts[1] == "mod" else f"py:{parts[1].lower()}"
    return _Entry(Listed(page or "./"), _symbol(parts[0], kind, page or "./", fragment or parts[0]))


def _symbol(name: str, kind: str, url: str, fragment: str) -> MapSymbol | None:
    text, anchor = plain(name, MAX_TITLE_CHARS), plain(fragment, _MAX_ANCHOR_CHARS) or ""
    if text is None or kind in _NO_SYMBOLS or len(kind) > _MAX_ROLE_CHARS:
        return None
    return MapSymbol(url, text, storable(kind), anchor)


def _pages(content: bytes, read: Callable[[str], _Entry | None]) -> Listing:
    best: dict[str, Listed] = {}
    listing = Listing("inventory")
    for line in io.BytesIO(content):
        if len(line) > _MAX_LINE_BYTES:
            listing.invalid += 1
            continue
        text = line.decode("utf-8", "replace").strip("\r\n")
        if not text.strip():
            continue
        entry = read(text)
        if entry is None:
            listing.invalid += 1
            continue
        page = entry.page
        if entry.symbol is not None and len(listing.symbols) < MAX_ENTRIES:
            listing.symbols.append(entry.symbol)
        elif entry.symbol is not None:
            listing.symbols_cut = True
        if page.url in best:
            best[page.url] = max(best[page.url], page, key=lambda listed: listed.rank)
        elif len(best) < MAX_ENTRIES:
            best[page.url] = page
        else:
            listing.cut = True
    listing.pages = list(best.values())
    return listing
