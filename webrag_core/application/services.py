"""What every operation works with: one opened corpus, shared among the calls of a server, and their turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.application.site_runs import SiteRuns
from webrag_core.config import Settings
from webrag_core.errors import StoreError, WebragError
from webrag_core.indexing.pipeline import Corpus
from webrag_core.page_text import one_line
from webrag_core.providers import static_model
from webrag_core.retrieval.request import SearchRequest
from webrag_core.retrieval.search import search

# whoever only searches has no use for them
if TYPE_CHECKING:
    from webrag_core.answering.manager import Manager
    from webrag_core.orchestration.engine import OrchestratorEngine

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_SEARCHES_AT_ONCE = 4
_CLEAN_UP_SECONDS = 15.0
_AGAIN_SECONDS = 2.0
"""After which a corpus that cannot be opened is tried again, beside every call that needs it."""
_ENGINE_SHARE = 0.85
"""Share of MCP_TOOL_TIMEOUT for the engine, so that it can return partial results."""


@dataclass(frozen=True)
class Services:
    """Dependencies of the operations, and the turns that their calls take. Answers have their own queue, so that they
    do not exhaust database connections or delay searches; so have the sites that are read."""

    corpus: Corpus
    answers: asyncio.Semaphore
    searches: asyncio.Semaphore
    sites: SiteRuns = field(default_factory=SiteRuns)

    @classmethod
    def over(
        cls, corpus: Corpus, answers: asyncio.Semaphore | None = None, searches: asyncio.Semaphore | None = None
    ) -> Self:
        """Those of an open corpus, by default with turns of its own."""
        return cls(
            corpus,
            answers or asyncio.Semaphore(corpus.settings.mcp_concurrent_answers),
            searches or asyncio.Semaphore(_SEARCHES_AT_ONCE),
        )

    @cached_property
    def engine(self) -> OrchestratorEngine:
        """Reads pages and follows links."""
        from webrag_core.orchestration.engine import OrchestratorEngine

        return OrchestratorEngine(self.corpus)

    @cached_property
    def manager(self) -> Manager:
        """Answers questions."""
        from webrag_core.answering.manager import Manager

        return Manager(self.corpus, self.engine)

    @property
    def settings(self) -> Settings:
        """Those that the corpus was opened with."""
        return self.corpus.settings


class Core:
    """Use `async with Core(settings) as core`, then `await core.services()` for each call."""

    def __init__(self, settings: Settings, acquirer: Acquirer | None = None) -> None:
        seconds = min(settings.webrag_answer_timeout, _ENGINE_SHARE * settings.mcp_tool_timeout)
        self.settings = settings.model_copy(update={"webrag_answer_timeout": seconds})
        self._acquirer = acquirer
        self._answers = asyncio.Semaphore(settings.mcp_concurrent_answers)
        self._searches = asyncio.Semaphore(_SEARCHES_AT_ONCE)
        self._closing = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[Services] | None = None
        self._again: asyncio.TimerHandle | None = None
        self._problem: BaseException | None = None  # why it could not be opened the last time

    async def require_usable(self) -> None:
        """Raise StoreError while the corpus cannot be used: not open yet (`starting`), never opened, or its database is
        away. Of the last it is sure within seconds, and only where a call met it before."""
        opened = self._opened
        if opened is not None and opened.done() and not opened.cancelled() and opened.exception() is None:
            database = opened.result().corpus.database
            if database.is_away:
                async with database.connection():
                    pass
        elif isinstance(self._problem, StoreError):
            raise self._problem
        elif self._problem is not None:
            raise StoreError("the corpus cannot be opened", code="not_open")
        else:
            raise StoreError("the corpus is not open yet", code="starting")

    async def services(self) -> Services:
        """Return the open corpus. Raises StoreError or InvalidInputError while it cannot be opened."""
        return await asyncio.shield(self._opening())

    def _opening(self) -> asyncio.Future[Services]:
        opened = self._opened
        if opened is not None and not (opened.done() and (opened.cancelled() or opened.exception())):
            return opened
        self._opened = opened = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._keep_open(opened))
        self._owner.add_done_callback(lambda owner: self._settle(opened, owner))
        return opened

    def _settle(self, opened: asyncio.Future[Services], owner: asyncio.Task[None]) -> None:
        if opened.done():
            return
        error = None if owner.cancelled() else owner.exception()
        opened.set_exception(error or StoreError("the server is closing"))
        opened.exception()  # mark as retrieved: no warning without waiters
        if error is None:
            return
        words = error.message if isinstance(error, WebragError) else repr(error)
        if self._problem is None or str(self._problem) != str(error):
            logger.error("the corpus cannot be opened, which is tried again and again: %s", one_line(words))
        self._problem = error
        if not self._closing.is_set():
            self._again = asyncio.get_running_loop().call_later(_AGAIN_SECONDS, self._opening)

    async def _keep_open(self, opened: asyncio.Future[Services]) -> None:
        """Open and close the corpus in one task."""
        async with Corpus.open(self.settings, self._acquirer) as corpus:
            services = Services.over(corpus, self._answers, self._searches)
            await corpus.model_id()
            await asyncio.to_thread(_load, services)
            opened.set_result(services)
            if self._problem is not None:
                logger.warning("the corpus is open now")
                self._problem = None
            if self.settings.searches_offline:  # load models before the first query
                with suppress(WebragError):
                    await search(corpus, SearchRequest(query="warm up", top_k=1))
            await self._closing.wait()
            await services.sites.close()

    async def __aenter__(self) -> Self:
        self._opening()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._again is not None:
            self._again.cancel()
        if self._owner is not None:
            if self._opened is not None and not self._opened.done():
                self._owner.cancel()
            await asyncio.wait([self._owner])


async def run_apart(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` as a separate task and return its result.

    A cancelled call is cancelled again at every await, which would interrupt final writes of the core. The task is
    cancelled once, and the call ends after it.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            _, late = await asyncio.wait([task], timeout=_CLEAN_UP_SECONDS)
        if late:
            logger.error("cancelled work did not end within %g s", _CLEAN_UP_SECONDS)
        elif not task.cancelled() and task.exception() is not None:
            logger.info("cancelled work ended with %s", type(task.exception()).__name__)
        raise


def _load(services: Services) -> None:
    """Import what answers, and read the files of the small model: the first call would otherwise do it in the loop."""
    _ = services.manager
    static_model.load()
