"""Texts of several pages in one request to the embedding model.

A page has twenty texts at the median and a request room for hundreds. Texts gather until a request is full, every page
in progress waits for its vectors, or the first one has waited two seconds. Vectors go to the cache with the answer:
what was paid for is kept, whatever becomes of the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from pgvector import Vector

from webrag_core.errors import EmbeddingError, StoreError
from webrag_core.indexing import embedding_models as models
from webrag_core.indexing.unembedded import mark
from webrag_core.providers.embedder import Embedder, RefusedTextsError, take_tokens
from webrag_core.store.database import Database

_LONGEST_WAIT_S = 2.0


class _Batch:
    """The texts of one request, by digest. `done` ends with their vectors in the cache."""

    def __init__(self, model_id: int) -> None:
        self.model_id = model_id
        self.texts: dict[str, str] = {}
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.pages = 0  # that wait for it
        self.task: asyncio.Task[None] | None = None
        self.answered = False


class EmbeddingQueue:
    """Requests to one model, each of up to `size` texts. Belongs to the event loop it is first used in."""

    def __init__(self, database: Database, embedder: Embedder, size: int) -> None:
        self._database = database
        self._embedder = embedder
        self._size = size
        self._pages = 0
        self._waiting = 0
        self._open: _Batch | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pending: dict[str, _Batch] = {}

    @contextmanager
    def page(self) -> Iterator[None]:
        """Count a page as in progress, for whose texts the `patient` ones wait."""
        self._pages += 1
        try:
            yield
        finally:
            self._pages -= 1
            self._flush_when_all_wait()

    async def embed(self, model_id: int, texts: Mapping[str, str], *, patient: bool = False) -> int:
        """Put the vectors of `texts` (by digest) into the cache, unless they are stored; return how many were missing.

        Texts that the model refuses, and those that wait where its endpoint is down, go to `texts_without_vector`.
        `patient`: wait for texts of the other pages in progress. Holds no connection during requests. Raises
        EmbeddingError where asking again will not help.
        """
        shared = {digest: self._pending[digest] for digest in texts if digest in self._pending}
        async with self._database.connection() as connection:
            missing = sorted(await models.missing_vectors(connection, model_id, texts.keys() - shared.keys()))
        batches = set(shared.values())
        for digest in missing:
            batches.add(self._pending.get(digest) or self._add(digest, texts[digest], model_id))
        if batches:
            await self._wait(batches, patient)
        return len(missing)

    def _add(self, digest: str, text: str, model_id: int) -> _Batch:
        if self._open is None:
            self._open = _Batch(model_id)
            self._timer = asyncio.get_running_loop().call_later(_LONGEST_WAIT_S, self._flush)
        batch = self._open
        batch.texts[digest] = text
        self._pending[digest] = batch
        if len(batch.texts) == self._size:
            self._flush()
        return batch

    async def _wait(self, batches: Collection[_Batch], patient: bool) -> None:
        for batch in batches:
            batch.pages += 1
        self._waiting += patient
        try:
            if patient:
                self._flush_when_all_wait()
            elif self._open in batches:
                self._flush()
            await asyncio.wait([batch.done for batch in batches])  # what other requests bring is paid for too
        finally:
            self._waiting -= patient
            for batch in batches:
                batch.pages -= 1
                if not batch.pages and not batch.done.done():
                    self._abandon(batch)
        for batch in batches:
            batch.done.result()

    def _flush_when_all_wait(self) -> None:
        if self._waiting >= self._pages:
            self._flush()

    def _flush(self) -> None:
        batch, self._open = self._open, None
        if self._timer is not None:
            self._timer.cancel()
        if batch is not None:
            batch.task = asyncio.create_task(self._send(batch))

    async def _send(self, batch: _Batch) -> None:
        try:
            digests, refused = list(batch.texts), dict[str, str]()
            try:
                vectors = await self._embedder.embed(list(batch.texts.values()))
            except RefusedTextsError as error:
                vectors = error.vectors
                refused = {digests[place]: reason for place, reason in error.refused.items()}
            batch.answered = True
            rows = {digest: Vector(vector) for digest, vector in zip(digests, vectors, strict=True)}
            async with self._database.transaction() as connection:
                good = {digest: row for digest, row in rows.items() if digest not in refused}
                await models.fill_cache(connection, batch.model_id, good)
                await mark(connection, batch.model_id, refused, refused=True)
                await models.record_tokens(connection, batch.model_id, take_tokens(self._embedder))
        except EmbeddingError as error:
            try:
                if error.transient:
                    async with self._database.transaction() as connection:
                        waiting = dict.fromkeys(batch.texts, error.message)
                        await mark(connection, batch.model_id, waiting, refused=False)
            except StoreError as failure:
                self._end(batch, failure)
            else:
                self._end(batch, None if error.transient else error)
        except Exception as error:  # noqa: BLE001 (every page that waits raises it)
            self._end(batch, error)
        else:
            self._end(batch)

    def _abandon(self, batch: _Batch) -> None:
        """Give up a request that nobody waits for any more, unless its vectors are there."""
        if batch.answered:
            return
        if batch.task is not None:
            batch.task.cancel()
        elif batch is self._open:
            self._open = None
        self._end(batch)

    def _end(self, batch: _Batch, error: Exception | None = None) -> None:
        for digest in batch.texts:
            self._pending.pop(digest, None)
        if batch.done.done():
            return
        if error is None or not batch.pages:  # an exception that nobody reads would be logged
            batch.done.set_result(None)
        else:
            batch.done.set_exception(error)
