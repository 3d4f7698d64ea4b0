"""The coded vectors of a large corpus, read in the background while the server goes on searching its graph.

They are of one state of the tables, like everything that is held: once the corpus has changed, the graph is searched
until the state that followed was searched often enough to be read.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from weakref import ReferenceType

import psutil
from psycopg import AsyncConnection

from webrag_core.errors import StoreError
from webrag_core.retrieval.coded_vectors import CodedPart, CodedVectors, bytes_needed, code_part, joined
from webrag_core.retrieval.vector_parts import STATE, read_part
from webrag_core.store.database import Database
from webrag_core.store.server_resources import memory_mb

logger = logging.getLogger(__name__)

_ROWS = 20_000  # of a part: 20 MB at 256 dimensions
_SPARE = 2  # times what the codes take must be free: parts are joined into new arrays


@dataclass(slots=True)
class ResidentCodes:
    """The codes of a model in a database, of one state. `warning` says why there are none of the state that was last to
    be read."""

    database: ReferenceType[Database]
    model_id: int
    megabytes: int
    vectors: CodedVectors | None = None
    state: str = ""
    warning: str | None = None
    reading: asyncio.Task[None] | None = None

    def of_state(self, state: str, *, is_wanted: bool) -> CodedVectors | None:
        """The codes of this state. Where they are of another one and `is_wanted`, reading begins."""
        if self.state == state:
            return self.vectors
        database = self.database()
        if is_wanted and database is not None and (self.reading is None or self.reading.done()):
            self.vectors, self.state = None, ""  # two states would need twice the memory
            self.reading = asyncio.get_running_loop().create_task(self._read(database, state))
        return None

    async def _read(self, database: Database, wanted: str) -> None:
        try:
            async with database.snapshot() as connection:
                await self._read_from(connection)
        except (StoreError, MemoryError) as error:
            self.state = wanted  # which is not tried again
            self._warn(f"they could not be read ({error})")

    async def _read_from(self, connection: AsyncConnection) -> None:
        row = await (await connection.execute(STATE, {"model": self.model_id})).fetchone()
        state = "" if row is None else str(row[0])
        self.warning = None
        await self._look_for_room(connection)
        parts: list[CodedPart] = []
        after = 0
        while self.warning is None:
            part = await read_part(connection, self.model_id, after, _ROWS)
            if part is None:
                break
            after = int(part[0].chunks[-1])
            codes = await asyncio.to_thread(code_part, *part)
            if codes is None:
                self._warn("one of them has no length")
                break
            parts.append(codes)
        if parts and self.warning is None:
            self.vectors = await asyncio.to_thread(joined, parts)
        self.state = state

    async def _look_for_room(self, connection: AsyncConnection) -> None:
        """Warn where the codes cannot be held."""
        cursor = await connection.execute(
            b"SELECT dimensions, (SELECT sum(children) FROM source_sizes) FROM embedding_models WHERE id = %s",
            (self.model_id,),
        )
        dimensions, rows = await cursor.fetchone() or (0, 0)
        needed = bytes_needed(int(rows or 0), int(dimensions))
        if needed > self.megabytes * 1_000_000:
            self._warn(f"they take {needed // 1_000_000} MB, and RETRIEVAL_RESIDENT_MB is {self.megabytes}")
        elif min(psutil.virtual_memory().available, memory_mb() * 2**20) < needed * _SPARE:
            self._warn(f"they take {needed // 1_000_000} MB, and the machine has less than {_SPARE} times that free")

    def _warn(self, cause: str) -> None:
        self.warning = f"the vectors are not held in memory, the vector index is searched: {cause}"
        logger.warning("%s", self.warning)
