"""Sources that are being read: each by itself, and any number of doors may watch it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from webrag_core.application.failure_words import defect_words, failure_words
from webrag_core.corpus.sources import find_source
from webrag_core.errors import BusyError, FetchError, NotStoredError, Reason, WebragError
from webrag_core.page_text import one_line
from webrag_core.retrieval.models import Contract
from webrag_core.trace import traced

if TYPE_CHECKING:
    from webrag_core.corpus.refresh import PageStep, RefreshReport
    from webrag_core.indexing.pipeline import AddedDocument, Corpus

logger = logging.getLogger(__name__)

_AT_A_TIME = 2
_MOST_WAITING = 16
_MOST_ENDED = 32
_MOST_SHOWN = 8
_MOST_FAILURES = 50
_BETWEEN_SECONDS = 0.25

ReadingState = Literal["waiting", "reading", "done", "stopped", "failed"]


class FailedPage(Contract):
    """A page that was not read, and why: `reason` for programs, `words` for people."""

    url: str
    reason: str
    words: str


class SiteReading(Contract):
    """How far the reading of a source is. `now` are the pages that are read now, `latest` those that were read last,
    the newest first; `failures` are the first ones of the `failed` pages. `changed` pages are new or have a new text.
    `listed` counts the pages that the site's map names, None before it is read and where it is not. `problem` says why
    nothing more is read."""

    source: str
    state: ReadingState
    started_at: datetime
    ended_at: datetime | None
    listed: int | None
    changed: int
    unchanged: int
    failed: int
    left_out: int
    now: list[str]
    latest: list[str]
    failures: list[FailedPage]
    warnings: list[str]
    problem: str | None

    @property
    def read(self) -> int:
        """Pages that were read."""
        return self.changed + self.unchanged

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return self.state not in ("waiting", "reading")


class SiteRun:
    """One source that is read, all of its pages or some. `reading` is how far it is."""

    def __init__(self, source: str, pages: Sequence[str] = ()) -> None:
        self._some = tuple(pages)
        self.reading = SiteReading(
            source=source,
            state="waiting",
            started_at=datetime.now(UTC),
            ended_at=None,
            listed=None,
            changed=0,
            unchanged=0,
            failed=0,
            left_out=0,
            now=[],
            latest=[],
            failures=[],
            warnings=[],
            problem=None,
        )
        self._news = asyncio.Event()
        self._pages: asyncio.Task[RefreshReport | None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._report: RefreshReport | None = None
        self._is_stopped = False

    async def watch(self) -> AsyncIterator[SiteReading]:
        """Yield how far it is, at first at once, then after each change, a few times a second; at last the end."""
        while True:
            news, reading = self._news, self.reading
            yield reading
            if reading.is_over:
                return
            await news.wait()
            await asyncio.sleep(_BETWEEN_SECONDS)

    def stop(self) -> None:
        """Read no further page. Those that are stored stay, and can be searched."""
        self._is_stopped = True
        if self._pages is not None:
            self._pages.cancel()

    def warn(self, warnings: Sequence[str]) -> None:
        """Take these warnings up among those of the reading."""
        self._tell(warnings=list(dict.fromkeys([*self.reading.warnings, *map(one_line, warnings)])))

    def begin(self, corpus: Corpus, turns: asyncio.Semaphore) -> None:
        """Read it in its turn."""
        self._task = asyncio.create_task(self._work(corpus, turns))

    async def closed(self) -> None:
        """End at once, as the server does."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    def _tell(self, **changed: object) -> None:
        self.reading = self.reading.model_copy(update=changed)
        self._news.set()
        self._news = asyncio.Event()

    def _advance(self, step: PageStep) -> None:
        reading = self.reading
        if step.outcome is None:
            self._tell(now=[step.url, *reading.now][:_MOST_SHOWN])
            return
        now = [url for url in reading.now if url != step.url]
        if step.outcome == "failed":
            failures = reading.failures
            if len(failures) < _MOST_FAILURES:
                reason = Reason.INTERNAL_ERROR if step.error is None else step.error.reason
                failures = [*failures, FailedPage(url=step.url, reason=reason.value, words=reason.words)]
            self._tell(now=now, failed=reading.failed + 1, failures=failures)
            return
        latest = [step.url, *reading.latest][:_MOST_SHOWN]
        counted = "unchanged" if step.outcome == "unchanged" else "changed"
        self._tell(now=now, latest=latest, **{counted: getattr(reading, counted) + 1})

    async def _work(self, corpus: Corpus, turns: asyncio.Semaphore) -> None:
        state: ReadingState = "failed"
        problem: str | None = "the server ends; what was read is stored"
        with traced():
            try:
                async with turns:
                    self._tell(state="reading")
                    is_whole = await self._read(corpus)
                    await corpus.indexer.finish_bulk()
                state, problem = "done" if is_whole else "stopped", None
                if self._report is not None:
                    self._settle(self._report)
                    if self._report.empty is not None:
                        state, problem = "failed", "no page of it could be read"
            except WebragError as error:
                problem = failure_words(error)
                logger.warning("%s was not read: %s", self.reading.source, one_line(error.message))
            except Exception:
                logger.exception("a site was not read")
                problem = defect_words()
            finally:
                self._tell(state=state, problem=problem, now=[], ended_at=datetime.now(UTC))

    async def _read(self, corpus: Corpus) -> bool:
        """Read the pages; False when somebody stopped that."""
        if self._is_stopped:
            return False
        self._pages = pages = asyncio.create_task(self._add(corpus) if self._some else self._refresh(corpus))
        try:
            await asyncio.wait([pages])
        finally:
            pages.cancel()
            await asyncio.wait([pages])
        if pages.cancelled():
            return False
        self._report = pages.result()
        return True

    async def _add(self, corpus: Corpus) -> None:
        """Read some pages, also those that are beyond the limit of the source."""
        from webrag_core.corpus.refresh import PageStep

        def done(url: str, result: AddedDocument | FetchError) -> None:
            if isinstance(result, FetchError):
                self._advance(PageStep(url, "failed", result))
            else:
                self._advance(PageStep(url, "unchanged" if result.outcome == "unchanged" else "fetched"))
                self.warn(result.warnings)

        await corpus.add_all(self._some, done, lambda url: self._advance(PageStep(url)))

    async def _refresh(self, corpus: Corpus) -> RefreshReport:
        async with corpus.database.connection() as connection:
            source = await find_source(connection, self.reading.source)
        async with corpus.refresher_of(source) as refresher:
            return await refresher.run(source.key, advance=self._advance, mapped=lambda pages: self._tell(listed=pages))

    def _settle(self, report: RefreshReport) -> None:
        self._tell(left_out=report.counts.skipped)
        self.warn(report.warnings)


