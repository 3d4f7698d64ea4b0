"""What a command runs where no more of the corpus is needed than its database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from webrag_core.config import Settings, load_settings

if TYPE_CHECKING:
    from webrag_core.store.database import Database

Result = TypeVar("Result")


def on_database(work: Callable[[Database], Coroutine[Any, Any, Result]]) -> Result:
    """The result of `work` with the database of the settings, which is open as long. Raises StoreError."""
    return changed(lambda database, settings: work(database))


def changed(work: Callable[[Database, Settings], Coroutine[Any, Any, Result]]) -> Result:
    """As `on_database`, for work that needs the settings, too."""
    from webrag_core.store.database import Database

    async def opened() -> Result:
        settings = load_settings()
        async with await Database.open(settings) as database:
            return await work(database, settings)

    return asyncio.run(opened())
