"""Embeddings from any OpenAI-compatible endpoint, through the real SDK.

Exercised against local servers that speak the wire format only: no real provider was ever called, so what a provider
does beyond its documentation (limits, error bodies, models that refuse `dimensions`) is not known from here.
"""

from __future__ import annotations

import asyncio
import random
from asyncio import sleep
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError
from webrag_core.indexing.embedder import Vectors, checked, identity_of
from webrag_core.indexing.remote import http_reason, key_or_dummy, only_our_headers, require_package
from webrag_core.ingestion.politeness import retry_after_s

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_OPENAI = "https://api.openai.com/v1"
_ATTEMPTS = 4
_FIRST_PAUSE = 0.5  # seconds; doubles with every attempt


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why one request gave no vectors. `wait` is what the server asked for, in seconds."""

    reason: str
    again: bool = False
    wait: float | None = None
    status: int | None = None


class OpenAIEmbedder:
    """A remote embedding model. At most EMBEDDING_MAX_WORKERS requests at a time, each within EMBEDDING_TIMEOUT.

    Belongs to the event loop it is first used in.
    """

    def __init__(self, settings: Settings) -> None:
        """Opens nothing. Raises InvalidInputError when the SDK is not installed."""
        require_package("openai", "EMBEDDING_BASE_URL or EMBEDDING_API_KEY")
        self.identity = identity_of(settings)
        self._url = settings.embedding_base_url or _OPENAI
        self._key = settings.embedding_api_key
        self._seconds = settings.embedding_timeout
        self._size = settings.embedding_batch_size
        self._slots = asyncio.Semaphore(settings.embedding_max_workers)
        self._send_dimensions = True
        self._opened: AsyncOpenAI | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit-length float32 vectors, shape (len(texts), dimensions).

        A blank text is embedded as a full stop: providers refuse empty input. Raises EmbeddingError when the
        endpoint fails, answers something else or gives a vector that cannot be one.
        """
        if not texts:
            return np.empty((0, self.identity.dimensions), dtype=np.float32)
        inputs = [text if text.strip() else "." for text in texts]
        batches = [inputs[start : start + self._size] for start in range(0, len(inputs), self._size)]
        tasks: list[asyncio.Task[Vectors]] = []
        failed: list[EmbeddingError] = []
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._batch(batch)) for batch in batches]
        except* EmbeddingError as errors:
            failed = [error for error in errors.exceptions if isinstance(error, EmbeddingError)]
        if failed:
            raise failed[0]
        return np.concatenate([task.result() for task in tasks])

    async def aclose(self) -> None:
        """Close the connections; the next `embed` opens new ones."""
        if self._opened is not None:
            client, self._opened = self._opened, None
            await client.close()

    async def _batch(self, texts: list[str]) -> Vectors:
        """One batch, with retries. The error is raised outside any handler: the SDK's own errors, which hold the
        request and so the key, must not hang on it."""
        failure = _Failure(f"no answer within {self._seconds:g} s")
        with_dimensions = self._send_dimensions
        try:
            async with self._slots, asyncio.timeout(self._seconds):
                ends = asyncio.get_running_loop().time() + self._seconds
                attempt = 0
                while True:
                    answer = await self._ask(texts, with_dimensions)
                    if not isinstance(answer, _Failure):
                        self._send_dimensions = with_dimensions
                        return answer
                    failure = answer
                    if failure.status in (400, 422) and with_dimensions:
                        with_dimensions = False  # many models have one length only and refuse to be asked for it
                        continue
                    attempt += 1
                    wait = _FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)
                    wait = wait if failure.wait is None else failure.wait
                    if not failure.again or attempt == _ATTEMPTS:
                        break
                    if asyncio.get_running_loop().time() + wait >= ends:
                        failure = _Failure(f"{failure.reason}; waiting {wait:.0f} s exceeds EMBEDDING_TIMEOUT")
                        break
                    await sleep(wait)
        except TimeoutError:
            if failure.status is not None:
                failure = _Failure(f"{failure.reason}, then no answer within {self._seconds:g} s")
        raise EmbeddingError(f"embedding with {self.identity.name}: {failure.reason}")

    async def _ask(self, texts: list[str], with_dimensions: bool) -> Vectors | _Failure:
        import openai

        try:
            answer: object = await self._client().embeddings.create(
                model=self.identity.name,
                input=texts,
                encoding_format="float",  # base64, the SDK's default, is not understood everywhere
                dimensions=self.identity.dimensions if with_dimensions else openai.omit,
            )
        except openai.APIStatusError as error:
            status = error.status_code
            again = status in (408, 429) or status >= 500
            return _Failure(http_reason(status, "EMBEDDING"), again, _asked_wait(error.response.headers), status)
        except openai.APIConnectionError:
            return _Failure("the endpoint cannot be reached (check EMBEDDING_BASE_URL)", again=True)
        except (openai.OpenAIError, ValueError, AttributeError, TypeError):
            answer = None  # no JSON, or JSON of another shape, on which the SDK stumbles
        rows = _rows(answer)
        if rows is None:
            return _Failure("the answer is not one of an embeddings endpoint (check EMBEDDING_BASE_URL)")
        return self._vectors(rows, len(texts))

    def _vectors(self, rows: list[tuple[object, object]], count: int) -> Vectors | _Failure:
        """The rows in the order of the input, normalised. Raises EmbeddingError, through `checked`, too."""
        by_index = {index: values for index, values in rows if type(index) is int}
        if len(rows) != count or by_index.keys() != set(range(count)):
            return _Failure(f"{len(rows)} rows for {count} texts, or rows that are not numbered 0 to {count - 1}")
        try:
            with np.errstate(over="ignore"):  # a number too large becomes infinite, which `checked` reports
                raw = np.asarray([by_index[index] for index in range(count)], dtype=np.float32)
        except (ValueError, TypeError):
            return _Failure("a row that is not a list of numbers, or rows of different lengths")
        raw = checked(raw, count, self.identity)
        lengths = np.linalg.norm(raw.astype(np.float64), axis=1, keepdims=True)
        if not lengths.all():
            return _Failure("a zero vector, which has no direction")
        return checked((raw / lengths).astype(np.float32), count, self.identity)

    def _client(self) -> AsyncOpenAI:
        if self._opened is None:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient

            self._opened = AsyncOpenAI(
                api_key=key_or_dummy(self._key),
                base_url=self._url,
                timeout=2 * self._seconds,  # ours comes first
                max_retries=0,
                http_client=DefaultAsyncHttpxClient(
                    follow_redirects=False,  # texts go to the configured server and nowhere else
                    event_hooks={"request": [only_our_headers(self._key)]},
                ),
            )
        return self._opened


def _rows(answer: object) -> list[tuple[object, object]] | None:
    """(index, embedding) of each row; None when there are none. The SDK checks nothing of this."""
    data = getattr(answer, "data", None)
    if not isinstance(data, list) or not data:
        return None
    return [(getattr(row, "index", None), getattr(row, "embedding", None)) for row in data]


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks to wait; None when it says nothing usable."""
    return retry_after_s(headers.get("retry-after", ""), datetime.now(UTC))