class SiteRuns:
    """The sources that one process reads. Two take their turns at a time; a source is never read twice at once."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(_AT_A_TIME)
        self._runs: dict[str, SiteRun] = {}
        self.looks = asyncio.Semaphore(_AT_A_TIME)

    def start(self, corpus: Corpus, source: str) -> SiteRun:
        """Read the source of this key; the run that reads it already where there is one. Raises BusyError."""
        running = self._runs.get(source)
        if running is not None and not running.reading.is_over:
            return running
        self._check_room(1)
        return self._begin(corpus, SiteRun(source))

    def start_pages(self, corpus: Corpus, pages: Mapping[str, Sequence[str]]) -> list[SiteRun]:
        """Read some pages of sources, by their keys, all or none. Raises BusyError, also where one of them is read."""
        reading = [key for key in pages if (run := self._runs.get(key)) is not None and not run.reading.is_over]
        if reading:
            raise BusyError(f"{reading[0]} is being read; try again when that is over")
        self._check_room(len(pages))
        return [self._begin(corpus, SiteRun(key, urls)) for key, urls in pages.items()]

    def _check_room(self, more: int) -> None:
        if sum(not run.reading.is_over for run in self._runs.values()) + more > _MOST_WAITING:
            raise BusyError(f"{_MOST_WAITING} sites are read or waiting; try again in a while")

    def _begin(self, corpus: Corpus, run: SiteRun) -> SiteRun:
        over = [key for key, run in self._runs.items() if run.reading.is_over]
        for key in over[: max(len(over) - _MOST_ENDED, 0)]:
            del self._runs[key]
        self._runs.pop(run.reading.source, None)
        self._runs[run.reading.source] = run
        run.begin(corpus, self._turns)
        return run

    def get(self, source: str) -> SiteRun | None:
        """The run that reads a source, or read it last in this process; None when it is unknown."""
        return self._runs.get(source)

    def the(self, source: str) -> SiteRun:
        """As `get`. Raises NotStoredError for one that this process does not read."""
        run = self.get(source)
        if run is None:
            raise NotStoredError(f"{source} is not being read")
        return run

    async def stop(self, source: str) -> SiteReading | None:
        """Stop the reading of a source and wait for its end; None when it is unknown."""
        run = self.get(source)
        if run is None:
            return None
        run.stop()
        return [reading async for reading in run.watch()][-1]

    async def close(self) -> None:
        """End all runs."""
        await asyncio.gather(*(run.closed() for run in self._runs.values()))
