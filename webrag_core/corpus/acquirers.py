"""Which acquirer fetches pages. Light to import: who only asks what is stored has one as well, and never uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.acquisition.late_acquirer import LateHttpAcquirer
from webrag_core.config import Settings
from webrag_core.corpus.periods import ARCHIVES
from webrag_core.corpus.sources import Source
from webrag_core.plugins import ACQUIRERS
from webrag_core.store.breakers import Breakers
from webrag_core.store.database import Database
from webrag_core.store.leases import HostLeases

if TYPE_CHECKING:
    from webrag_core.acquisition.memento.acquirer import MementoAcquirer
    from webrag_core.acquisition.plugins import Fetching


def make_acquirer(settings: Settings, choice: str | None = None, *, database: Database | None = None) -> Acquirer:
    """Create the configured acquirer: a WARC snapshot when WEBRAG_WARC is set, else the live web.

    `choice`, a source's setting, or WEBRAG_ACQUIRER names it: `http`, or a plugin. Where neither does, the live web is
    fetched through Firecrawl where FIRECRAWL_API_KEY or FIRECRAWL_API_URL is set, with direct HTTP as the fallback.
    With `database` the limits per host hold over all processes that share it, else in this acquirer only. Raises
    InvalidInputError, PluginError; what is wrong with a setting of plain HTTP is raised by the first fetch.
    """
    if settings.webrag_warc is not None:
        from webrag_core.acquisition.warc import WarcAcquirer

        return WarcAcquirer(settings.webrag_warc, max_bytes=settings.webrag_max_body_bytes)
    choice = choice or settings.webrag_acquirer
    if choice is None:
        unset = settings.firecrawl_api_key is None and settings.firecrawl_api_url is None
        choice = "http" if unset else "firecrawl"
    if choice == "http":
        return LateHttpAcquirer(lambda: make_fetching(settings, database).direct)
    from webrag_core.acquisition.plugins import plugin_acquirer

    return plugin_acquirer(choice, make_fetching(settings, database))


@asynccontextmanager
async def acquirer_of(
    source: Source, common: Acquirer, settings: Settings, database: Database
) -> AsyncIterator[Acquirer]:
    """The acquirer that a source asks for, closed afterwards; `common` where it asks for none.

    Raises InvalidInputError for one that cannot be used here.
    """
    if source.acquirer is None:
        yield common
        return
    acquirer_of_source = make_acquirer(settings, source.acquirer, database=database)
    try:
        yield acquirer_of_source
    finally:
        await acquirer_of_source.aclose()


def make_fetching(settings: Settings, database: Database | None, *, leased: bool = True) -> Fetching:
    """What fetches live pages, for plugins too. With `database` failing services are shared over processes, and with
    `leased` the limits per host as well. Raises InvalidInputError."""
    # not for those who only read what is stored: the clients of HTTP take long to load
    from webrag_core.acquisition.gate import NetworkGate
    from webrag_core.acquisition.http import HttpAcquirer
    from webrag_core.acquisition.plugins import Fetching
    from webrag_core.acquisition.politeness import HostQueues
    from webrag_core.acquisition.robots import ObedientGate, Robots

    gate = NetworkGate(settings)
    leases = HostLeases(database) if leased and database is not None else None
    hosts = HostQueues(settings.webrag_host_concurrency, settings.webrag_fetch_timeout, leases=leases)
    robots = Robots(gate, settings.webrag_user_agent) if settings.webrag_obey_robots else None
    polite = gate if robots is None else ObedientGate(settings, robots)
    direct = HttpAcquirer(polite, robots=robots, hosts=hosts, map_seconds=settings.webrag_map_timeout)
    breakers = None if database is None else Breakers.for_settings(database, settings)
    return Fetching(settings, gate, direct, breakers)


def make_memento_acquirer(settings: Settings, database: Database | None = None) -> MementoAcquirer:
    """Create the acquirer of copies in a web archive. Raises InvalidInputError without MEMENTO_TIMEGATE."""
    from webrag_core.acquisition.memento.plugin import make

    return make(make_fetching(settings, database, leased=False))


def same_web(acquirer: str) -> list[str]:
    """Names of the acquirers whose pages are as good as those of `acquirer`: all that fetch the live web, or itself.

    Every plugin but those of archives fetches the live web.
    """
    live = {"http", *ACQUIRERS.names()} - ARCHIVES
    return sorted(live) if acquirer in live else [acquirer]
