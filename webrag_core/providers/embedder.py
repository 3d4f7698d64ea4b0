"""Embedding models behind one protocol, and the checks that every answer of theirs must pass.

The remote one speaks to any OpenAI-compatible endpoint through the real SDK, which is imported at the first request. It
was exercised against local servers that speak the wire format only: what a provider does beyond its documentation
(limits, error bodies, models that refuse `dimensions`) is not known from here.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from webrag_core.config.embedding import EmbeddingSettings
from webrag_core.errors import EmbeddingError
from webrag_core.extras import OPENAI, require_extra
from webrag_core.providers.announcement import Announcement
from webrag_core.providers.endpoint import key_or_dummy, load_package, only_our_headers, trust_store, without_version
from webrag_core.providers.input_types import InputType, convention_of
from webrag_core.providers.retry import Failure, RetryingEndpoint, through
from webrag_core.providers.static_model import text_vectors, token_ids
from webrag_core.store.breakers import Breakers, spending_of
from webrag_core.store.spending import Amounts

if TYPE_CHECKING:
    from openai import AsyncOpenAI

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

_PREFIX = "EMBEDDING"
_OPENAI = "https://api.openai.com/v1"
_ATTEMPTS = 4
_MAX_QUERIES = 256  # whose vectors are remembered


@dataclass(frozen=True, slots=True)
class _Form:
    """The optional part of a request."""

    encoding: Literal["base64", "float"]
    dimensions: bool


# base64 takes a twentieth of the time to read and half the bytes, but not every server knows it; many models have one
# length only and refuse to be asked for it
_FORMS = (_Form("base64", True), _Form("base64", False), _Form("float", True), _Form("float", False))


_SHARES = (0.75, 0.5, 0.25)  # of a refused text that are tried


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What makes vectors comparable: two models that differ in any field never meet in one search.

    `inputs` distinguishes documents from queries (`InputConvention.of_documents`).
    """

    provider: str
    name: str
    dimensions: int
    normalisation: str
    inputs: str = ""

    @property
    def key(self) -> str:
        """One string for the model, as tables fitted to its scores name it."""
        parts = (self.provider, self.name, str(self.dimensions), self.normalisation, self.inputs)
        return "/".join(filter(None, parts))


class RefusedTextsError(EmbeddingError):
    """The endpoint works and takes some of the texts not even in part.

    `vectors` has a row for every text, zero where it was refused; `refused` has the reasons by position.
    """

    def __init__(self, model: str, vectors: Vectors, refused: Mapping[int, str]) -> None:
        reason = next(iter(refused.values()))
        super().__init__(f"{model} refuses {len(refused)} of {len(vectors)} texts: {reason}")
        self.vectors = vectors
        self.refused = refused


class Embedder(Protocol):
    """Turns texts into vectors."""

    identity: ModelIdentity

    async def embed(self, texts: Sequence[str], input_type: InputType = "document") -> Vectors:
        """Return unit-length float32 vectors, shape (len(texts), dimensions). Raises EmbeddingError; RefusedTextsError
        with the vectors of the others where the model takes all but some of the texts."""
        ...

    async def aclose(self) -> None:
        """Release connections, if there are any."""
        ...


@dataclass(frozen=True, slots=True)
class _Kind:
    """What requests for texts of one input type have in common: further fields, a text that no model refuses, seconds
    that they wait for a limiting endpoint, whether a refused text may be cut."""

    body: dict[str, str]
    sample: str
    patience: float
    cut: bool


@dataclass(frozen=True, slots=True)
class _Embedded:
    """A row for each text, zero where the endpoint refused it; the reasons by position; texts of the largest request
    among those it was divided into."""

    vectors: Vectors
    refused: dict[int, str] = field(default_factory=dict)
    largest: int = 0

    def followed_by(self, other: _Embedded) -> _Embedded:
        """Both, in this order."""
        count = len(self.vectors)
        return _Embedded(
            np.concatenate([self.vectors, other.vectors]),
            self.refused | {count + place: reason for place, reason in other.refused.items()},
            max(self.largest, other.largest),
        )


