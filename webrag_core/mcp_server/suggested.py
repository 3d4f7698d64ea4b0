"""Addresses that only a web page has named: a page must not choose what is fetched next.

What this cannot see: a path of a site that the user chose, made up by the model because a page of that site asked it to
in words. MCP_ALLOWED_SITES keeps models to sites whose owners may know what they are asked.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from webrag_core.acquisition.urls import source_key
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError

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


@dataclass(frozen=True, slots=True)
class Known:
    """What the corpus knows of the URLs that are asked for: their sites that are stored, their sites that stored pages
    link to, and those of the URLs themselves that are stored or linked to."""

    stored_sites: Container[str] = ()
    linked_sites: Container[str] = ()
    urls: Container[str] = ()


class Suggested:
    """What pages named in the texts that this server has handed out, and the sites that its callers named first."""

    def __init__(self, settings: Settings) -> None:
        self._allowed = settings.allowed_sites
        self._named: dict[str, None] = {}  # host, or host and more, without a last slash
        self._hosts: dict[str, None] = {}
        self._shown: dict[str, None] = {}  # sources of responses
        self._asked: set[str] = set()

    def remember(self, texts: Iterable[str], sources: Iterable[str] = ()) -> None:
        """Text of pages goes to a model, with the URLs of these sources."""
        for text in texts:
            for match in _ADDRESS.finditer(text):
                host = match[1].lower()
                _note(self._hosts, host)
                _note(self._named, _END.sub("", f"{host}{match[2] or ''}{match[3] or ''}").rstrip("/"))
        for url in sources:
            place = _SCHEME.sub("", url)
            _note(self._hosts, place.partition("/")[0].partition(":")[0])
            _note(self._shown, place.partition("?")[0])

    def check(self, urls: Sequence[str], known: Known) -> None:
        """Let only those canonical URLs pass that the user can have meant.

        On a site that nobody but a page has named, what that page named is refused. On other sites only what continues
        a named address in a way that no page links to: there a page may have asked for what the model knows.
        Raises InvalidInputError with code SITE_NOT_ALLOWED or NOT_ASKED_FOR.
        """
        for url in urls:
            site = source_key(url)
            place = _SCHEME.sub("", url)
            if self._allowed and site not in self._allowed and site.partition(":")[0] not in self._allowed:
                raise InvalidInputError(
                    f"{site} is not among the sites that this server may fetch (MCP_ALLOWED_SITES)",
                    code=SITE_NOT_ALLOWED,
                )
            if self._allowed or site in known.stored_sites or site in self._asked:
                suspect = url not in known.urls and self._continues(place)
            else:
                suspect = self._is_named(place) or (site not in known.linked_sites and self._varies_a_host(site))
            if suspect:
                raise InvalidInputError(
                    "an address comes from the text of a web page, not from the user; nothing was fetched",
                    code=NOT_ASKED_FOR,
                )
        self._asked.update(source_key(url) for url in urls)

    def _is_named(self, place: str) -> bool:
        """Whether a page named this place, its whole host, or what it is the continuation of."""
        host, _, path = place.partition("/")
        name = host.partition(":")[0]
        bare = host in self._named or name in self._named or (not path and name in self._hosts)
        return bare or place.rstrip("/") in self._named or self._continues(place)

    def _varies_a_host(self, site: str) -> bool:
        """Whether something was put before or behind the name of a host that was named: names are looked up."""
        name = site.partition(":")[0]
        labels = name.split(".")
        above = {".".join(labels[start:]) for start in range(1, len(labels) - 1)}
        beginnings = {name[:end] for end in range(4, len(name)) if "." in name[:end]}
        return not self._hosts.keys().isdisjoint(above | beginnings)

    def _continues(self, place: str) -> bool:
        """Whether a page named a beginning of this place, but not the place; a source with another query counts too.

        A host is the beginning of all its pages: it counts for a query on its front page only.
        """
        if place.rstrip("/") in self._named:
            return False
        host, _, path = place.partition("/")
        if path.startswith("?") and host.partition(":")[0] in self._hosts:
            return True
        if "?" in path and place.partition("?")[0] in self._shown:
            return True
        return any(place[:end] in self._named for end in range(len(host) + 2, len(place)))


def _note(memory: dict[str, None], what: str) -> None:
    memory.pop(what, None)
    memory[what] = None
    if len(memory) > _REMEMBERED:
        del memory[next(iter(memory))]
