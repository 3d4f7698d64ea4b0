"""What a user can do to have the pages of a site read, to see how that goes, and to end it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from webrag_core.acquisition.urls import canonicalise
from webrag_core.application.inputs import MOST_PLACES, Name, Operation, Url
from webrag_core.application.site_runs import SiteReading, SiteRun
from webrag_core.application.upkeep import AddSource
from webrag_core.corpus.source_pages import sources_that_list
from webrag_core.corpus.sources import find_source, source_name
from webrag_core.errors import InvalidInputError
from webrag_core.retrieval.models import Contract

if TYPE_CHECKING:
    from webrag_core.application.services import Services


class AttachSite(AddSource):
    """A section of a site that is kept, and whose pages are read now. The reading goes on when nobody watches it."""

    async def start(self, services: Services) -> SiteRun:
        """Attach it and begin to read. Raises as `AddSource.change`, and BusyError."""
        attached = await self.change(services.corpus.database, services.settings)
        run = services.sites.start(services.corpus, attached.source)
        run.warn(attached.warnings)
        return run


class SourceName(Operation):
    """A source, by its key."""

    source: Annotated[Name, Field(description="Its key, as the list of sources shows it")]

    @property
    def key(self) -> str:
        """The key as keys are spelled."""
        return source_name(self.source)


class ReadSource(SourceName):
    """A source whose pages are read again now. The reading goes on when nobody watches it."""

    async def start(self, services: Services) -> SiteRun:
        """Begin. Raises NotStoredError where there is none, BusyError."""
        async with services.corpus.database.connection() as connection:
            source = await find_source(connection, self.key)
        return services.sites.start(services.corpus, source.key)


class SiteReadings(Contract):
    """How far the readings of several sources are."""

    readings: list[SiteReading]


class ReadPages(Operation):
    """Pages that site maps of stored sources name, as a gap lists them: they are read now, whatever limits the number
    of pages of their sources. The reading goes on when nobody watches it."""

    urls: Annotated[tuple[Url, ...], Field(min_length=1, max_length=MOST_PLACES)]

    async def start(self, services: Services) -> list[SiteRun]:
        """Begin, source by source. Raises InvalidInputError for a page that no site map names, BusyError where one of
        the sources is being read."""
        urls = list(dict.fromkeys(canonicalise(url) for url in self.urls))
        async with services.corpus.database.connection() as connection:
            by_source = await sources_that_list(connection, urls)
        unlisted = set(urls).difference(*by_source.values())
        if unlisted:
            raise InvalidInputError(
                f"no site map names {min(unlisted)}: `webrag ingest` stores any page, attaching a site all of its pages"
            )
        return services.sites.start_pages(services.corpus, by_source)

    async def run(self, services: Services) -> SiteReadings:
        """Begin. Raises as `start`."""
        return SiteReadings(readings=[run.reading for run in await self.start(services)])


class SourceProgress(SourceName):
    """How far the reading of a source is that this process reads, or read last."""

    async def run(self, services: Services) -> SiteReading:
        """Say so. Raises NotStoredError where it was not read."""
        return services.sites.the(self.key).reading


class StopReading(SourceName):
    """A source whose reading is to end. What is stored stays, and can be searched."""

    async def run(self, services: Services) -> SiteReading:
        """Stop it and wait for the end. Raises NotStoredError where it is not read."""
        return await services.sites.stop(self.key) or services.sites.the(self.key).reading
