"""Fetch, store and index pages in one call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from webrag_core.config import Settings
from webrag_core.corpus.page_batches import CONCURRENT_PAGES, gather_bounded
from webrag_core.corpus.unforeseen import contained
from webrag_core.errors import FetchError
from webrag_core.gathering import Gathering
from webrag_core.result_warnings import Caution

# whoever only searches waits for none of these: half of the time that an import of this module took
if TYPE_CHECKING:
    from webrag_core.acquisition.acquirer import Acquirer
    from webrag_core.acquisition.git_folder import FileHistory
    from webrag_core.corpus.brake import Brake
    from webrag_core.corpus.documents import StoredPage
    from webrag_core.corpus.histories import HistoryIngestor, HistoryOutcome
    from webrag_core.corpus.ingestor import Ingestor, IngestOutcome
    from webrag_core.corpus.new_documents import NewDocument
    from webrag_core.corpus.refresh import SourceRefresh
    from webrag_core.corpus.sources import Source
    from webrag_core.corpus.unchanged import UnchangedPage
    from webrag_core.indexing.indexer import Indexer, IndexOutcome
    from webrag_core.providers.embedder import Embedder
    from webrag_core.store.database import Database

_TOGETHER = 96  # pages that are looked up, or found to be unchanged, by one statement
_LOOK_UP_WAIT_S = 0.01  # pages that begin together come at once
_RECORD_WAIT_S = 1.0  # a site that is far away sends few answers at a time
_NEW_WAIT_S = 0.5  # beside a page that its site keeps waiting


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """A searchable page. `embedded` counts texts sent to the model; `waiting` those that are searched by words only
    until its endpoint works again, which `warnings` says too."""

    url: str
    document_id: int
    version_id: int
    outcome: Literal["fetched", "unchanged", "reused"]
    embedded: int
    warnings: tuple[Caution, ...] = ()
    waiting: int = 0


class BulkAdd(Protocol):
    """Adds one page of many; `begun` gets its URL when it is read."""

    def __call__(
        self,
        url: str,
        run_id: str | None,
        refresh: bool,
        brake: Brake | None,
        begun: Callable[[str], None] = ...,
    ) -> Awaitable[AddedDocument]: ...


class Corpus:
    """An open corpus: database, acquirer and embedding model (default: from the settings)."""

    def __init__(
        self, database: Database, acquirer: Acquirer, settings: Settings, embedder: Embedder | None = None
    ) -> None:
        from webrag_core.indexing.embedding_models import LiveModel
        from webrag_core.providers.chat import ChatEndpoints
        from webrag_core.providers.embedder import make_embedder
        from webrag_core.providers.rerankers.memory import RankingMemory
        from webrag_core.store.breakers import Breakers

        self.database = database
        self.settings = settings
        self.breakers = Breakers.for_settings(database, settings)
        self.rankings = RankingMemory()
        self.chats = ChatEndpoints(settings, self.breakers)
        self.embedder = embedder or make_embedder(settings, self.breakers)
        self.acquirer = acquirer
        self._model = LiveModel(database, self.embedder.identity)

    @cached_property
    def ingestor(self) -> Ingestor:
        """Fetches and stores pages."""
        from webrag_core.corpus.ingestor import Ingestor

        return Ingestor(self.database, self.acquirer, self.settings)

    @cached_property
    def indexer(self) -> Indexer:
        """Indexes what is stored."""
        from webrag_core.indexing.indexer import Indexer

        return Indexer(self.database, self.embedder, self.settings, self._model)

    async def model_id(self) -> int:
        """Id of the live embedding model. Raises StoreError when the corpus was indexed with another one."""
        return await self._model.id()

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, acquirer: Acquirer | None = None) -> AsyncIterator[Corpus]:
        """Open the corpus; close its resources on exit. Raises StoreError, InvalidInputError."""
        from webrag_core.providers.embedder import make_embedder
        from webrag_core.store.breakers import Breakers
        from webrag_core.store.database import Database

        async with AsyncExitStack() as stack:
            if acquirer is not None:
                stack.push_async_callback(acquirer.aclose)
            database = await stack.enter_async_context(await Database.open(settings))
            embedder = make_embedder(settings, Breakers.for_settings(database, settings))
            stack.push_async_callback(embedder.aclose)
            if acquirer is None:
                from webrag_core.corpus.acquirers import make_acquirer

                acquirer = make_acquirer(settings, database=database)
                stack.push_async_callback(acquirer.aclose)
            stack.push_async_callback(database.spending.flush, database.transaction)
            yield cls(database, acquirer, settings, embedder)

    async def add(
        self, url: str, *, run_id: str | None = None, refresh: bool = False, max_age: float | None = None
    ) -> AddedDocument:
        """Fetch (unless fresh), store and index one page. `max_age` in seconds replaces WEBRAG_MAX_AGE.

        Where a page that is only older than that cannot be fetched, its stored text is used, with a warning. Raises
        FetchError with the reason recorded. A page confirmed gone is removed from the index.
        """
        try:
            page = await self._store(url, run_id=run_id, refresh=refresh, max_age=max_age)
        except FetchError as error:
            stored = None if refresh else await self.ingestor.in_place_of(url, error)
            if stored is None:
                raise
            page = stored
        return await self._index(page)

    async def add_all(
        self,
        urls: Iterable[str],
        done: Callable[[str, AddedDocument | FetchError], None],
        begun: Callable[[str], None] = lambda url: None,
        *,
        refresh: bool = False,
        all_text: bool | None = None,
    ) -> None:
        """Add pages, several at a time; pass each URL to `begun` when it is read, and each result to `done` in order of
        completion. `all_text` as in `Ingestor`.

        A page costs itself alone where it cannot be fetched. One whose vectors cannot be had for now is searched by
        words, with a warning, until it is added again or `Indexer.finish_bulk` embeds its texts. Raises EmbeddingError
        when the model refuses the key, the address or every text.
        """
        bulk = self._bulk(all_text=all_text)

        async def add(url: str) -> AddedDocument:
            return await bulk(url, None, refresh, None, begun)

        await gather_bounded(urls, add, done, pages=self._pages_in_progress)

    @property
    def _pages_in_progress(self) -> int:
        """Pages of a bulk: more than those that are worked on, so that what is written for several at a time fills."""
        return max(self.indexer.pages_at_once, 2 * _TOGETHER)

    def _bulk(self, *, all_text: bool | None = None) -> BulkAdd:
        """`add` for many pages: few are fetched at a time, and more wait for full requests to the model. What is known
        of pages is read, and that they are unchanged or new is written, for several of them at a time."""
        from webrag_core.indexing.indexer import NEW_TOGETHER

        at_work, fetching = asyncio.Semaphore(self.indexer.pages_at_once), asyncio.Semaphore(CONCURRENT_PAGES)
        look_ups = Gathering(self.ingestor.look_up, _TOGETHER, _LOOK_UP_WAIT_S)
        unchanged = Gathering(self.ingestor.record_unchanged, _TOGETHER, _RECORD_WAIT_S)
        settled = Gathering(self._settled, _TOGETHER, _LOOK_UP_WAIT_S)
        store = Gathering(self.ingestor.store_new, NEW_TOGETHER, _NEW_WAIT_S)
        new = Gathering(self.indexer.index_new, NEW_TOGETHER, _NEW_WAIT_S)

        async def add(
            url: str,
            run_id: str | None,
            refresh: bool,
            brake: Brake | None,
            begun: Callable[[str], None] = lambda url: None,
        ) -> AddedDocument:
            # none that is asynchronous: these cost an unchanged page as much as the request for it
            with ExitStack() as asking, ExitStack() as work, ExitStack() as storing, ExitStack() as fetch:
                asking.enter_context(unchanged.expected())
                stored_page = await look_ups.of(url)
                await at_work.acquire()
                work.callback(at_work.release)
                work.enter_context(self.indexer.in_progress())
                work.enter_context(new.expected())
                storing.enter_context(store.expected())
                await fetching.acquire()
                fetch.callback(fetching.release)
                begun(url)

                async def record(page: UnchangedPage) -> None:
                    for stack in (fetch, storing, work):  # other pages are read while this one waits for its like
                        stack.close()
                    await unchanged.of(page)

                async def keep(page: NewDocument) -> tuple[int, int] | None:
                    fetch.close()
                    return await store.of(page)

                page = await self._store(
                    url,
                    run_id=run_id,
                    refresh=refresh,
                    brake=brake,
                    all_text=all_text,
                    stored_page=stored_page,
                    record=record,
                    store=keep,
                )
                for stack in (fetch, storing, asking):
                    stack.close()
                return await self._index(page, patient=True, settled=settled.of, new=new.of)

        return add

    async def _settled(self, versions: Sequence[int]) -> list[IndexOutcome | None]:
        """For each version its outcome where its index needs nothing, else None."""
        settled = await self.indexer.settled(versions)
        return [settled.get(version) for version in versions]

    async def _store(
        self,
        url: str,
        *,
        run_id: str | None,
        refresh: bool,
        max_age: float | None = None,
        brake: Brake | None = None,
        all_text: bool | None = None,
        stored_page: StoredPage | None = None,
        record: Callable[[UnchangedPage], Awaitable[None]] | None = None,
        store: Callable[[NewDocument], Awaitable[tuple[int, int] | None]] | None = None,
    ) -> IngestOutcome:
        try:
            return await self.ingestor.ingest(
                url,
                run_id=run_id,
                refresh=refresh,
                max_age=max_age,
                brake=brake,
                all_text=all_text,
                stored_page=stored_page,
                record=record,
                store=store,
            )
        except FetchError as error:
            from webrag_core.acquisition.urls import canonicalise
            from webrag_core.corpus.documents import ABSENT

            if error.reason in ABSENT:
                await self.indexer.retire(canonicalise(url))
            raise

    async def _index(
        self,
        page: IngestOutcome,
        *,
        patient: bool = False,
        settled: Callable[[int], Awaitable[IndexOutcome | None]] | None = None,
        new: Callable[[int], Awaitable[IndexOutcome | None]] | None = None,
    ) -> AddedDocument:
        """Index a page. `settled` tells for several pages at a time which need nothing, `new` indexes several that the
        index does not have."""
        with contained(page.url):
            outcome: IndexOutcome | None = None
            if page.outcome != "fetched":
                outcome = await settled(page.version_id) if settled else (await self._settled([page.version_id]))[0]
            elif new is not None:
                outcome = await new(page.version_id)
            indexed = outcome or await self.indexer.index(page.version_id, patient=patient)
        warnings = list(page.warnings)
        if indexed.waiting:
            result = f"{indexed.waiting} passages are searched by words only until the embedding model works again"
            warnings.append(Caution.on(page.url, f"{result}: {indexed.reason}"))
        if indexed.refused:
            result = f"{indexed.refused} passages are searched by words only, since the embedding model refuses them"
            warnings.append(Caution.on(page.url, f"{result}: {indexed.reason}"))
        return AddedDocument(
            page.url,
            page.document_id,
            page.version_id,
            page.outcome,
            indexed.embedded,
            tuple(warnings),
            indexed.waiting,
        )

    async def add_history(self, histories: HistoryIngestor, file: FileHistory) -> HistoryOutcome:
        """Store all versions of a file under git, and index what it is at the end. Raises as `HistoryIngestor`."""
        stored = await histories.ingest(file)
        if stored.version_id is None:
            await self.indexer.retire_ended(stored.url, stored.document_id)
        else:
            await self.indexer.index(stored.version_id)
        return stored

    def refresher(self) -> SourceRefresh:
        """Return a refresher that also indexes changed pages."""
        from webrag_core.corpus.refresh import SourceRefresh

        bulk = self._bulk()
        return SourceRefresh(
            self.database,
            self.acquirer,
            self.settings,
            lambda url, run_id, brake: bulk(url, run_id, True, brake),
            pages=self._pages_in_progress,
        )

    @asynccontextmanager
    async def refresher_of(self, source: Source) -> AsyncIterator[SourceRefresh]:
        """A refresher that fetches with the acquirer that the source asks for. Raises InvalidInputError."""
        from webrag_core.corpus.acquirers import acquirer_of

        async with acquirer_of(source, self.acquirer, self.settings, self.database) as acquirer:
            if acquirer is self.acquirer:
                yield self.refresher()
            else:
                yield Corpus(self.database, acquirer, self.settings, self.embedder).refresher()
