"""The corpus as a Dagster resource."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import dagster as dg
from pydantic import BaseModel, Field

from webrag_dagster.running import run

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from webrag_core.application.upkeep import Upkeep
    from webrag_core.config import Settings
    from webrag_core.indexing.pipeline import Corpus

Result = TypeVar("Result", bound=BaseModel)
Value = TypeVar("Value")


class CorpusResource(dg.ConfigurableResource[Any]):
    """Open the corpus of the settings lazily."""

    warc: str | None = Field(
        default=None, description="Replay this WARC snapshot instead of the one in WEBRAG_WARC or the live web"
    )

    def settings(self) -> Settings:
        """The settings of this process with the resource's overrides. Raises InvalidInputError."""
        from webrag_core.config import load_settings

        return load_settings(**({"webrag_warc": Path(self.warc)} if self.warc else {}))

    def pages_from(self) -> str:
        """Where pages come from, in words."""
        frozen = self.settings().webrag_warc
        return f"WARC snapshot {frozen.name}" if frozen else "the live web"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Corpus]:
        """Database, acquirer and embedding model, closed again afterwards. Raises StoreError, InvalidInputError."""
        from webrag_core.indexing.pipeline import Corpus

        async with Corpus.open(self.settings()) as corpus:
            yield corpus

    def read(self, work: Callable[[AsyncConnection], Awaitable[Value]]) -> Value:
        """What `work` reads on a connection, for ticks of sensors, which need nothing else open. Raises dg.Failure for
        every WebragError."""
        from webrag_core.store.database import Database

        async def on_connection() -> Value:
            async with await Database.open(self.settings()) as database, database.connection() as connection:
                return await work(connection)

        return run(on_connection())

    async def change(self, wanted: Upkeep[Result]) -> Result:
        """What comes of an operation that needs no more than the database. Raises a WebragError."""
        from webrag_core.store.database import Database

        settings = self.settings()
        async with await Database.open(settings) as database:
            return await wanted.change(database, settings)
