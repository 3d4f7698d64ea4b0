"""Copies of a page in a web archive, by RFC 7089 (Memento): the one nearest to a date, and the list of all of them.

The archive is asked through the acquirer of live pages, so through the network gate, robots.txt and the host's queue.
Not exercised against a public archive: its protocol is spoken to local servers in the tests.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from urllib.parse import urljoin

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.acquisition.dates import parse_date
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.acquisition.urls import canonicalise
from webrag_core.errors import FetchError, Reason
from webrag_core.store.breakers import Breaker

# a link of RFC 8288: its target, then parameters
_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^\s",;]*))?)*)')
_PARAMETER = re.compile(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]*))')
_REWRITTEN = re.compile(r"(/\d{14})(/https?:/)")  # a copy with the archive's own links, as Wayback and pywb name it
_AS_ARCHIVED = re.compile(r"(/\d{14})id_(/https?:/)")  # and without them
_MOST_LISTED = 20_000
_OUR_RULES = frozenset({Reason.INVALID_URL, Reason.BLOCKED_ADDRESS, Reason.ROBOTS_DISALLOWED, Reason.CRAWLER_TRAP})
_AS_ORIGINAL = {"prefer": "original-content, original-links"}


@dataclass(frozen=True, slots=True)
class Memento:
    """A copy that an archive lists, and when it was made."""

    url: str
    at: datetime


class MementoAcquirer:
    """Fetches pages as an archive has them, nearest to `at`, which its user sets. Implements `Acquirer`; what it
    brings is from the time of the copy."""

    name = "memento"
    frozen = False
    metered = False

    def __init__(self, http: HttpAcquirer, timegate: str, breaker: Breaker | None = None) -> None:
        """`timegate` is the beginning of the TimeGate's addresses: the page's own follows. `at` is now at first."""
        self._http = http
        self._breaker = breaker
        self._timegate = timegate.rstrip("/") + "/"
        self.at = datetime.now(UTC)

    def nearest_to(self, at: datetime) -> MementoAcquirer:
        """The same archive, over the same connections, asked for another time: for who asks for several at once."""
        other = MementoAcquirer(self._http, self._timegate, self._breaker)
        other.at = at
        return other

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """The copy of `url` nearest to `at`, with its own date and under the page's address.

        Raises FetchError: PROVIDER_FAILED when the archive has none or does not answer, BAD_RESPONSE for a copy
        without a date; otherwise as of live pages.
        """
        address = canonicalise(url)
        when = {"accept-datetime": format_datetime(self.at, usegmt=True)}
        gate = canonicalise(self._timegate + address)
        copy = await self._ask(self._timegate + address, when | _AS_ORIGINAL)
        original = _REWRITTEN.sub(r"\1id_\2", copy.final_url)
        if original != copy.final_url:
            copy = await self._ask(original, _AS_ORIGINAL)
        made = parse_date(copy.headers.get("memento-datetime", ""))
        if made is None:
            raise FetchError(Reason.BAD_RESPONSE, f"the archive's copy of {address} says no date (Memento-Datetime)")
        headers = {name: value for name, value in copy.headers.items() if name not in ("etag", "last-modified")}
        return replace(
            copy,
            url=address,
            final_url=address,
            redirects=(),
            headers=headers,
            fetched_at=made,
            asked_at=copy.fetched_at,
            # a gate that answers by itself names no copy
            archive_url=None if copy.final_url == gate else _AS_ARCHIVED.sub(r"\1\2", copy.final_url),
        )

    async def copies(self, url: str) -> list[Memento]:
        """All copies of `url` that the archive lists (its TimeMap), by date, one for each; at most 20,000.

        Raises FetchError as `fetch`, and BAD_RESPONSE for an archive that names no list.
        """
        address = canonicalise(url)
        gate = await self._ask(self._timegate + address, {})
        maps = [urljoin(gate.final_url, to) for to, rel, _ in _links(gate.headers.get("link", "")) if "timemap" in rel]
        if not maps:
            raise FetchError(Reason.BAD_RESPONSE, f"the archive names no list of the copies of {address} (TimeMap)")
        listing = await self._http.text_file(maps[0])
        copies: dict[datetime, Memento] = {}
        for target, relation, date in _links(listing):
            made = parse_date(date)
            if "memento" in relation and made is not None and len(copies) < _MOST_LISTED:
                copies.setdefault(made, Memento(urljoin(maps[0], target), made))
        return [copies[made] for made in sorted(copies)]

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """An archive has no map of a site as it was."""
        return SiteMap()

    async def aclose(self) -> None:
        """As the acquirer beneath."""
        await self._http.aclose()

    async def _alive(self) -> None:
        if self._breaker is not None:
            await self._breaker.succeeded()

    async def _ask(self, url: str, headers: dict[str, str]) -> AcquiredPage:
        if self._breaker is not None and (retry_at := await self._breaker.closed_until()) is not None:
            error = FetchError(Reason.PROVIDER_FAILED, f"the archive is {self._breaker.refusal(retry_at)}")
            error.retry_at = retry_at
            raise error
        try:
            page = await self._http.fetch(url, headers=headers)
            await self._alive()
            return page
        except FetchError as error:
            if self._breaker is not None and _was_asked(error):
                await (self._breaker.failed(error.reason.value) if error.transient else self._alive())
            if error.reason not in (Reason.NOT_FOUND, Reason.HTTP_STATUS):
                raise
            problem = "has no copy" if error.reason is Reason.NOT_FOUND else f"answered with status {error.status}"
            raise FetchError(Reason.PROVIDER_FAILED, f"the archive {problem}: {url}", status=error.status) from error


def _was_asked(error: FetchError) -> bool:
    """False where the request never left: our own rules or the host's queue held it back."""
    held_back = error.reason is Reason.RATE_LIMITED and error.status is None
    return error.reason not in _OUR_RULES and not held_back


def _links(text: str) -> list[tuple[str, list[str], str]]:
    """(target, relations, datetime) of links in a header or in `application/link-format`."""
    links = []
    for link in _LINK.finditer(text):
        parameters = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(link[2])}
        links.append((link[1].strip(), parameters.get("rel", "").lower().split(), parameters.get("datetime", "")))
    return links
