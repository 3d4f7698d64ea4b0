"""What a command does with the corpus: with its database alone, or with all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from webrag_core.config import Settings, load_settings

if TYPE_CHECKING:
    from webrag_core.application.command_calls import Opened, Turn
    from webrag_core.application.services import Services
    from webrag_core.store.database import Database

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
