"""Decide which addresses a model may have fetched: text of a page must not choose the next one.

Before page text goes out in a session, every address comes from the user, and its site counts as chosen. Afterwards a
call may fetch stored and linked pages of stored sites, and plain new paths of sites that a person chose: asked for
before any page text, agreed to, attached, or listed in MCP_ALLOWED_SITES or MCP_ADMITTED_SITES. Everything else is a
doubt, and a person decides. With MCP_CONSENT=new-sites a new site is none, at an address without a query that continues
no page text; with `never` nothing is. Addresses are compared as WHATWG parses them, never as they are spelled.

Limit: on a site that the user chose, a page can ask in words for a new path that holds what the model knows.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from webrag_core.acquisition.urls import canonicalise, source_key
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.mcp_server.session_memory import SessionMemory

Consent = Literal["ask", "new-sites", "never"]

SITE_NOT_ALLOWED = "site_not_allowed"


class Cause(StrEnum):
    """Why a person has to agree to an address, as its description."""

    NEW_SITE = "on a site that is neither stored nor attached"
    NEW_QUERY = "an unknown address with a query"
    RESEMBLES_TEXT = "an unknown address that resembles one in page text"
    UNKNOWN_PAGE = "an unknown page of a stored site"
    WHOLE_SITE = "the start of a site to be kept, all of its pages"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A canonical URL that is fetched only if a person agrees."""

    url: str
    site: str
    cause: Cause


@dataclass(frozen=True, slots=True)
class KnownAddresses:
    """Facts of the corpus about requested URLs: sites with stored pages, attached sites, URLs that are stored, linked
    by a stored page or listed in a site map."""

    stored_sites: Container[str] = ()
    attached_sites: Container[str] = ()
    urls: Container[str] = ()


class AddressGuard:
    """Check requested addresses against the settings, a session and the corpus."""

    def __init__(
        self, allowed_sites: Iterable[str], admitted_sites: Iterable[str] = (), consent: Consent = "ask"
    ) -> None:
        """`allowed_sites` are the only ones (none = any), `admitted_sites` need no consent, as they do not either.

        Raises InvalidInputError for an entry that is neither a host nor host:port.
        """
        self._allowed = frozenset(key for entry in allowed_sites for key in _site_keys("MCP_ALLOWED_SITES", entry))
        admitted = frozenset(key for entry in admitted_sites for key in _site_keys("MCP_ADMITTED_SITES", entry))
        self._admitted = self._allowed | admitted
        self._consent = consent

    def receive(self, urls: Sequence[str], session: SessionMemory) -> None:
        """Take canonical `urls` of a call on its arrival: before page text they are the user's own choice.

        Raises InvalidInputError with code SITE_NOT_ALLOWED for a site that MCP_ALLOWED_SITES leaves out.
        """
        for url in urls:
            if self._allowed and source_key(url) not in self._allowed:
                raise InvalidInputError(
                    f"{source_key(url)} is not among the sites that this server may fetch (MCP_ALLOWED_SITES)",
                    code=SITE_NOT_ALLOWED,
                )
        if not session.text_shown:
            session.choose(urls)

    def doubts(
        self, urls: Sequence[str], session: SessionMemory, known: KnownAddresses, *, attached: bool = False
    ) -> list[Doubt]:
        """Return those of the received `urls` that a person has to agree to; without any, the call is admitted.

        `attached`: their sites are to be. That makes a site one that a person chose, so somebody has to have chosen it.
        """
        if self._consent == "never":
            return []
        causes = [(url, self._cause(url, session, known, attached=attached)) for url in urls]
        return [Doubt(url, source_key(url), cause) for url, cause in causes if cause is not None]

    def _cause(self, url: str, session: SessionMemory, known: KnownAddresses, *, attached: bool) -> Cause | None:
        site = source_key(url)
        is_chosen = site in self._admitted or site in session.chosen_sites or site in known.attached_sites
        if attached and not is_chosen:
            return Cause.WHOLE_SITE
        if not is_chosen and site not in known.stored_sites:
            is_plain = "?" not in url and not session.addresses.resembles(url)
            return None if self._consent == "new-sites" and is_plain else Cause.NEW_SITE
        if url in session.chosen_urls or any(form in known.urls for form in spellings(url)):
            return None
        if "?" in url:
            return Cause.NEW_QUERY
        if session.addresses.resembles(url):
            return Cause.RESEMBLES_TEXT
        return None if is_chosen else Cause.UNKNOWN_PAGE


def spellings(url: str) -> list[str]:
    """Return canonical `url` with either scheme, with and without a final slash: one page to whoever types it."""
    place = url.partition("://")[2]
    places = [place] if "?" in place else [place, place[:-1] if place.endswith("/") else f"{place}/"]
    return [f"{scheme}://{place}" for place in places for scheme in ("https", "http")]


def _site_keys(setting: str, entry: str) -> set[str]:
    """Return the sites that `entry` names: a host on the default ports, or host:port."""
    try:
        urls = {canonicalise(f"{scheme}://{entry}") for scheme in ("https", "http")}
    except FetchError:
        urls = {""}
    if "*" in entry or not all(url and url == f"{url.partition(':')[0]}://{source_key(url)}/" for url in urls):
        raise InvalidInputError(f"{setting}: {entry!r} is neither a host nor host:port")
    return {source_key(url) for url in urls}
