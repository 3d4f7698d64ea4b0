"""The `warc` acquirer: replays a frozen site under its real URLs, without any network."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.legal_xml import AKOMA_NTOSO, XML_TYPES, is_akoma_ntoso
from webrag_core.acquisition.sitemaps.models import FileKind, MapBody, SiteMap
from webrag_core.acquisition.sitemaps.reader import read_site_map
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError, InvalidInputError, Reason

_MAX_REDIRECTS = 5
_PAGE_TYPES = ("text/html", "application/xhtml+xml", AKOMA_NTOSO)


@dataclass(frozen=True, slots=True)
class _Entry:
    offset: int
    media_type: str
    date: datetime | None


@lru_cache(maxsize=8)
def _index(path: Path, inode: int, size: int, modified: int) -> Mapping[str, _Entry]:
    """Read where each response lies, once for a file that stays as it is: a site takes a tenth of a second."""
    entries: dict[str, _Entry] = {}
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
            if record.http_headers is None:
                continue
            try:
                url = canonicalise((record.headers.get("WARC-Target-URI") or "").strip("<>"))
            except FetchError:  # a crawler's own record, such as dns:…
                continue
            media_type = (record.http_content_type or "").lower()
            entries.setdefault(url, _Entry(record.stream_pos, media_type, _date(record.headers.get("WARC-Date"))))
    return entries


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

    def __init__(self, path: Path) -> None:
        """Index the file. Raises InvalidInputError when it is missing or holds no response."""
        self._path = path
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

        Raises FetchError(NOT_FOUND) for what the archive does not hold, UNSUPPORTED_TYPE for what is no HTML.
        """
        asked = canonicalise(url)
        final, passed, status, headers, body = await self._find(asked)
        return self._answer(asked, final, passed, status, headers, body, etag)

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """As the protocol says, from what the archive holds: its robots.txt, sitemaps, feeds and inventories."""
        return await read_site_map(url, self._map_file, html=html, absent=absent, brief=brief)

    async def _map_file(self, url: str, kind: FileKind) -> MapBody:
        final, _, status, headers, body = await self._find(canonicalise(url))
        if not 200 <= status < 300:
            raise _refused(status, final)
        media_type = headers.get("content-type", "").split(";", 1)[0].strip().lower()
        if kind == "page" and media_type not in _PAGE_TYPES:
            raise FetchError(Reason.UNSUPPORTED_TYPE, f"{final} is {media_type or 'of unknown type'}, not HTML")
        return MapBody(final, body, media_type, len(body))

    async def _find(self, asked: str) -> tuple[str, tuple[str, ...], int, dict[str, str], bytes]:
        """Final URL, URLs passed, status, headers and body for canonical `asked`. Raises FetchError."""
        current = asked
        passed: list[str] = []
        for _ in range(_MAX_REDIRECTS + 1):
            entry = self._entries.get(current)
            if entry is None:
                onward = self._directory(current)
                if onward is None:
                    raise FetchError(Reason.NOT_FOUND, f"the frozen site does not hold {current}", status=404)
            else:
                status, headers, body = await asyncio.to_thread(self._read, entry)
                if status not in (301, 302, 303, 307, 308) or "location" not in headers:
                    return current, tuple(passed), status, headers, body
                onward = canonicalise(headers["location"], current)
            passed.append(current)
            current = onward
        raise FetchError(Reason.TOO_MANY_REDIRECTS, f"more than {_MAX_REDIRECTS} redirects from {asked}")

    async def aclose(self) -> None:
        """Nothing is held open between reads."""

    def _directory(self, url: str) -> str | None:
        """How a file server would spell the same page: `/dir/index.html` and `/dir` are `/dir/`."""
        for other in (url.removesuffix("index.html"), url + "/"):
            if other != url and other in self._entries:
                return other
        return None

    def _read(self, entry: _Entry) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and decoded body of one record. Raises FetchError when the file changed underneath."""
        broken = FetchError(Reason.BAD_RESPONSE, f"{self._path} changed or broke off since it was opened")
        try:
            with self._path.open("rb") as stream:
                stream.seek(entry.offset)
                records = ArchiveIterator(stream, record_types=WarcRecordType.response, auto_decode="all")
                record = next(iter(records), None)  # a StopIteration would never leave the worker thread
                if record is None or record.http_headers is None:
                    raise broken
                headers = {name.lower(): value for name, value in record.http_headers}
                return int(record.http_headers.status_code or 0), headers, record.reader.read()
        except OSError as error:
            raise broken from error

    def _answer(
        self,
        asked: str,
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
            url=asked,
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


def _refused(status: int, url: str) -> FetchError:
    reason = Reason.NOT_FOUND if status in (404, 410) else Reason.HTTP_STATUS
    return FetchError(reason, f"the frozen site answered {status} for {url}", status=status)
