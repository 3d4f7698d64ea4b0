"""What a command does with the corpus: with its database alone, or with all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from webrag_core.config import Settings, load_settings
from webrag_core.config.database import DatabaseSettings
from webrag_core.errors import WebragError

if TYPE_CHECKING:
    from webrag_core.application.command_calls import Opened, Turn
    from webrag_core.application.services import Services
    from webrag_core.store.database import Database

_SEARCHING = ("webrag_core.store.database", "webrag_core.retrieval.searcher", "webrag_core.retrieval.reranking")
"""Modules that are imported when they are first used, which every search does."""
Result = TypeVar("Result")
opened_by_server: ContextVar[Opened | None] = ContextVar("webrag_opened", default=None)
"""Set where this process runs a command for another one (`cli.served`)."""


def on_corpus(work: Callable[[Services], Coroutine[Any, Any, Result]], turn: Turn = "read") -> Result:
    """The result of `work` with the corpus of the settings, which is open as long. Raises StoreError."""
    opened = opened_by_server.get()
    if opened is not None:
        return opened(work, turn)
    from webrag_core.application.services import Services
    from webrag_core.indexing.pipeline import Corpus

    async def on_opened() -> Result:
        async with Corpus.open(load_settings()) as corpus:
            return await work(Services.over(corpus))

    return asyncio.run(on_opened())


def begin_to_open(*, reads: bool = False) -> None:
    """Start, in threads, what the command will wait for, while this thread imports the rest: the embedded server of a
    corpus that is there, the small model, and where it `reads` the reading model. What fails is said when it is used.
    """
    if opened_by_server.get() is not None:
        return
    settings = load_settings()
    if settings.database_url is None and (settings.webrag_home / "postgres" / "PG_VERSION").exists():
        from webrag_core.store import embedded

        embedded.exit_on_sigterm()
        _apart(partial(_start_server, settings))
    from webrag_core.providers import static_model

    _apart(partial(static_model.load, whole=False))
    if reads and settings.webrag_reader != "none":
        from webrag_core.providers import reading_model

        _apart(reading_model.load)
    for module in _SEARCHING:
        import_module(module)


def _start_server(settings: DatabaseSettings) -> None:
    from webrag_core.store.embedded import embedded_url
    from webrag_core.store.server_resources import ServerResources
    from webrag_core.store.unfinished import require_finished

    require_finished(settings.webrag_home)
    embedded_url(settings.webrag_home, ServerResources.chosen(settings))


def _apart(work: Callable[[], object]) -> None:
    def run() -> None:
        with suppress(WebragError):  # it comes again
            work()

    # no daemon: this process waits for it before it stops the server
    Thread(target=run, name="webrag-begin").start()


def on_database(work: Callable[[Database], Coroutine[Any, Any, Result]]) -> Result:
    """The result of `work` with the database of the settings, which is open as long. Raises StoreError."""
    return changed(lambda database, settings: work(database))


def changed(work: Callable[[Database, Settings], Coroutine[Any, Any, Result]]) -> Result:
    """As `on_database`, for work that needs the settings, too."""
    opened = opened_by_server.get()
    if opened is not None:
        return opened(lambda services: work(services.corpus.database, services.settings), "read")
    from webrag_core.store.database import Database

    async def on_opened() -> Result:
        settings = load_settings()
        async with await Database.open(settings) as database:
            return await work(database, settings)

    return asyncio.run(on_opened())
