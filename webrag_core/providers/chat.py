"""Answers from any OpenAI-compatible chat endpoint, through the real SDK.

Exercised against local servers that speak the wire format only: no real provider was ever called, so what a provider
does beyond its documentation is not known from here.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from webrag_core.config import Settings
from webrag_core.config.chat import ChatSettings
from webrag_core.errors import ChatError, InvalidInputError
from webrag_core.extras import OPENAI, require_extra
from webrag_core.providers.announcement import Announcement
from webrag_core.providers.endpoint import key_or_dummy, load_package, only_our_headers, trust_store, without_version
from webrag_core.providers.rerankers.remote import LARGEST_ANSWER, read_at_most
from webrag_core.providers.retry import Failure, RetryingEndpoint
from webrag_core.store.breakers import Breakers, spending_of
from webrag_core.store.spending import Amounts
from webrag_core.trace import span

_PREFIX = "ORCHESTRATION_LLM"
OPENAI_URL = "https://api.openai.com/v1"
"""Where requests go that have a key and no other address."""
_ATTEMPTS = 3
_AT_ONCE = 4  # requests, whatever the number of runs
_HOPEFUL = 0.5  # share of the shortest exchange that leaves a hope of an answer
_NO_CHAT = Failure(
    f"the answer is empty, larger than {LARGEST_ANSWER / 1e6:.0f} MB, or not one of a chat endpoint"
    " (check ORCHESTRATION_LLM_BASE_URL)"
)
_REFUSED = Failure("the model refused to answer", decided=True)
_FILTERED = Failure("the endpoint's content filter withheld the answer", decided=True)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. What a user or a page says belongs into a `user` turn."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """The JSON object that is asked for: a name of letters, digits, - and _, and its JSON schema."""

    name: str
    schema: Mapping[str, Any]


@dataclass(slots=True)
class ChatAllowance:
    """Exchanges with a chat model that one answer may still have, and those that it has had. A retry is no new one."""

    most: int
    used: int = 0

    def take(self, model: str) -> None:
        """Count one. Raises ChatError when none is left."""
        if self.used >= self.most:
            raise ChatError(model, f"not asked: the answer has had its {self.most} exchanges (ANSWER_CHAT_CALLS)")
        self.used += 1


chat_allowance: ContextVar[ChatAllowance | None] = ContextVar("chat_allowance", default=None)
"""The allowance of the answer at work; None outside of answers, where nothing is counted."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What a server understands of the optional part of a request."""

    form: Literal["json_schema", "json_object", "text"]
    limit: Literal["max_tokens", "max_completion_tokens"] | None
    temperature: bool
    system: bool = True


# most servers; reasoning models of OpenAI; older servers; the rest; models without a system turn
_DIALECTS = (
    _Dialect("json_schema", "max_tokens", True),
    _Dialect("json_schema", "max_completion_tokens", False),
    _Dialect("json_object", "max_tokens", True),
    _Dialect("text", None, False),
    _Dialect("text", None, False, system=False),
)


