"""Structured answers of a chat model: data in a fence, one JSON object back, validated, sent back once when wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

from webrag_core.errors import ChatError
from webrag_core.providers.chat import AnswerFormat, ChatEndpoint, Message

Answer = TypeVar("Answer", bound=BaseModel)

_PROBLEMS = 5  # shown to the model and the user; one wrong field is often a hundred errors
_OBJECTS = 50  # braces at which an object is looked for
_ECHOED = 4_000  # characters of a wrong answer that are sent back


def cut_at(most: int) -> BeforeValidator:
    """For a text or a list of which the first `most` characters or entries are enough: a longer value is cut, not
    refused. Models count badly, and an answer that is sent back costs a second one."""
    return BeforeValidator(lambda value: value[:most] if isinstance(value, str | list) else value)


# limits of lengths and numbers are left out: not every server knows them, and the answer is checked anyway
_SCHEMA_WORDS = frozenset(["$defs", "$ref", "anyOf", "const", "description", "enum", "items", "type"])


async def ask_for(
    chat: ChatEndpoint,
    answer_type: type[Answer],
    *,
    system: str,
    data: Mapping[str, Any],
    seconds: float,
    max_tokens: int,
) -> Answer:
    """Ask the model about `data`. Return its answer as an instance of `answer_type`.

    `system` holds only the instructions. `data` is sent as one fenced JSON object: its texts cannot end the fence or
    their string. An invalid answer is sent back once, with its errors. `seconds` limits the whole exchange. Raises
    ChatError.
    """
    ends = asyncio.get_running_loop().time() + seconds
    messages, form = request_for(answer_type, system=system, data=data)
    problem = ""
    for _ in range(2):
        left = max(0.0, ends - asyncio.get_running_loop().time())
        text = await chat.complete(messages, seconds=left, max_tokens=max_tokens, form=form)
        answer = read_answer(text, answer_type)
        if not isinstance(answer, str):
            return answer
        problem = answer
        messages += [
            Message("assistant", text[:_ECHOED]),
            Message("user", f"This is not what was asked for: {problem}. Reply with only the corrected JSON object."),
        ]
    raise ChatError(chat.model, f"the answer does not fit, also after it was sent back ({problem})")


def request_for(
    answer_type: type[BaseModel], *, system: str, data: Mapping[str, Any]
) -> tuple[list[Message], AnswerFormat]:
    """The turns that ask for an `answer_type` about `data`, and its format."""
    form = AnswerFormat(answer_type.__name__.strip("_"), strict_schema(answer_type.model_json_schema()))
    return [Message("system", system), Message("user", fenced(data))], form


def fenced(data: Mapping[str, Any]) -> str:
    """`data` as one line of JSON between fences. Lone surrogates are written as escapes."""
    text = json.dumps(data, ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in text):
        text = json.dumps(data)
    return f"```json\n{text}\n```"


def read_answer(text: str, answer_type: type[Answer]) -> Answer | str:
    """Validate the first JSON object in `text` that is an `answer_type`. Return it, or an error message that quotes
    nothing of `text`.

    Surrounding text is ignored: fences, a greeting, braces in prose, reasoning up to `</think>`.
    """
    reply = text.rpartition("</think>")[2]
    problem = ""
    start = reply.find("{")
    for _ in range(_OBJECTS):
        if start < 0:
            break
        end = start + 1
        try:
            document, end = json.JSONDecoder().raw_decode(reply, start)
            return answer_type.model_validate(document)
        except ValidationError as error:
            wrong = error.errors(include_input=False, include_url=False, include_context=False)
            results = (f"{'.'.join(map(str, item['loc'])) or 'it'}: {item['msg']}" for item in wrong[:_PROBLEMS])
            problem = problem or "; ".join(results)
        except (ValueError, OverflowError, RecursionError):  # numbers of any length and JSON of any depth are data
            pass
        start = reply.find("{", end)
    if problem:
        return problem
    return "the JSON is broken or cut off" if "{" in reply else "there is no JSON object in it"


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a pydantic schema for strict servers: all properties required, no others, no limits, no defaults."""
    strict: dict[str, Any] = {}
    for word, value in schema.items():
        if word not in _SCHEMA_WORDS:
            continue
        if word == "$defs":
            strict[word] = {name: strict_schema(part) for name, part in value.items()}
        elif word == "items":
            strict[word] = strict_schema(value)
        elif word == "anyOf":
            strict[word] = [strict_schema(part) for part in value]
        else:
            strict[word] = value
    if "properties" in schema:
        strict["properties"] = {name: strict_schema(part) for name, part in schema["properties"].items()}
        strict["required"] = list(strict["properties"])
        strict["additionalProperties"] = False
    return strict
