"""Answers from any OpenAI-compatible chat endpoint, through the real SDK.

Exercised against local servers that speak the wire format only: no real provider was ever called, so what a provider
does beyond its documentation is not known from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from webrag_core.config import Settings
from webrag_core.errors import ChatError, InvalidInputError
from webrag_core.providers.endpoint import key_or_dummy, load_package, only_our_headers, require_package, trust_store
from webrag_core.providers.rerankers.remote import read_at_most
from webrag_core.providers.retry import Failure, RetryingEndpoint

_PREFIX = "ORCHESTRATION_LLM"
_OPENAI = "https://api.openai.com/v1"
_ATTEMPTS = 3
_AT_ONCE = 4  # requests, whatever the number of runs


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


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What a server understands of the optional part of a request."""

    form: Literal["json_schema", "json_object", "text"]
    limit: Literal["max_tokens", "max_completion_tokens"] | None
    temperature: bool


# most servers; reasoning models of OpenAI; older servers; the rest
_DIALECTS = (
    _Dialect("json_schema", "max_tokens", True),
    _Dialect("json_schema", "max_completion_tokens", False),
    _Dialect("json_object", "max_tokens", True),
    _Dialect("text", None, False),
)


class ChatEndpoint:
    """The chat model of ORCHESTRATION_LLM_*. Each answer comes on connections of its own: nothing is left to close.

    At most 4 requests at a time. Belongs to the event loop it is first used in.
    """

    def __init__(self, settings: Settings, wanted_by: str) -> None:
        """Opens nothing. Raises InvalidInputError, naming the setting `wanted_by`, when there is neither key nor URL
        or the SDK is not installed."""
        if settings.orchestration_llm_api_key is None and settings.orchestration_llm_base_url is None:
            raise InvalidInputError(
                f"{wanted_by} needs ORCHESTRATION_LLM_API_KEY"
                " (or ORCHESTRATION_LLM_BASE_URL of a server that wants none)"
            )
        require_package("openai", wanted_by)
        self.model = settings.orchestration_llm_model
        self._url = settings.orchestration_llm_base_url or _OPENAI
        self._key = settings.orchestration_llm_api_key
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._endpoint = RetryingEndpoint(_PREFIX, _DIALECTS, attempts=_ATTEMPTS)

    async def complete(
        self, messages: Sequence[Message], *, seconds: float, max_tokens: int, form: AnswerFormat | None = None
    ) -> str:
        """What the model answers, not blank, within `seconds` and about `max_tokens`; not checked against `form`.

        An answer that was cut off at `max_tokens` is returned as far as it goes. Failures that pass are tried again,
        three attempts in all. A server that refuses an option is asked without it, from then on.

        Raises ChatError, outside any handler: the SDK's own errors, which hold the request and so the key, must not
        hang on it.
        """

        await load_package("openai")

        async def send(dialect: _Dialect) -> str | Failure:
            return await self._ask(_body(self.model, messages, max_tokens, form, dialect), seconds)

        answer = await self._endpoint.ask(send, seconds, self._slots)
        if isinstance(answer, Failure):
            raise ChatError(self.model, answer.reason)
        return answer

    async def _ask(self, body: dict[str, Any], seconds: float) -> str | Failure:
        import openai

        try:
            async with openai.AsyncOpenAI(
                api_key=key_or_dummy(self._key),
                base_url=self._url,
                timeout=2 * seconds + 1,  # ours comes first
                max_retries=0,
                http_client=openai.DefaultAsyncHttpxClient(
                    verify=trust_store("httpx2"),
                    follow_redirects=False,  # what is asked goes to the configured server and nowhere else
                    event_hooks={"request": [only_our_headers(self._key)], "response": [read_at_most]},
                ),
            ) as client:
                answer: object = await client.chat.completions.create(**body)
        except openai.APIStatusError as error:
            return Failure.of_status(error.status_code, _PREFIX, error.response.headers)
        except openai.APIConnectionError:
            return Failure.unreachable(_PREFIX)
        except (openai.OpenAIError, ValueError, AttributeError, TypeError, RecursionError):
            answer = None  # no JSON, or JSON of another shape, on which the SDK stumbles
        return _text_of(answer)


def _body(
    model: str, messages: Sequence[Message], max_tokens: int, form: AnswerFormat | None, dialect: _Dialect
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
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


def _text_of(answer: object) -> str | Failure:
    """The model's words. The SDK checks nothing of the shape."""
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list) or not choices:
        return Failure("the answer is not one of a chat endpoint (check ORCHESTRATION_LLM_BASE_URL)")
    message = getattr(choices[0], "message", None)
    if getattr(message, "refusal", None):
        return Failure("the model refused to answer")
    if getattr(choices[0], "finish_reason", None) == "content_filter":
        return Failure("the endpoint's content filter withheld the answer")
    content = getattr(message, "content", None)
    if not isinstance(content, str) or not content.strip():
        return Failure("the answer holds no text")
    return content