class ChatEndpoint:
    """The chat model of ORCHESTRATION_LLM_*. Each answer comes on connections of its own: nothing is left to close.

    At most 4 requests at a time. Belongs to the event loop it is first used in.
    """

    def __init__(self, settings: ChatSettings, wanted_by: str, breakers: Breakers | None = None) -> None:
        """Opens nothing. Raises InvalidInputError, naming the setting `wanted_by`, when there is neither key nor URL
        or the SDK is not installed."""
        if settings.orchestration_llm_api_key is None and settings.orchestration_llm_base_url is None:
            raise InvalidInputError(
                f"{wanted_by} needs ORCHESTRATION_LLM_API_KEY"
                " (or ORCHESTRATION_LLM_BASE_URL of a server that wants none)"
            )
        require_extra(OPENAI, f"{wanted_by} (the default with ORCHESTRATION_LLM_…)")
        self.model = settings.orchestration_llm_model
        self._url = settings.orchestration_llm_base_url or OPENAI_URL
        self._key = settings.orchestration_llm_api_key
        self._slots = asyncio.Semaphore(_AT_ONCE)
        breaker = None if breakers is None else breakers.of("chat", self._url)
        self._spending = spending_of(breakers)
        self._endpoint = RetryingEndpoint(_DIALECTS, attempts=_ATTEMPTS, breaker=breaker)
        cap = f"{settings.answer_chat_calls} exchanges for an answer in prose (ANSWER_CHAT_CALLS)"
        has_key = self._key is not None
        self._announcement = Announcement(breaker, self._url, self.model, cap, has_key=has_key)
        self._streams = True  # until the server shows that it does not
        self._counts_streams = True  # whether it is asked for the tokens of a stream; until it refuses
        self._shortest: float | None = None  # seconds of the shortest exchange

    async def complete(
        self, messages: Sequence[Message], *, seconds: float, max_tokens: int, form: AnswerFormat | None = None
    ) -> str:
        """What the model answers, not blank, within `seconds` and about `max_tokens`; not checked against `form`.

        An answer that was cut off at `max_tokens` is returned as far as it goes. Failures that pass are tried again,
        three attempts in all. A server that refuses an option is asked without it, from then on.

        Raises ChatError, outside any handler: the SDK's own errors, which hold the request and so the key, must not
        hang on it.
        """
        self._check_time(seconds)
        self._count()
        return await self._complete(messages, seconds=seconds, max_tokens=max_tokens, form=form)

    async def _complete(
        self, messages: Sequence[Message], *, seconds: float, max_tokens: int, form: AnswerFormat | None
    ) -> str:
        await load_package("openai")
        await self._announcement.make()

        async def send(dialect: _Dialect) -> str | Failure:
            body = _body(self.model, messages, max_tokens, form, dialect)
            return await self._ask(body, seconds, structured=form is not None)

        with span("chat", model=self.model):
            answer = await self._endpoint.ask(send, seconds, self._slots)
        if isinstance(answer, Failure):
            raise answer.on(ChatError(self.model, answer.reason))
        return answer

    async def stream(
        self, messages: Sequence[Message], *, seconds: float, max_tokens: int, form: AnswerFormat | None = None
    ) -> AsyncGenerator[str]:
        """As `complete`, in pieces as they come. Close it (`aclosing`) when it is not read to its end.

        Failures are tried again only before the first piece. A server that does not stream is asked for the whole
        answer, from then on. Raises ChatError, after pieces too: what came before it is not the whole answer.
        """
        self._check_time(seconds)
        self._count()
        await load_package("openai")
        await self._announcement.make()
        ends = asyncio.get_running_loop().time() + seconds
        if self._streams:

            async def send(dialect: _Dialect) -> _Stream | Failure:
                return await self._open_counted(_body(self.model, messages, max_tokens, form, dialect), seconds)

            async with self._slots:
                with span("chat", model=self.model):  # until its first words: a block that yields would leave it open
                    opened = await self._endpoint.ask(send, seconds)
                if isinstance(opened, Failure):
                    raise opened.on(ChatError(self.model, opened.reason))
                async with opened.closing:
                    piece = opened.first
                    length = 0
                    try:
                        while piece is not None:
                            if isinstance(piece, Failure):
                                raise ChatError(self.model, piece.reason)
                            length += len(piece)
                            if length > LARGEST_ANSWER:
                                raise ChatError(self.model, "the answer does not end")
                            yield piece
                            piece = await opened.next_piece(ends)
                    finally:  # also of a stream that is not read to its end
                        self._spend(opened.usage)
            self._streams = opened.first is not None
        if not self._streams:
            left = max(0.0, ends - asyncio.get_running_loop().time())
            yield await self._complete(messages, seconds=left, max_tokens=max_tokens, form=form)

    def _check_time(self, seconds: float) -> None:
        """Raise ChatError where no exchange can end within `seconds`, by the shortest that there was."""
        shortest = self._shortest
        if seconds <= 0 or (shortest is not None and seconds < _HOPEFUL * shortest):
            pace = "" if shortest is None else f", and no exchange was shorter than {shortest:.2g} s"
            raise ChatError(self.model, f"not asked: {max(0.0, seconds):.2g} s are left{pace}")

    def _spend(self, usage: object) -> None:
        """Count an answered request, with the tokens that the endpoint tells, if it does."""
        counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
        sent, received = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
        untold = int(not (sent or received))
        amounts = Amounts(requests=1, untold=untold, input_tokens=sent, output_tokens=received)
        self._spending.add(f"chat {self.model}", amounts)

    def _count(self) -> None:
        allowance = chat_allowance.get()
        if allowance is not None:
            allowance.take(self.model)

    async def _ask(self, body: dict[str, Any], seconds: float, *, structured: bool) -> str | Failure:
        answer: object = None
        begun = time.monotonic()
        with _failures() as failures:
            async with self._client(seconds, read_at_most) as client:
                answer = await client.chat.completions.create(**body)
        if failures:
            return failures[0]
        elapsed = time.monotonic() - begun
        self._shortest = elapsed if self._shortest is None else min(self._shortest, elapsed)
        self._spend(getattr(answer, "usage", None))
        return _text_of(answer, structured=structured)

    async def _open_counted(self, body: dict[str, Any], seconds: float) -> _Stream | Failure:
        """As `_open`, of a stream that ends with its tokens, where the server does not refuse to count them."""
        if self._counts_streams:
            opened = await self._open({**body, "stream_options": {"include_usage": True}}, seconds)
            if not isinstance(opened, Failure) or not opened.refuses_options:
                return opened
        opened = await self._open(body, seconds)
        self._counts_streams = self._counts_streams and isinstance(opened, Failure)  # else it was another option
        return opened

    async def _open(self, body: dict[str, Any], seconds: float) -> _Stream | Failure:
        """A stream whose first piece is there, or that ended without one."""
        opened: _Stream | Failure = _NO_CHAT
        async with AsyncExitStack() as stack:
            with _failures() as failures:
                client = await stack.enter_async_context(self._client(seconds))
                stream = _Stream(await client.chat.completions.create(**body, stream=True))
                stream.first = await stream.next_piece(asyncio.get_running_loop().time() + seconds)
                opened = stream.first if isinstance(stream.first, Failure) else stream
                if opened is stream:
                    stream.closing = stack.pop_all()
            opened = failures[0] if failures else opened
        return opened

    def _client(self, seconds: float, *on_response: Any) -> Any:
        import openai

        base_url, version = without_version(self._url)
        return openai.AsyncOpenAI(
            api_key=key_or_dummy(self._key),
            base_url=base_url,
            default_query=version,
            timeout=2 * seconds + 1,  # ours comes first
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                verify=trust_store("httpx2"),
                follow_redirects=False,  # what is asked goes to the configured server and nowhere else
                event_hooks={
                    "request": [only_our_headers(self._key, dated=bool(version))],
                    "response": list(on_response),
                },
            ),
        )


