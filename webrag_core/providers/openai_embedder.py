"""Embeddings from any OpenAI-compatible endpoint, through the real SDK.

Exercised against local servers that speak the wire format only: no real provider was ever called, so what a provider
does beyond its documentation (limits, error bodies, models that refuse `dimensions`) is not known from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from webrag_core.config import Settings
from webrag_core.errors import EmbeddingError
from webrag_core.providers.embedder import Vectors, checked, identity_of
from webrag_core.providers.endpoint import key_or_dummy, only_our_headers, require_package
from webrag_core.providers.retry import Failure, PatientEndpoint

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_PREFIX = "EMBEDDING"
_OPENAI = "https://api.openai.com/v1"
_ATTEMPTS = 4


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
        # many models have one length only and refuse to be asked for it
        self._endpoint = PatientEndpoint(_PREFIX, (True, False), attempts=_ATTEMPTS)
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
        async with self._slots:  # a long text has many batches: waiting for the others does not count
            answer = await self._endpoint.ask(lambda dimensions: self._ask(texts, dimensions), self._seconds)
        if isinstance(answer, Failure):
            raise EmbeddingError(f"embedding with {self.identity.name}: {answer.reason}")
        return answer

    async def _ask(self, texts: list[str], with_dimensions: bool) -> Vectors | Failure:
        import openai

        try:
            answer: object = await self._client().embeddings.create(
                model=self.identity.name,
                input=texts,
                encoding_format="float",  # base64, the SDK's default, is not understood everywhere
                dimensions=self.identity.dimensions if with_dimensions else openai.omit,
            )
        except openai.APIStatusError as error:
            return Failure.of_status(error.status_code, _PREFIX, error.response.headers)
        except openai.APIConnectionError:
            return Failure.unreachable(_PREFIX)
        except (openai.OpenAIError, ValueError, AttributeError, TypeError):
            answer = None  # no JSON, or JSON of another shape, on which the SDK stumbles
        rows = _rows(answer)
        if rows is None:
            return Failure("the answer is not one of an embeddings endpoint (check EMBEDDING_BASE_URL)")
        return self._vectors(rows, len(texts))

    def _vectors(self, rows: list[tuple[object, object]], count: int) -> Vectors | Failure:
        """The rows in the order of the input, normalised. Raises EmbeddingError, through `checked`, too."""
        by_index = {index: values for index, values in rows if type(index) is int}
        if len(rows) != count or by_index.keys() != set(range(count)):
            return Failure(f"{len(rows)} rows for {count} texts, or rows that are not numbered 0 to {count - 1}")
        try:
            with np.errstate(over="ignore"):  # a number too large becomes infinite, which `checked` reports
                raw = np.asarray([by_index[index] for index in range(count)], dtype=np.float32)
        except (ValueError, TypeError):
            return Failure("a row that is not a list of numbers, or rows of different lengths")
        raw = checked(raw, count, self.identity)
        lengths = np.linalg.norm(raw.astype(np.float64), axis=1, keepdims=True)
        if not lengths.all():
            return Failure("a zero vector, which has no direction")
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
