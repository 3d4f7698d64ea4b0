"""Refuse addresses that appear only in page text: a page must not choose the next fetch.

Limit: a page can still ask the model in words to construct a path on the page's own site. MCP_ALLOWED_SITES restricts
fetching to trusted sites.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from webrag_core.acquisition.urls import source_key
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError

ADDRESS_FROM_PAGE = "address_from_a_page"
SITE_NOT_ALLOWED = "site_not_allowed"

_ADDRESS = re.compile(
    r"(?<![\w.@/-])(?:https?:/{1,2})?((?:[\w-]+\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])"
    r"(:\d{1,5})?([/?#][^\s\"'<>`]*)?",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"^https?://")
_END = re.compile(r"[.,;:!?)\]}*_]+$")
_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class KnownAddresses:
    """Facts from the corpus about requested URLs: stored sites, linked sites, stored or linked URLs."""

    stored_sites: Container[str] = ()
    linked_sites: Container[str] = ()
    urls: Container[str] = ()


class AddressGuard:
    """Addresses in page text returned by this server, and sites requested by its callers."""

    def __init__(self, settings: Settings) -> None:
        self._allowed = settings.allowed_sites
        self._named: dict[str, None] = {}  # host, or host and path, without a trailing slash
        self._hosts: dict[str, None] = {}
        self._shown: dict[str, None] = {}  # sources of responses
        self._requested: set[str] = set()

    def remember(self, texts: Iterable[str], sources: Iterable[str] = ()) -> None:
        """Record addresses of page text that goes to a model, and its source URLs."""
        for text in texts:
            for match in _ADDRESS.finditer(text):
                host = match[1].lower()
                _note(self._hosts, host)
                _note(self._named, _END.sub("", f"{host}{match[2] or ''}{match[3] or ''}").rstrip("/"))
        for url in sources:
            place = _SCHEME.sub("", url)
            _note(self._hosts, place.partition("/")[0].partition(":")[0])
            _note(self._shown, place.partition("?")[0])

    def check(self, urls: Sequence[str], known: KnownAddresses) -> None:
        """Check that canonical `urls` do not come from page text.

        On a site mentioned only by pages, every address from page text is refused. On other sites only an unlinked
        continuation of such an address is: it may carry data out.
        Raises InvalidInputError with code SITE_NOT_ALLOWED or ADDRESS_FROM_PAGE.
        """
        for url in urls:
            site = source_key(url)
            place = _SCHEME.sub("", url)
            if self._allowed and site not in self._allowed and site.partition(":")[0] not in self._allowed:
                raise InvalidInputError(
                    f"{site} is not among the sites that this server may fetch (MCP_ALLOWED_SITES)",
                    code=SITE_NOT_ALLOWED,
                )
            if self._allowed or site in known.stored_sites or site in self._requested:
                suspect = url not in known.urls and self._continues(place)
            else:
                suspect = self._is_named(place) or (site not in known.linked_sites and self._varies_a_host(site))
            if suspect:
                raise InvalidInputError(
                    "an address comes from the text of a web page, not from the user; nothing was fetched",
                    code=ADDRESS_FROM_PAGE,
                )
        self._requested.update(source_key(url) for url in urls)

    def _is_named(self, place: str) -> bool:
        """True when page text contains this address, its bare host, or a prefix of it."""
        host, _, path = place.partition("/")
        name = host.partition(":")[0]
        bare = host in self._named or name in self._named or (not path and name in self._hosts)
        return bare or place.rstrip("/") in self._named or self._continues(place)

    def _varies_a_host(self, site: str) -> bool:
        """True for a subdomain or an extension of a host in page text: a DNS lookup can carry data out."""
        name = site.partition(":")[0]
        labels = name.split(".")
        above = {".".join(labels[start:]) for start in range(1, len(labels) - 1)}
        beginnings = {name[:end] for end in range(4, len(name)) if "." in name[:end]}
        return not self._hosts.keys().isdisjoint(above | beginnings)

    def _continues(self, place: str) -> bool:
        """True when page text contains a prefix of this address but not the address, or for a source's new query.

        A bare host counts as a prefix only for a query on its front page.
        """
        if place.rstrip("/") in self._named:
            return False
        host, _, path = place.partition("/")
        if path.startswith("?") and host.partition(":")[0] in self._hosts:
            return True
        if "?" in path and place.partition("?")[0] in self._shown:
            return True
        return any(place[:end] in self._named for end in range(len(host) + 2, len(place)))


def _note(memory: dict[str, None], entry: str) -> None:
    memory.pop(entry, None)
    memory[entry] = None
    if len(memory) > _REMEMBERED:
        del memory[next(iter(memory))]