class ChatEndpoints:
    """The chat endpoint of an open corpus: whoever asks it shares its slots, and what was learnt of the server."""

    def __init__(self, settings: Settings, breakers: Breakers | None = None) -> None:
        self.settings = settings
        self._breakers = breakers
        self._endpoint: ChatEndpoint | None = None

    def of(self, wanted_by: str) -> ChatEndpoint:
        """The endpoint, for the setting `wanted_by`. Raises as `ChatEndpoint`."""
        if self._endpoint is None:
            self._endpoint = ChatEndpoint(self.settings, wanted_by, self._breakers)
        return self._endpoint


class _Stream:
    """An answer that comes in pieces: the `first` (None = there is none), those behind it, what closes the connection,
    and the `usage` that the server tells at the end, if it does."""

    def __init__(self, chunks: AsyncIterator[object]) -> None:
        self._chunks = chunks
        self.first: str | Failure | None = None
        self.closing = AsyncExitStack()
        self.usage: object = None

    async def next_piece(self, ends: float) -> str | Failure | None:
        """The next words of the model, until `ends` of the loop's clock; None at the end."""
        with _failures() as failures:
            try:
                async with asyncio.timeout_at(ends):
                    async for chunk in self._chunks:
                        self.usage = getattr(chunk, "usage", None) or self.usage
                        piece = _piece_of(chunk)
                        if piece:
                            return piece
            except TimeoutError:
                failures.append(Failure("the answer did not end in time"))
        return failures[0] if failures else None