class WordLlamaEmbedder:
    """The offline default: 256-dimensional averages of static token vectors, in process."""

    # of the release that its files were first taken from; they are the same in the one that is installed
    identity = ModelIdentity("wordllama", "l2_supercat_256@0.4.0", 256, "l2")

    async def embed(self, texts: Sequence[str], input_type: InputType = "document") -> Vectors:
        """Return unit-length float32 vectors, shape (len(texts), 256), the same for queries and documents.

        A text without any token has no direction; it is embedded as a full stop, since a zero vector would be NaN
        once normalised. Raises EmbeddingError when the model's answer is not what it should be.
        """
        if not texts:
            return np.empty((0, self.identity.dimensions), dtype=np.float32)
        texts = [text if text.strip() else "." for text in texts]
        return await asyncio.to_thread(lambda: self.vectors(token_ids(texts)))

    async def aclose(self) -> None:
        """Nothing to release."""

    def vectors(self, ids: Sequence[NDArray[np.uint16]]) -> Vectors:
        """As `embed`, of texts by their `token_ids`."""
        full_stop = token_ids(["."])[0]
        return checked(text_vectors([number if len(number) else full_stop for number in ids]), len(ids), self.identity)


class OpenAIEmbedder:
    """A remote embedding model. At most EMBEDDING_MAX_WORKERS requests at a time, each within EMBEDDING_TIMEOUT; for
    documents what the endpoint asks to wait comes on top, up to EMBEDDING_MAX_WAIT.

    `tokens` are those of all requests since it was made, as the endpoint counts them; `unrecorded` of them are not in
    the database yet. Belongs to the event loop it is first used in.
    """

    def __init__(self, settings: EmbeddingSettings, breakers: Breakers | None = None) -> None:
        """Opens nothing. Raises InvalidInputError when the SDK is not installed."""
        require_extra(OPENAI, "EMBEDDING_BASE_URL or EMBEDDING_API_KEY")
        self.identity = identity_of(settings)
        self._url = settings.embedding_base_url or _OPENAI
        self._key = settings.embedding_api_key
        self._seconds = settings.embedding_timeout
        self._patience = settings.embedding_max_wait
        self._size = settings.embedding_batch_size
        self._slots = asyncio.Semaphore(settings.embedding_max_workers)
        self._convention = convention_of(settings)
        self._breaker = None if breakers is None else breakers.of("embeddings", self._url)
        self._spending = spending_of(breakers)
        cap = f"{self._size} texts a request (EMBEDDING_BATCH_SIZE), each text once"
        has_key = self._key is not None
        self._announcement = Announcement(self._breaker, self._url, self.identity.name, cap, has_key=has_key)
        self._endpoint = RetryingEndpoint(_FORMS, attempts=_ATTEMPTS, shares_pauses=True)
        self._under_way: set[asyncio.Future[None]] = set()
        self._queries: dict[str, Vectors] = {}
        self._opened: AsyncOpenAI | None = None
        self.tokens = 0
        self.unrecorded = 0

    async def embed(self, texts: Sequence[str], input_type: InputType = "document") -> Vectors:
        """Return unit-length float32 vectors, shape (len(texts), dimensions). Recent queries are not sent again.

        A blank text is embedded as a full stop: providers refuse empty input. A batch that the endpoint does not take
        is sent in halves, down to single texts; the size that it takes is remembered. Of a document that it refuses
        the beginning is embedded. Raises EmbeddingError when the endpoint fails, answers something else or gives a
        vector that cannot be one; RefusedTextsError where that happens with some of the documents alone.
        """
        if not texts:
            return np.empty((0, self.identity.dimensions), dtype=np.float32)
        await load_package("openai")
        await self._announcement.make()
        if input_type == "query":
            return await self._embed_queries(texts)
        return await self._embed(texts, input_type)

    async def _embed_queries(self, texts: Sequence[str]) -> Vectors:
        rows = {text: self._queries[text] for text in texts if text in self._queries}
        unknown = [text for text in dict.fromkeys(texts) if text not in rows]
        if unknown:
            rows |= dict(zip(unknown, await self._embed(unknown, "query"), strict=True))
            self._queries |= rows
            for text in list(self._queries)[:-_MAX_QUERIES]:
                del self._queries[text]
        return np.stack([rows[text] for text in texts])

    async def _embed(self, texts: Sequence[str], input_type: InputType) -> Vectors:
        inputs = [self._convention.text(text if text.strip() else ".", input_type) for text in texts]
        kind = _Kind(
            self._convention.body(input_type),
            self._convention.text("text", input_type),
            self._patience if input_type == "document" else 0.0,  # behind a query somebody waits
            cut=input_type == "document",
        )
        size = self._size
        batches = [inputs[start : start + size] for start in range(0, len(inputs), size)]
        tasks: list[asyncio.Task[_Embedded]] = []
        failed: list[EmbeddingError] = []
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._batch(batch, kind)) for batch in batches]
        except* EmbeddingError as errors:
            failed = [error for error in errors.exceptions if isinstance(error, EmbeddingError)]
        if failed:
            raise failed[0]
        embedded = [task.result() for task in tasks]
        vectors = np.concatenate([part.vectors for part in embedded])
        refused = {
            number * size + place: reason
            for number, part in enumerate(embedded)
            for place, reason in part.refused.items()
        }
        if refused:
            raise RefusedTextsError(self.identity.name, vectors, refused)
        return vectors

    async def aclose(self) -> None:
        """Close the connections; the next `embed` opens new ones."""
        if self._opened is not None:
            client, self._opened = self._opened, None
            await client.close()

    async def _batch(self, texts: list[str], kind: _Kind) -> _Embedded:
        """One batch, with retries. The error is raised outside any handler: the SDK's own errors, which hold the
        request and so the key, must not hang on it."""
        async with self._slots:  # a long text has many batches: waiting for the others does not count
            answer = await self._send(texts, kind)
            if isinstance(answer, Failure) and answer.retry_at is not None:
                # one of the others may be the breaker's probe, which an error raised here would cancel, every time
                # anew; it may also have ended while this batch was being refused
                if self._under_way:
                    await asyncio.wait(set(self._under_way))
                answer = await self._send(texts, kind)
        if isinstance(answer, Failure):
            error = answer.on(EmbeddingError(f"embedding with {self.identity.name}: {answer.reason}"))
            error.transient = answer.transient or answer.retry_at is not None
            raise error
        return answer

    async def _send(self, texts: list[str], kind: _Kind) -> _Embedded | Failure:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._under_way.add(done)
        try:
            return await through(self._breaker, lambda: self._whole(texts, kind))
        finally:
            self._under_way.discard(done)
            done.set_result(None)

    async def _whole(self, texts: list[str], kind: _Kind) -> _Embedded | Failure:
        """The vectors of a batch, in parts where the endpoint does not take all of it at once."""
        if len(texts) > self._size:  # learned since the batch was made
            return await self._in_parts(texts, self._size, kind)
        answer = await self._request(texts, kind)
        if not isinstance(answer, Failure):
            return _Embedded(answer)
        if not _may_be_of_the_texts(answer) or (not kind.cut and (len(texts) == 1 or answer.timed_out)):
            return answer
        # whether the endpoint works at all decides who is at fault; one that is down is not asked for every text
        if isinstance(await self._request([kind.sample], kind, attempts=1), Failure):
            return answer
        return await self._divided(texts, answer, kind)

    async def _divided(self, texts: list[str], failure: Failure, kind: _Kind) -> _Embedded | Failure:
        """The vectors of texts that the endpoint did not take together, by halves; see `_in_parts`."""
        if len(texts) == 1:
            return await self._cut(texts[0], failure, kind)
        size = (len(texts) + 1) // 2
        parts = await self._in_parts(texts, size, kind)
        if not isinstance(parts, Failure) and not parts.refused and parts.largest < self._size:
            self._size = parts.largest
            logger.warning(
                "the endpoint of %s takes %d texts in a request, not %d (EMBEDDING_BATCH_SIZE): %s",
                *(self.identity.name, parts.largest, len(texts), failure.reason),
            )
        return parts

    async def _in_parts(self, texts: list[str], size: int, kind: _Kind) -> _Embedded | Failure:
        """The vectors of texts in requests of `size` and fewer, of each failed one again in halves. A failure that is
        not due to the texts is one of all of them."""
        whole = _Embedded(np.empty((0, self.identity.dimensions), dtype=np.float32))
        start = 0
        while start < len(texts):
            some = texts[start : start + min(size, self._size)]
            answer = await self._request(some, kind, attempts=1 if len(some) > 1 else 2, any_form=False)
            if not isinstance(answer, Failure):
                part: _Embedded | Failure = _Embedded(answer, largest=len(some))
            elif _may_be_of_the_texts(answer):
                part = await self._divided(some, answer, kind)
            else:
                part = answer
            if isinstance(part, Failure):
                return part
            whole = whole.followed_by(part)
            start += len(some)
        return whole

    async def _cut(self, text: str, failure: Failure, kind: _Kind) -> _Embedded | Failure:
        """The vector of the beginning of a text that the endpoint refuses as a whole, or of no text."""
        for share in _SHARES if kind.cut else ():
            answer = await self._request([text[: max(1, int(share * len(text)))]], kind, attempts=1, any_form=False)
            if not isinstance(answer, Failure):
                logger.warning(
                    "%s: %.0f %% of a text were embedded (%s)", self.identity.name, 100 * share, failure.reason
                )
                return _Embedded(answer, largest=1)
            if not _may_be_of_the_texts(answer):
                return answer
        nothing = np.zeros((1, self.identity.dimensions), dtype=np.float32)
        return _Embedded(nothing, {0: failure.reason})

    async def _request(
        self, texts: list[str], kind: _Kind, *, attempts: int | None = None, any_form: bool = True
    ) -> Vectors | Failure:
        return await self._endpoint.ask(
            lambda form: self._ask(texts, kind.body, form),
            self._seconds,
            patience=kind.patience,
            attempts=attempts,
            any_form=any_form,
        )

    async def _ask(self, texts: list[str], body: dict[str, str], form: _Form) -> Vectors | Failure:
        import openai

        try:
            answer: object = await self._client().embeddings.create(
                model=self.identity.name,
                input=texts,
                encoding_format=form.encoding,
                dimensions=self.identity.dimensions if form.dimensions else openai.omit,
                extra_body=body or None,
            )
        except openai.APIStatusError as error:
            return Failure.of_status(error.status_code, _PREFIX, error.response.headers)
        except openai.APIConnectionError as error:
            return Failure.of_connection(error.__cause__, _PREFIX)
        except (openai.OpenAIError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
            answer = None  # no JSON, or JSON of another shape, on which the SDK stumbles
        rows = _rows(answer)
        if rows is None:
            return Failure("the answer is not one of an embeddings endpoint (check EMBEDDING_BASE_URL)")
        tokens = _tokens(answer)
        self.tokens += tokens
        self.unrecorded += tokens
        self._spending.add(
            f"embeddings {self.identity.name}", Amounts(requests=1, untold=int(not tokens), input_tokens=tokens)
        )
        try:
            return self._vectors(rows, len(texts))
        except EmbeddingError as error:
            return Failure(error.message)

    def _vectors(self, rows: list[tuple[object, object]], count: int) -> Vectors | Failure:
        """The rows in the order of the input, normalised. Raises EmbeddingError, through `checked`, too."""
        if len(rows) == count and all(index is None for index, _ in rows):
            rows = [(place, values) for place, (_, values) in enumerate(rows)]
        by_index = {index: values for index, values in rows if type(index) is int}
        if len(rows) != count or by_index.keys() != set(range(count)):
            return Failure(f"{len(rows)} rows for {count} texts, or rows that are not numbered 0 to {count - 1}")
        try:
            with np.errstate(over="ignore"):  # a number too large becomes infinite, which `checked` reports
                raw = np.asarray([_numbers(by_index[index]) for index in range(count)], dtype=np.float32)
        except (ValueError, TypeError, OverflowError):  # of an integer that is no float
            return Failure("a row that is not a list of numbers, or rows of different lengths")
        raw = checked(raw, count, self.identity)
        lengths = np.linalg.norm(raw.astype(np.float64), axis=1, keepdims=True)
        if not lengths.all():
            return Failure("a zero vector, which has no direction")
        return checked((raw / lengths).astype(np.float32), count, self.identity)

    def _client(self) -> AsyncOpenAI:
        if self._opened is None:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient

            base_url, version = without_version(self._url)
            self._opened = AsyncOpenAI(
                api_key=key_or_dummy(self._key),
                base_url=base_url,
                default_query=version,
                timeout=2 * self._seconds,  # ours comes first
                max_retries=0,
                http_client=DefaultAsyncHttpxClient(
                    verify=trust_store("httpx2"),
                    follow_redirects=False,  # texts go to the configured server and nowhere else
                    event_hooks={"request": [only_our_headers(self._key, dated=bool(version))]},
                ),
            )
        return self._opened


def _may_be_of_the_texts(failure: Failure) -> bool:
    """Whether fewer or other texts may be taken: not where the key, the address or a limit of requests is at fault, nor
    where nobody answers. A request that ran out of time may have been too large."""
    return (
        failure.status not in (401, 402, 403, 404, 429, 503)
        and not failure.is_redirect
        and failure.asked
        and (not failure.is_lost or failure.timed_out)
    )


def _tokens(answer: object) -> int:
    """The tokens that the endpoint charges; 0 where it counts none."""
    tokens = getattr(getattr(answer, "usage", None), "prompt_tokens", None)
    return tokens if type(tokens) is int and tokens > 0 else 0


def _numbers(values: object) -> object:
    """The numbers of one row: base64 of little-endian float32, or a list, which servers may send all the same."""
    if isinstance(values, str):
        return np.frombuffer(base64.b64decode(values, validate=True), dtype="<f4")
    return values


def _rows(answer: object) -> list[tuple[object, object]] | None:
    """(index, embedding) of each row; None when there are none. The SDK checks nothing of this."""
    data = getattr(answer, "data", None)
    if not isinstance(data, list) or not data:
        return None
    return [(getattr(row, "index", None), getattr(row, "embedding", None)) for row in data]


def checked(vectors: Vectors, count: int, identity: ModelIdentity) -> Vectors:
    """`vectors` if they are `count` finite rows of the model's dimensions; else EmbeddingError."""
    if vectors.shape != (count, identity.dimensions):
        raise EmbeddingError(
            f"{identity.name} gave vectors of shape {vectors.shape}, expected {(count, identity.dimensions)}"
        )
    if not np.isfinite(vectors).all():
        raise EmbeddingError(f"{identity.name} gave a vector that is not finite")
    return vectors


def identity_of(settings: EmbeddingSettings) -> ModelIdentity:
    """The identity of the model that these settings ask for, without loading anything."""
    if settings.embedding_base_url is None and settings.embedding_api_key is None:
        return WordLlamaEmbedder.identity
    return ModelIdentity(
        "openai-compatible",
        settings.embedding_model,
        settings.embedding_dimensions,
        "l2",
        convention_of(settings).of_documents,
    )


def embedding_tokens(embedder: Embedder) -> int:
    """Tokens that the endpoint of `embedder` charged since it was made; 0 where it counts none, or there is none."""
    return embedder.tokens if isinstance(embedder, OpenAIEmbedder) else 0


def take_tokens(embedder: Embedder) -> int:
    """Tokens charged since the last call, for the database."""
    if not isinstance(embedder, OpenAIEmbedder):
        return 0
    taken, embedder.unrecorded = embedder.unrecorded, 0
    return taken


def make_embedder(settings: EmbeddingSettings, breakers: Breakers | None = None) -> Embedder:
    """Make the embedder of the settings: an OpenAI-compatible endpoint when EMBEDDING_BASE_URL or EMBEDDING_API_KEY is
    set, else the offline model.

    Opens nothing. Raises InvalidInputError when the endpoint's SDK is not installed.
    """
    if settings.embedding_base_url is None and settings.embedding_api_key is None:
        return WordLlamaEmbedder()
    return OpenAIEmbedder(settings, breakers)
