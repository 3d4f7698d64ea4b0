"""Addresses that only a web page has named: a page must not choose what is fetched next."""

from __future__ import annotations

import re
from collections.abc import Iterable

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.ingestion.urls import canonicalise, source_key

NOT_ASKED_FOR = "address_from_a_page"
SITE_NOT_ALLOWED = "site_not_allowed"

_ADDRESS = re.compile(
    r"(?<![\w.@/-])(?:https?:/{1,2})?((?:[\w-]+\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])"
    r"(:\d{1,5})?([/?#][^\s\"'<>`]*)?",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"^https?://")
_END = re.compile(r"[.,;:!?)\]}*_]+$")
_REMEMBERED = 20_000


class Suggested:
    """What pages named in the texts that this server has handed out, and the sites that its callers named first."""

    def __init__(self, settings: Settings) -> None:
        self._allowed = settings.allowed_sites
        self._named: dict[str, None] = {}
        self._asked: set[str] = set()

    def remember(self, texts: Iterable[str]) -> None:
        """Page text goes to a model."""
        for text in texts:
            for match in _ADDRESS.finditer(text):
                place = _END.sub("", f"{match[1].lower()}{match[2] or ''}{match[3] or ''}")
                self._named.pop(place.rstrip("/"), None)
                self._named[place.rstrip("/")] = None
        while len(self._named) > _REMEMBERED:
            del self._named[next(iter(self._named))]

    def check(self, urls: Iterable[str], known_sites: Iterable[str]) -> None:
        """Let only those pass that the user can have meant; `known_sites` are the sources that are stored.

        Raises InvalidInputError with code SITE_NOT_ALLOWED or NOT_ASKED_FOR, FetchError(INVALID_URL).
        """
        asked = [canonicalise(url) for url in urls]
        trusted = {*known_sites, *self._asked}
        for url in asked:
            site = source_key(url)
            if self._allowed and site not in self._allowed and site.partition(":")[0] not in self._allowed:
                raise InvalidInputError(
                    f"{site} is not among the sites that this server may fetch (MCP_ALLOWED_SITES)",
                    code=SITE_NOT_ALLOWED,
                )
            if not self._allowed and site not in trusted and self._is_named(_SCHEME.sub("", url)):
                raise InvalidInputError(
                    f"the address on {site} was named by the text of a web page, not by the user; nothing was fetched",
                    code=NOT_ASKED_FOR,
                )
        self._asked.update(source_key(url) for url in asked)

    def _is_named(self, place: str) -> bool:
        """Whether a page named this place, or what it is the continuation of."""
        host = place.partition("/")[0]
        if host in self._named or host.partition(":")[0] in self._named:
            return True
        return any(place[:end] in self._named for end in range(len(host) + 1, len(place) + 1))