@contextmanager
def _failures() -> Iterator[list[Failure]]:
    """Collect what the SDK raises in the block, so that no error of ours hangs on one that holds the request."""
    import openai

    failures: list[Failure] = []
    try:
        yield failures
    except openai.APIStatusError as error:
        failures.append(Failure.of_status(error.status_code, _PREFIX, error.response.headers))
    except openai.APIConnectionError as error:
        failures.append(Failure.of_connection(error.__cause__, _PREFIX))
    except (openai.OpenAIError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
        failures.append(_NO_CHAT)  # no JSON, or JSON of another shape, on which the SDK stumbles


def _piece_of(chunk: object) -> str | Failure | None:
    """The words of one chunk, if any. The SDK checks nothing of the shape."""
    choices = getattr(chunk, "choices", None)
    if not isinstance(choices, list) or not choices:
        return None
    delta = getattr(choices[0], "delta", None)
    if getattr(delta, "refusal", None):
        return _REFUSED
    if getattr(choices[0], "finish_reason", None) == "content_filter":
        return _FILTERED
    return _joined(getattr(delta, "content", None)) or None


def _body(
    model: str, messages: Sequence[Message], max_tokens: int, form: AnswerFormat | None, dialect: _Dialect
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": message.role, "content": message.content}
            for message in (messages if dialect.system else _without_system(messages))
        ],
    }
    if form is not None and dialect.form == "json_schema":
        schema = {"name": form.name, "schema": dict(form.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif form is not None and dialect.form == "json_object":
        body["response_format"] = {"type": "json_object"}
    if dialect.limit is not None:
        body[dialect.limit] = max_tokens
    if dialect.temperature:
        body["temperature"] = 0
    return body


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """The same turns, the instructions in front of the first turn of the user."""
    instructions = [message.content for message in messages if message.role == "system"]
    turns = [message for message in messages if message.role != "system"]
    if not instructions or not turns or turns[0].role != "user":
        return [Message("user", "\n\n".join(instructions)), *turns] if instructions else turns
    return [Message("user", "\n\n".join([*instructions, turns[0].content])), *turns[1:]]


def _text_of(answer: object, *, structured: bool) -> str | Failure:
    """The model's words. The SDK checks nothing of the shape.

    Servers put them into a text or a list of parts; an object (`structured`) also into the call of a tool that nobody
    offered or, where nothing else is there and the answer is whole, behind the reasoning.
    """
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list) or not choices:
        return _NO_CHAT
    message = getattr(choices[0], "message", None)
    if getattr(message, "refusal", None):
        return _REFUSED
    if getattr(choices[0], "finish_reason", None) == "content_filter":
        return _FILTERED
    text = _joined(getattr(message, "content", None))
    if not text.strip() and structured:
        text = _arguments(message)
    if not text.strip() and structured and getattr(choices[0], "finish_reason", None) != "length":
        thoughts = [_joined(getattr(message, name, None)) for name in _REASONING]
        text = next((thought for thought in thoughts if "{" in thought), "")
    return text if text.strip() else Failure("the answer holds no text")


_REASONING = ("reasoning_content", "reasoning")


def _joined(content: object) -> str:
    """A text, or the texts of a list of parts; empty for anything else."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else _member(part, "text") for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _arguments(message: object) -> str:
    """The arguments of the first call of a tool, as JSON; empty where there is none."""
    calls = _member(message, "tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else None
    function = _member(call, "function") or _member(message, "function_call")
    arguments = _member(function, "arguments")
    if isinstance(arguments, dict):
        return json.dumps(arguments)
    return arguments if isinstance(arguments, str) else ""


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
