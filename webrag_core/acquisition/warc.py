"""The `warc` acquirer: replays a frozen site under its real URLs, without any network."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.legal_xml import AKOMA_NTOSO, XML_TYPES, is_akoma_ntoso
from webrag_core.acquisition.sitemaps.models import FileKind, MapBody, SiteMap
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.foreign_values import whole_number

logger = logging.getLogger(__name__)

_MAX_REDIRECTS = 5
_BEGINNINGS = (b"WARC/1.", b"\x1f\x8b\x08")
_WINDOW, _OVERLAP = 1 << 20, 8
_MOST_BROKEN = 1_000  # places of a file that are passed over
_MAX_HEAD_BYTES = 1_000_000  # before the body, in one record
_BASE32_OF_SHA1 = 32
_LEAST_BYTES = 64  # of which something can be left behind a damaged place
MAX_BODY_BYTES = 20_000_000
"""Of a page, unpacked, where the settings say nothing else."""
_PAGE_TYPES = ("text/html", "application/xhtml+xml", AKOMA_NTOSO)


@dataclass(frozen=True, slots=True)
class _Entry:
    offset: int
    media_type: str
    date: datetime | None
    number: int
    """Of the record among the responses of the file, from 1."""


@lru_cache(maxsize=8)
def _index(path: Path, inode: int, size: int, modified: int) -> Mapping[str, _Entry]:
    """Read where each response lies, once for a file that stays as it is: a site takes a tenth of a second."""
    entries: dict[str, _Entry] = {}
    number = broken = 0
    with path.open("rb") as stream:
        begin = 0
        while begin >= 0:
            stream.seek(begin)
            last = begin
            try:
                for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                    last = max(last, record.stream_pos)
                    number += 1
                    _add(entries, record, number)
                break
            except OSError as error:
                broken += 1
                if broken > _MOST_BROKEN or (not entries and size < _LEAST_BYTES):
                    raise
                logger.warning("%s: what follows response %d is damaged and is skipped: %s", path, number, error)
                begin = _next_record(stream, last + 1)
    return entries


def _add(entries: dict[str, _Entry], record: WarcRecord, number: int) -> None:
    if record.http_headers is None:
        return
    try:
        url = canonicalise((record.headers.get("WARC-Target-URI") or "").strip("<>"))
    except FetchError:  # a crawler's own record, such as dns:…
        return
    media_type = (record.http_content_type or "").lower()
    entries.setdefault(url, _Entry(record.stream_pos, media_type, _date(record.headers.get("WARC-Date")), number))


def _next_record(stream: BinaryIO, place: int) -> int:
    """Where a record begins at or after `place`: a line of its version, or a member of gzip; -1 for the end."""
    stream.seek(place)
    while window := stream.read(_WINDOW):
        results = [at for mark in _BEGINNINGS if (at := window.find(mark)) >= 0]
        if results:
            return place + min(results)
        if len(window) < _WINDOW:
            return -1
        place += _WINDOW - _OVERLAP
        stream.seek(place)
    return -1


def _date(text: str | None) -> datetime | None:
    """A WARC-Date; None for one that is missing, unreadable or in the future, which no copy can be from."""
    try:
        date = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    date = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    return date if date <= datetime.now(UTC) else None


class WarcAcquirer:
    """Serves the responses of one WARC file; what is not in it is answered like a 404."""

    name = "warc"
    frozen = True
    metered = False

    def __init__(self, path: Path, *, max_bytes: int = MAX_BODY_BYTES) -> None:
        """Index the file. Raises InvalidInputError when it is missing or holds no response."""
        self._path = path
        self._max_bytes = max_bytes
        try:
            status = path.stat()
            self._entries = _index(path.absolute(), status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError as error:
            problem = error.strerror or "it is no WARC file"
            raise InvalidInputError(f"the WARC file {path} cannot be read: {problem}") from error
        if not self._entries:
            raise InvalidInputError(f"{path} holds no WARC response")

    def page_urls(self) -> list[str]:
        """Canonical URLs of all pages (HTML and Akoma Ntoso), sorted."""
        return sorted(url for url, entry in self._entries.items() if entry.media_type in _PAGE_TYPES)

    def date_of(self, url: str) -> datetime | None:
        """When the copy of canonical `url` was made; None when there is no copy or no date."""
        entry = self._entries.get(url)
        return None if entry is None else entry.date

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """The archived answer for `url`; archived redirects are followed, `…/index.html` leads to its directory.

        Raises FetchError: NOT_FOUND for what the archive does not hold, NOT_ARCHIVED for a host of which it
        holds nothing, UNSUPPORTED_TYPE for what is no HTML.
        """
        address = canonicalise(url)
        final, passed, status, headers, body = await self._find(address)
        return self._answer(address, final, passed, status, headers, body, etag)

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """As the protocol says, from what the archive holds: its robots.txt, sitemaps, feeds and inventories."""
        from webrag_core.acquisition.sitemaps.reader import read_site_map  # with all that reads maps: only here

        return await read_site_map(url, self._map_file, html=html, absent=absent, brief=brief)

    async def _map_file(self, url: str, kind: FileKind) -> MapBody:
        final, _, status, headers, body = await self._find(canonicalise(url))
        if not 200 <= status < 300:
            raise _refused(status, final)
        media_type = headers.get("content-type", "").split(";", 1)[0].strip().lower()
        if kind == "page" and media_type not in _PAGE_TYPES:
            raise FetchError(Reason.UNSUPPORTED_TYPE, f"{final} is {media_type or 'of unknown type'}, not HTML")
        return MapBody(final, body, media_type, len(body))

    async def _find(self, address: str) -> tuple[str, tuple[str, ...], int, dict[str, str], bytes]:
        """Final URL, URLs passed, status, headers and body for canonical `address`. Raises FetchError."""
        current = address
        passed: list[str] = []
        for _ in range(_MAX_REDIRECTS + 1):
            entry = self._entries.get(current)
            if entry is None:
                onward = self._directory(current)
                if onward is None:
                    raise self._absent(current)
            else:
                status, headers, body = await asyncio.to_thread(self._read, entry)
                if status not in (301, 302, 303, 307, 308) or "location" not in headers:
                    return current, tuple(passed), status, headers, body
                onward = canonicalise(headers["location"], current)
            passed.append(current)
            current = onward
        raise FetchError(Reason.TOO_MANY_REDIRECTS, f"more than {_MAX_REDIRECTS} redirects from {address}")

    @cached_property
    def _hosts(self) -> frozenset[str]:
        return frozenset(urlsplit(url).netloc for url in self._entries)

    def _absent(self, url: str) -> FetchError:
        """Why there is no copy: only of a host that the archive knows a missing page says that it is missing."""
        host = urlsplit(url).netloc
        if host not in self._hosts:
            return FetchError(Reason.NOT_ARCHIVED, f"the frozen site holds nothing of {host}")
        return FetchError(Reason.NOT_FOUND, f"the frozen site does not hold {url}", status=404)

    async def aclose(self) -> None:
        """Nothing is held open between reads."""

    def _directory(self, url: str) -> str | None:
        """How a file server would spell the same page: `/dir/index.html` and `/dir` are `/dir/`."""
        for other in (url.removesuffix("index.html"), url + "/"):
            if other != url and other in self._entries:
                return other
        return None

    def _read(self, entry: _Entry) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and decoded body of one record, which is what was written as one: neither cut nor longer.

        Raises FetchError: BAD_RESPONSE for another record, and when the file changed underneath, TOO_LARGE.
        """
        broken = FetchError(Reason.BAD_RESPONSE, f"{self._path} changed or broke off since it was opened")
        try:
            with self._path.open("rb") as stream:
                stream.seek(entry.offset)
                records = ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False)
                record = next(iter(records), None)  # a StopIteration would never leave the worker thread
                if record is None:
                    raise broken
                block = self._block(record, entry)
            record.set_bytes_content(block)  # unpacked and looked at already: what follows reads no file
            record.parse_http(auto_decode="all")
            if record.http_headers is None:
                raise broken
            headers = {name.lower(): value for name, value in record.http_headers}
            body = record.reader.read(self._max_bytes + 1)
            if len(body) > self._max_bytes:
                raise self._too_large(entry)
            return whole_number(record.http_headers.status_code, 100, 999) or 0, headers, body
        except OSError as error:
            raise broken from error

    def _block(self, record: WarcRecord, entry: _Entry) -> bytes:
        """What the record holds. Raises FetchError for one that is too large, ends early, or runs into the next one."""
        stated = whole_number(record.headers.get("Content-Length") or "", 0, 2**62)
        if stated is None or stated > self._max_bytes + _MAX_HEAD_BYTES:
            raise self._too_large(entry)
        block = record.reader.read(stated + 1)
        if len(block) != stated:
            raise self._refused(entry, f"ends early: {len(block)} of {stated} bytes are there")
        head, _, body = block.partition(b"\r\n\r\n")
        length, is_coded = None, False
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            is_coded = is_coded or name.strip().lower() in (b"transfer-encoding", b"content-encoding")
            if name.strip().lower() == b"content-length":
                length = whole_number(value.decode("latin-1"), 0, 2**62)
        known = _digest(record.headers.get("WARC-Block-Digest"))
        if known is not None:
            if known[1] != base64.b32encode(hashlib.new(known[0], block).digest()).decode():
                raise self._refused(entry, "is not what its digest says")
        elif length is not None and not is_coded and length != len(body):
            raise self._refused(entry, f"holds {len(body)} bytes of a body of {length}")
        return block

    def _refused(self, entry: _Entry, problem: str) -> FetchError:
        return FetchError(Reason.BAD_RESPONSE, f"response {entry.number} of {self._path} {problem}")

    def _too_large(self, entry: _Entry) -> FetchError:
        problem = f"response {entry.number} of {self._path} has more than {self._max_bytes} bytes"
        return FetchError(Reason.TOO_LARGE, problem)

    def _answer(
        self,
        address: str,
        final: str,
        passed: tuple[str, ...],
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        etag: str | None,
    ) -> AcquiredPage:
        if not 200 <= status < 300:
            raise _refused(status, final)
        now = datetime.now(UTC)
        unchanged = etag is not None and headers.get("etag") == etag
        page = AcquiredPage(
            url=address,
            final_url=final,
            status=304 if unchanged else status,
            headers=headers,
            body=b"" if unchanged else body,
            fetched_at=self._entries[final].date or now,
            asked_at=now,
            bytes_raw=0 if unchanged else len(body),
            redirects=passed,
        )
        if page.media_type in XML_TYPES and is_akoma_ntoso(body):
            page = replace(page, headers={**headers, "content-type": AKOMA_NTOSO})
        if not unchanged and page.media_type not in _PAGE_TYPES:
            raise FetchError(Reason.UNSUPPORTED_TYPE, f"{final} is {page.media_type or 'of unknown type'}, not HTML")
        return page


def _digest(text: str | None) -> tuple[str, str] | None:
    """Algorithm and Base32 of a digest; None for one that is missing or written in another way."""
    name, _, value = (text or "").strip().partition(":")
    is_known = name.lower() == "sha1" and len(value) == _BASE32_OF_SHA1
    return ("sha1", value.upper()) if is_known else None


def _refused(status: int, url: str) -> FetchError:
    reason = Reason.NOT_FOUND if status in (404, 410) else Reason.HTTP_STATUS
    return FetchError(reason, f"the frozen site answered {status} for {url}", status=status)
