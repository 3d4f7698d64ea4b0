"""Acquirers that are plugins: what one is made of, and what holds for those of other packages."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace

from webrag_core.acquisition.acquirer import AcquiredPage, Acquirer
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.sitemaps.models import SiteMap
from webrag_core.acquisition.urls import canonicalise
from webrag_core.config import Settings
from webrag_core.errors import FetchError, InvalidInputError, Reason, WebragError
from webrag_core.plugins import ACQUIRERS, Plugin
from webrag_core.result_warnings import Caution
from webrag_core.store.breakers import Breakers


@dataclass(frozen=True, slots=True)
class Fetching:
    """What a plugin of the group `webrag.acquirers` is called with; it returns an `Acquirer`.

    `direct` fetches pages as the acquirer `http` does: public addresses, robots.txt, the pace of each host, limits of
    size and time. `gate` is beneath it and checks addresses alone. `breakers` is None without a database.
    """

    settings: Settings
    gate: NetworkGate
    direct: HttpAcquirer
    breakers: Breakers | None = None


def plugin_acquirer(name: str, fetching: Fetching) -> Acquirer:
    """The acquirer of the plugin `name`. Raises InvalidInputError for an unknown name, PluginError for a plugin that
    cannot be used, and what the plugin raises of ours."""
    plugin = ACQUIRERS.find(name)
    acquirer = plugin.make(fetching)
    if not isinstance(acquirer, Acquirer):
        raise plugin.broken("makes no Acquirer")
    if acquirer.name != name:
        raise plugin.broken(f"makes an acquirer that calls itself {acquirer.name!r}: pages are stored with that name")
    return acquirer if plugin.is_ours else GuardedAcquirer(plugin, acquirer, fetching)


class GuardedAcquirer:
    """An acquirer of another package, of the live web. Implements `Acquirer`.

    Addresses pass the gate and robots.txt before the plugin gets them, and again where the page came from another one.
    What it returns is checked, and what it raises costs a page and not the run.
    """

    frozen = False

    def __init__(self, plugin: Plugin, acquirer: Acquirer, fetching: Fetching) -> None:
        self.name = acquirer.name
        self.metered = bool(acquirer.metered)
        self._plugin = plugin
        self._acquirer = acquirer
        self._direct = fetching.direct
        self._seconds = fetching.settings.webrag_fetch_timeout
        self._max_bytes = fetching.settings.webrag_max_body_bytes

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> AcquiredPage:
        """See `Acquirer`. Raises FetchError: PROVIDER_FAILED for an error of the plugin, and for what is no page."""
        if not url.strip():
            raise InvalidInputError("no URL given")
        canonical = await self._admit(url)
        page = await self._plugin.answer(self._acquirer.fetch(canonical, etag=etag, last_modified=last_modified))
        return await self._checked(canonical, page)

    async def site_map(
        self, url: str, *, html: str | None = None, absent: Collection[str] = (), brief: bool = False
    ) -> SiteMap:
        """See `Acquirer`. Its pages pass the gate when they are fetched. A map that fails is empty, with a warning."""
        canonical = canonicalise(url)
        try:
            admitted = await self._admit(canonical)
            result = await self._plugin.answer(self._acquirer.site_map(admitted, html=html, absent=absent, brief=brief))
            if not isinstance(result, SiteMap):
                raise self._plugin.unusable("gives no SiteMap")
            return result
        except WebragError as error:
            return SiteMap(warnings=(Caution.on(canonical, error.message),))

    async def aclose(self) -> None:
        """As the acquirer beneath, then what fetches for it."""
        try:
            await self._acquirer.aclose()
        finally:
            await self._direct.aclose()

    async def _admit(self, url: str) -> str:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._direct.admit(url)
        except TimeoutError:
            raise FetchError(Reason.DNS_FAILURE, "the host name could not be looked up in time") from None

    async def _checked(self, canonical: str, page: object) -> AcquiredPage:
        if not isinstance(page, AcquiredPage) or not isinstance(page.body, bytes):
            raise self._plugin.unusable("gives no AcquiredPage with a body of bytes")
        if not (200 <= page.status < 300 or page.status == 304):
            raise self._plugin.unusable(f"gives a page with status {page.status}")
        if page.fetched_at.tzinfo is None:
            raise self._plugin.unusable("gives a page whose time has no zone")
        if page.acquirer not in (None, self.name, self._direct.name):
            raise self._plugin.unusable(f"gives a page in the name of {page.acquirer!r}")
        if len(page.body) > self._max_bytes:
            raise FetchError(Reason.TOO_LARGE, f"the page has more than {self._max_bytes} bytes")
        final = canonicalise(page.final_url)
        if final != canonical:
            final = await self._admit(final)
        return replace(
            page,
            url=canonical,
            final_url=final,
            headers={name.lower(): value for name, value in page.headers.items()},
            redirects=tuple(map(canonicalise, page.redirects)) or (() if final == canonical else (canonical,)),
            asked_at=None,
        )
