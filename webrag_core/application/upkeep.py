"""What a user can do to the corpus: fill it, keep it fresh, and take from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Generic, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, Field

from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.typed_address import typed_address
from webrag_core.acquisition.urls import source_key
from webrag_core.application.inputs import LONGEST, Name, Operation, Url
from webrag_core.application.parameters import SourceParameters
from webrag_core.config import Settings
from webrag_core.config.backups import BackupSettings
from webrag_core.config.fetching import FetchingSettings
from webrag_core.corpus import retention
from webrag_core.corpus.forget import Removal, allow_again
from webrag_core.corpus.refresh import Advance, RefreshReport
from webrag_core.corpus.removal_list import keep_removals
from webrag_core.corpus.sources import (
    Source,
    attach_source,
    detach_source,
    find_source,
    list_sources,
    pause_sources,
    section_at,
    source_name,
    sources_to_refresh,
)
from webrag_core.errors import FetchError, InvalidInputError, Reason
from webrag_core.feedback.removal import remove
from webrag_core.feedback.scrub import ScrubReport, scrub
from webrag_core.indexing.pipeline import AddedDocument
from webrag_core.page_text import one_line
from webrag_core.providers.embedder import embedding_tokens
from webrag_core.retrieval.models import Contract
from webrag_core.store.database import Database

if TYPE_CHECKING:
    from webrag_core.application.services import Services

Result = TypeVar("Result", bound=BaseModel)

Target = Annotated[str, Field(min_length=1, max_length=LONGEST["url"])]
Done = Callable[[str, AddedDocument | FetchError], None]
"""Callback for the result of a page."""


class IngestReport(Contract):
    """What came of the pages. `failed` holds the reason by URL, `warnings` those by URL; `embedded` counts texts, and
    `embedding_tokens` what their endpoint charged for (0 for the local model)."""

    fetched: int = 0
    unchanged: int = 0
    reused: int = 0
    failed: dict[str, str] = Field(default_factory=dict)
    warnings: dict[str, list[str]] = Field(default_factory=dict)
    embedded: int = 0
    embedding_tokens: int = 0
    vector_index: bool = False

    @property
    def requested(self) -> int:
        """How many pages these are."""
        return self.fetched + self.unchanged + self.reused + len(self.failed)

    def add(self, url: str, result: AddedDocument | FetchError) -> None:
        """Count the result of a page."""
        if isinstance(result, FetchError):
            self.failed[url] = result.reason.value
            return
        setattr(self, result.outcome, getattr(self, result.outcome) + 1)
        self.embedded += result.embedded
        if result.warnings:
            self.warnings[url] = list(result.warnings)


class Ingest(Operation):
    """Pages to fetch, store and index. Each fails alone."""

    urls: Annotated[tuple[Url, ...], Field(min_length=1)]
    refresh: Annotated[bool, Field(description="Fetch pages again that are stored already")] = False
    all_text: Annotated[
        bool | None, Field(description="Keep all that the pages show, or their content alone; unset = as their source")
    ] = None
    again: Annotated[bool, Field(description="Also pages that were removed for good: a person wants them back")] = False

    async def run(
        self, services: Services, done: Done | None = None, begun: Callable[[str], None] = lambda url: None
    ) -> IngestReport:
        """Store them, and do what is due after. `begun` gets each URL that is read now, `done` each result. Raises
        EmbeddingError when the model refuses every text."""
        corpus, report = services.corpus, IngestReport()
        if self.again:
            async with corpus.database.connection() as connection:
                was_removed = await allow_again(connection, self.urls)
            if was_removed:
                await keep_removals(corpus.database, services.settings)

        def counted(url: str, result: AddedDocument | FetchError) -> None:
            report.add(url, result)
            if done is not None:
                done(url, result)

        await corpus.add_all(self.urls, counted, begun, refresh=self.refresh, all_text=self.all_text)
        report.vector_index = await corpus.indexer.finish_bulk()
        report.embedding_tokens = embedding_tokens(corpus.embedder)
        return report


class Refreshed(BaseModel):
    """What came of each source."""

    reports: list[RefreshReport]
    embedding_tokens: int


class Refresh(Operation):
    """Sources whose pages are fetched again, all by default. What changed is indexed."""

    sources: Annotated[tuple[Name, ...], Field(description="By key; a host means all of its sections")] = ()
    due: Annotated[bool, Field(description="Only due pages and those that are flagged as changed")] = False
    limit: Annotated[int | None, Field(ge=1, description="Most pages of a source")] = None
    accept: Annotated[bool, Field(description="Take new texts that would be held back, of `sources`")] = False

    def check(self) -> None:
        """Raise InvalidInputError."""
        if self.accept and not self.sources:
            raise InvalidInputError("accept goes with the sources whose new texts are to be taken")

    async def run(
        self,
        services: Services,
        advance: Advance = lambda step: None,
        done: Callable[[RefreshReport], None] = lambda report: None,
    ) -> Refreshed:
        """Refresh one source after the other. `advance` gets each step, `done` each report. Raises NotStoredError
        for a name that no source has."""
        self.check()
        corpus, reports = services.corpus, []
        async with corpus.database.connection() as connection:
            chosen = await sources_to_refresh(connection, self.sources)
        for source in chosen:
            async with corpus.refresher_of(source) as refresher:
                report = await refresher.run(
                    source.key, due_only=self.due, limit=self.limit, accept=self.accept, advance=advance
                )
            reports.append(report)
            done(report)
        await corpus.indexer.finish_bulk()
        return Refreshed(reports=reports, embedding_tokens=embedding_tokens(corpus.embedder))


class Upkeep(Operation, Generic[Result]):
    """An operation that changes what is stored, and fetches nothing."""

    async def change(self, database: Database, settings: Settings) -> Result:
        """Do it, where no more of a corpus is open than its database. Raises a WebragError."""
        raise NotImplementedError

    async def run(self, services: Services) -> Result:
        """Do it. Raises a WebragError."""
        return await self.change(services.corpus.database, services.settings)


class AttachedSource(Contract):
    """A source that is kept. `place` is where its pages lie, `warnings` why its start page may not be reached now."""

    source: str
    pages: int
    seed_url: str
    acquirer: str | None
    all_text: bool
    refresh_hours: float | None
    name: str | None
    owners: list[str]
    place: str
    warnings: list[str]


class AddSource(SourceParameters, Upkeep[AttachedSource]):
    """A section of a site that is kept. Attaching it again replaces what it was."""

    async def change(self, database: Database, settings: Settings) -> AttachedSource:
        """Attach it. Raises FetchError(INVALID_URL), InvalidInputError for an address that is closed and for a source
        that a file declares."""
        url = typed_address(self.url)
        warnings = await closed(url, settings)
        async with database.connection() as connection:
            *_, key = section_at(url, self.prefix)
            before = next(iter(await list_sources(connection, [key])), None)
            await attach_source(
                connection,
                url,
                self.pages,
                prefix=self.prefix,
                acquirer=self.acquirer,
                all_text=self.all_text,
                refresh_hours=self.refresh_hours,
                name=None if self.name is None else one_line(self.name) or None,
                owners=self.owners,
            )
            source = await find_source(connection, key)
        if before is not None and before.attached and (changes := _changes(before, source)):
            warnings.append(f"{key} was attached already, and is now kept otherwise: {changes}")
        await keep_removals(database, settings)  # attaching it allows its pages again
        return AttachedSource(
            source=source.key,
            pages=self.pages,
            seed_url=source.start_url,
            acquirer=source.acquirer,
            all_text=source.all_text,
            refresh_hours=source.refresh_hours,
            name=source.name,
            owners=source.owners,
            place=source.place,
            warnings=warnings,
        )


def _changes(before: Source, now: Source) -> str:
    """What attaching a source again has changed, in words."""
    names = {"page_limit": "page limit", "acquirer": "acquirer", "all_text": "all text", "refresh_hours": "hours"}
    values = ((words, getattr(before, name), getattr(now, name)) for name, words in names.items())
    texts = ((words, *("as the settings say" if value is None else value for value in two)) for words, *two in values)
    return ", ".join(f"{words} {old}, now {new}" for words, old, new in texts if old != new)


class PausedSources(Contract):
    """The keys of sources, and whether refreshes leave them out now."""

    sources: list[str]
    state: Literal["paused", "active"]


class PauseSources(Upkeep[PausedSources]):
    """Sources that schedules and refreshes of all sources leave out, or take in again."""

    source: Annotated[
        Name,
        Field(
            description="Its key; a host means all of its sources. Earlier spelling: `name`",
            validation_alias=AliasChoices("source", "name"),
        ),
    ]
    paused: bool = True

    async def change(self, database: Database, settings: Settings) -> PausedSources:
        """Pause or resume them. Raises NotStoredError where there is none."""
        async with database.connection() as connection:
            keys = await pause_sources(connection, self.source, paused=self.paused)
        return PausedSources(sources=keys, state="paused" if self.paused else "active")


class Forget(Upkeep[Removal]):
    """A page, a source or an answer to remove, with all that was made of it."""

    target: Annotated[Target, Field(description="URL of a page, key of a source, or number of an answer")]
    by: Annotated[Name, Field(description="Who removes it, for the record")]
    dry_run: Annotated[bool, Field(description="Count, remove nothing")] = False

    async def change(self, database: Database, settings: BackupSettings) -> Removal:
        """Remove it. Raises NotStoredError where nothing is stored of it, InvalidInputError for a source that a file
        declares."""
        target = await _meant(database, self.target)
        return await remove(database, settings, target, removed_by=self.by, dry_run=self.dry_run)


class Scrub(Upkeep[ScrubReport]):
    """What was removed, now or before, to be taken off the disk and out of the records of others."""

    target: Annotated[Target | None, Field(description="What to remove first, as of `Forget`; unset = nothing")] = None
    by: Annotated[Name, Field(description="Who removes it, for the record")]
    beside_others: Annotated[
        bool, Field(description="While others use the corpus: readers wait, and what they keep is named as not reached")
    ] = False

    async def change(self, database: Database, settings: Settings) -> ScrubReport:
        """Remove and scrub. Raises as `Forget`, and StoreError (database_busy) while the corpus has other users."""
        target = None if self.target is None else await _meant(database, self.target)
        return await scrub(database, settings, target, removed_by=self.by, beside_others=self.beside_others)


class RemovedSource(Contract):
    """A source that is detached, and the rows that went with it by kind."""

    source: str
    state: Literal["removed"] = "removed"
    removed: dict[str, int]


class RemoveSource(Upkeep[RemovedSource]):
    """A source to detach. Its pages stay, with the source around its section, unless they are to be forgotten."""

    source: Annotated[
        Name,
        Field(
            description="Its key, as the list of sources shows it. Earlier spelling: `key`",
            validation_alias=AliasChoices("source", "key"),
        ),
    ]
    forget: Annotated[bool, Field(description="Remove its pages, too, for good")] = False
    by: Annotated[Name, Field(description="Who removes it, for the record")]

    def removal(self, *, dry_run: bool = False) -> Forget:
        """The removal of its pages."""
        return Forget.of(target=source_name(self.source), by=self.by, dry_run=dry_run)

    async def run(self, services: Services) -> RemovedSource:
        """Detach it, after its reading is stopped. Raises as `change`."""
        await services.sites.stop(source_name(self.source))
        return await super().run(services)

    async def change(self, database: Database, settings: Settings) -> RemovedSource:
        """Detach it. Raises NotStoredError for one that is unknown or not attached, InvalidInputError for one that a
        file declares."""
        name = source_name(self.source)
        if self.forget:
            removal = await self.removal().change(database, settings)
            return RemovedSource(source=name, removed=removal.counts)
        async with database.connection() as connection:
            await detach_source(connection, name)
        return RemovedSource(source=name, removed={})


class Pruned(Contract):
    """Rows by category that are gone, or would be."""

    dry_run: bool
    deleted: dict[str, int]


class Prune(Upkeep[Pruned]):
    """What the settings no longer keep, to be deleted."""

    dry_run: Annotated[bool, Field(description="Count, delete nothing")] = False

    async def change(self, database: Database, settings: Settings) -> Pruned:
        """Delete it."""
        deleted = await retention.prune(database, settings, dry_run=self.dry_run)
        return Pruned(dry_run=self.dry_run, deleted=deleted)


async def _meant(database: Database, target: str) -> str:
    """`target`, or the page that it means where it has no scheme and is no source."""
    if "://" in target or "/" not in target:
        return target
    async with database.connection() as connection:
        try:
            return (await find_source(connection, target)).key
        except InvalidInputError:
            return typed_address(target)


async def closed(url: str, settings: FetchingSettings) -> list[str]:
    """Why the host of an address cannot be reached now. Raises InvalidInputError for an address that the gate refuses,
    FetchError(INVALID_URL)."""
    if settings.webrag_warc is not None:
        return []  # pages come from a file
    try:
        await NetworkGate(settings).admit(url)
    except FetchError as error:
        if error.reason is Reason.BLOCKED_ADDRESS:
            raise InvalidInputError(error.message, code=error.code) from None
        if error.reason is Reason.INVALID_URL:
            raise
        return [f"{source_key(url)}: {error.message}"]
    return []
