"""The library without `async`: for scripts and notebooks, also where an event loop runs already.

    from webrag_core import WebRAG

    with WebRAG() as rag:
        answer = rag.ask("How do I rotate the signing keys?", urls=("https://example.org/docs/",))

The corpus is open in a thread of its own, which runs an event loop; every call waits for its result there. Errors are
those of the library.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.answering.events import AnswerEvent
from webrag_core.answering.models import Answer
from webrag_core.application.inputs import Intent
from webrag_core.application.operations import Ask, GatherEvidence, Search, search_as_of
from webrag_core.application.parameters import AcquirerName
from webrag_core.application.reading import Citations, Compare, History
from webrag_core.application.services import Services
from webrag_core.application.upkeep import (
    AddSource,
    AttachedSource,
    Forget,
    Ingest,
    Refresh,
    RemovedSource,
    RemoveSource,
)
from webrag_core.config import Settings, load_settings
from webrag_core.corpus.forget import Removal
from webrag_core.corpus.refresh import RefreshReport
from webrag_core.corpus.sources import Source, list_sources
from webrag_core.errors import FetchError, InvalidInputError
from webrag_core.history.citations import CitationState
from webrag_core.history.compare import PageComparison
from webrag_core.history.models import PageAt, PageHistory, TimeAxis
from webrag_core.indexing.pipeline import AddedDocument, Corpus
from webrag_core.orchestration.models import OrchestrationResult, QueryType
from webrag_core.orchestration.run_scope import RunScope
from webrag_core.retrieval.request import Fusion, Mode, SearchRequest
from webrag_core.retrieval.search import CorpusSearch
from webrag_core.routing.plan import ExecutionPlan
from webrag_core.routing.question import Form

Result = TypeVar("Result")


class QuestionOptions(TypedDict, total=False):
    """Parameters of `Ask` but the question."""

    urls: tuple[str, ...]
    sources: tuple[str, ...]
    at: str | None
    time: TimeAxis
    since: str | None
    until: str | None
    years: tuple[int, ...]
    expansion_budget: int | None
    form: Form | None
    intent: QueryType | None
    constraints: tuple[str, ...]
    max_age: float | None
    follows: int | None
    carry: bool


class AnswerOptions(TypedDict, total=False):
    """Parameters of `GatherEvidence` but its URLs and question."""

    intent: QueryType | None
    known_context: str | None
    constraints: tuple[str, ...]
    expansion_budget: int | None
    mode: Mode
    policy: str | None
    max_age: float | None
    scope: RunScope | tuple[str, ...] | None
    excluded: tuple[str, ...]
    seconds: float | None


class SearchOptions(TypedDict, total=False):
    """Parameters of `Search` but its question."""

    intent: Intent | None
    pattern: str
    formulations: Sequence[str]
    sources: Sequence[str] | None
    urls: Sequence[str] | None
    since: str | None
    until: str | None
    years: Sequence[int]
    languages: Sequence[str] | None
    types: Sequence[str] | None
    flags: Sequence[str] | None
    fusion: Fusion
    alpha: float | None
    mode: Mode
    top_k: int | None
    context_budget: int | None
    at: str | None
    time: TimeAxis


class IngestOptions(TypedDict, total=False):
    """Parameters of `Ingest` but its URLs."""

    refresh: bool
    all_text: bool | None
    again: bool


class RefreshOptions(TypedDict, total=False):
    """Parameters of `Refresh` but its sources."""

    due: bool
    limit: int | None
    accept: bool


class SourceOptions(TypedDict, total=False):
    """Parameters of `AddSource` but its URL."""

    pages: int
    prefix: str | None
    acquirer: AcquirerName | None
    all_text: bool
    refresh_hours: float | None
    name: str | None
    owners: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class _Open:
    """What is open in the thread's loop; `calls` are the tasks of unfinished calls, `streams` the iterators that are
    not read to their end, `closing` ends the thread."""

    loop: asyncio.AbstractEventLoop
    services: Services
    closing: asyncio.Event
    calls: set[asyncio.Task[Any]] = field(default_factory=set)
    streams: set[AsyncGenerator[Any]] = field(default_factory=set)


class WebRAG:
    """An open corpus whose methods wait for their results. A context manager; in a notebook `open` and `close` do.

    `settings` None = those of the environment, `acquirer` None = theirs. Calls of several threads run side by side.
    """

    def __init__(self, settings: Settings | None = None, acquirer: Acquirer | None = None) -> None:
        self._settings = settings
        self._acquirer = acquirer
        self._opened: _Open | None = None
        self._thread: threading.Thread | None = None

    def open(self) -> Self:
        """Open the corpus. Raises StoreError, InvalidInputError."""
        if self._thread is not None:
            raise InvalidInputError("this WebRAG is open already")
        ready: Future[_Open] = Future()
        serving = _serve(self._settings or load_settings(), self._acquirer, ready)
        thread = threading.Thread(target=asyncio.run, args=(serving,), name="webrag", daemon=True)
        thread.start()
        try:
            self._opened = ready.result()
        except BaseException:
            thread.join()
            raise
        self._thread = thread
        atexit.register(self.close)
        return self

    def close(self) -> None:
        """Cancel calls of other threads, close the corpus and end the thread. Does nothing where nothing is open."""
        thread, opened = self._thread, self._opened
        if thread is None or opened is None:
            return
        self._thread = self._opened = None
        atexit.unregister(self.close)
        opened.loop.call_soon_threadsafe(opened.closing.set)
        thread.join()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, question: str, **options: Unpack[QuestionOptions]) -> Answer:
        """An answer in prose (`Manager.answer`)."""
        return self._wait(Ask.of(question=question, **options).run(self._now.services))

    def events(self, question: str, **options: Unpack[QuestionOptions]) -> Generator[AnswerEvent]:
        """As `ask`, told step by step (`Manager.stream`). To close the iterator cancels the run."""
        opened = self._now
        stream = Ask.of(question=question, **options).stream(opened.services)
        opened.streams.add(stream)
        try:
            while (event := self._wait(anext(stream, None))) is not None:
                yield event
        finally:
            if self._opened is opened:  # else `close` has closed it
                self._wait(stream.aclose())
                opened.streams.discard(stream)

    def plan(self, question: str, **options: Unpack[QuestionOptions]) -> ExecutionPlan:
        """What `ask` would do (`Manager.plan`)."""
        return self._wait(Ask.of(question=question, **options).plan(self._now.services))

    def answer(self, urls: str | Sequence[str], question: str, **options: Unpack[AnswerOptions]) -> OrchestrationResult:
        """All evidence for a question, found by following links from `urls` (`OrchestratorEngine.run`)."""
        start = (urls,) if isinstance(urls, str) else tuple(urls)
        return self._wait(GatherEvidence.of(urls=start, question=question, **options).run(self._now.services))

    def search(self, question: str | SearchRequest, **options: Unpack[SearchOptions]) -> CorpusSearch:
        """Search what is stored, or was at a time (`Search`). A `SearchRequest` goes with `at` and `time` alone."""
        return self._wait(_search(self._now.services, question, options))

    async def asearch(self, question: str | SearchRequest, **options: Unpack[SearchOptions]) -> CorpusSearch:
        """As `search`, awaited from any event loop."""
        return await asyncio.wrap_future(self._begin(_search(self._now.services, question, options)))

    def ingest(self, url: str, **options: Unpack[IngestOptions]) -> AddedDocument:
        """Fetch, store and index one page (`Ingest`). Raises FetchError."""
        [result] = self.ingest_all([url], **options).values()
        if isinstance(result, FetchError):
            raise result
        return result

    def ingest_all(
        self, urls: Iterable[str], **options: Unpack[IngestOptions]
    ) -> dict[str, AddedDocument | FetchError]:
        """As `ingest`, several at a time; what failed is among the results."""
        results: dict[str, AddedDocument | FetchError] = {}
        wanted = Ingest.of(urls=tuple(urls), **options)
        self._wait(wanted.run(self._now.services, results.__setitem__))
        return results

    def refresh(self, *sources: str, **options: Unpack[RefreshOptions]) -> list[RefreshReport]:
        """Fetch the pages of these sources again, by default of all, and index what changed; paused ones only by their
        own key (`Refresh`). Raises InvalidInputError for an unknown source."""
        return self._wait(Refresh.of(sources=sources, **options).run(self._now.services)).reports

    def add_source(self, url: str, **options: Unpack[SourceOptions]) -> AttachedSource:
        """Keep a section of a site; `refresh` then fetches its pages (`AddSource`)."""
        return self._wait(AddSource.of(url=url, **options).run(self._now.services))

    def remove_source(self, source: str, *, by: str, forget: bool = False) -> RemovedSource:
        """Detach a source; its pages stay, unless they are to be forgotten (`RemoveSource`)."""
        return self._wait(RemoveSource.of(source=source, by=by, forget=forget).run(self._now.services))

    def forget(self, target: str, *, by: str, dry_run: bool = False) -> Removal:
        """Remove a page by its URL, a source by its key, or an answer by its number, for good (`Forget`)."""
        return self._wait(Forget.of(target=target, by=by, dry_run=dry_run).run(self._now.services))

    def sources(self) -> list[Source]:
        """All sources: attached ones, and hosts of stored pages."""

        async def work(corpus: Corpus) -> list[Source]:
            async with corpus.database.connection() as connection:
                return await list_sources(connection)

        return self.run(work)

    def history(self, url: str) -> PageHistory:
        """All that is known of the past of a page. Raises InvalidInputError for a page of which nothing is."""
        return self._wait(History.of(url=url).versions(self._now.services.corpus.database))

    def page_at(self, url: str, at: str, *, time: TimeAxis = "seen") -> PageAt:
        """What a page said at a time: 2024, 2024-05, 2024-05-17, a time (UTC) or now."""
        return self._wait(History.of(url=url, at=at, time=time).then(self._now.services.corpus.database))

    def compare(self, url: str, before: str, after: str) -> PageComparison:
        """What changed on a page between two versions, each given by its number or a date."""
        comparing = Compare.of(url=url, before=before, after=after)
        return self._wait(comparing.read(self._now.services.corpus.database))

    def citations(self, *answers: int | Answer | OrchestrationResult) -> list[CitationState]:
        """Whether the quotes of these answers (or answers with these numbers), by default of all, still stand on their
        pages. Nothing is fetched."""
        numbers = [answer if isinstance(answer, int) else answer.answer_id for answer in answers]
        stored = tuple(number for number in numbers if number is not None)
        wanted = Citations.of(answers=stored if answers else None)
        return self._wait(wanted.read(self._now.services.corpus.database)).citations

    def run(self, work: Callable[[Corpus], Coroutine[Any, Any, Result]]) -> Result:
        """Anything else: `work(corpus)`, in the thread's loop."""
        return self._wait(work(self._now.services.corpus))

    @property
    def _now(self) -> _Open:
        if self._opened is None:
            raise InvalidInputError("this WebRAG is not open: use it in a `with` block, or call open()")
        return self._opened

    def _wait(self, call: Awaitable[Result]) -> Result:
        future = self._begin(call)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # of what was interrupted; what has ended stays as it is
            raise

    def _begin(self, call: Awaitable[Result]) -> Future[Result]:
        opened = self._now

        async def tracked() -> Result:
            task = asyncio.current_task()
            assert task is not None
            opened.calls.add(task)
            try:
                return await call
            finally:
                opened.calls.discard(task)

        return asyncio.run_coroutine_threadsafe(tracked(), opened.loop)


async def _serve(settings: Settings, acquirer: Acquirer | None, ready: Future[_Open]) -> None:
    """Keep the corpus open until it is to be closed. What fails before that is told to who waits for `ready`."""
    try:
        async with Corpus.open(settings, acquirer) as corpus:
            opened = _Open(asyncio.get_running_loop(), Services.over(corpus), asyncio.Event())
            ready.set_result(opened)
            await opened.closing.wait()
            for task in opened.calls:
                task.cancel()
            await asyncio.gather(*opened.calls, return_exceptions=True)
            for stream in opened.streams:
                await stream.aclose()
    except BaseException as error:
        if ready.done():
            raise
        ready.set_exception(error)


async def _search(services: Services, question: str | SearchRequest, options: SearchOptions) -> CorpusSearch:
    if isinstance(question, str):
        return await Search.of(question=question, **options).run(services)
    if options.keys() - {"at", "time"}:
        raise InvalidInputError("what a SearchRequest searches for stands in itself: only at and time go with it")
    return await search_as_of(services.corpus, question, options.get("at"), time=options.get("time", "seen"))
