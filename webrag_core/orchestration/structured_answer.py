"""An answer of a chat model as a checked object: JSON, validated, with one chance to correct it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from webrag_core.errors import ChatError
from webrag_core.providers.chat import AnswerFormat, ChatEndpoint, Message

Answer = TypeVar("Answer", bound=BaseModel)

_PROBLEMS = 5  # told to the model and the user; one wrong field is often a hundred errors
_ECHOED = 4_000  # characters of a wrong answer that are sent back

# limits of lengths and numbers are left out: not every server knows them, and the answer is checked anyway
_SCHEMA_WORDS = frozenset(["$defs", "$ref", "anyOf", "const", "description", "enum", "items", "type"])


async def ask_for(
    chat: ChatEndpoint, wanted: type[Answer], *, system: str, data: Mapping[str, Any], seconds: float, max_tokens: int
) -> Answer:
    """What the model makes of `data`, as an instance of `wanted`.

    `system` holds the instructions and nothing else. `data` is sent as one JSON object between fences: its texts can
    neither end the fence nor the string they stand in, whatever they hold. An answer that does not validate is sent
    back once, with what is wrong. `seconds` are for all of it. Raises ChatError.
    """
    ends = asyncio.get_running_loop().time() + seconds
    form = AnswerFormat(wanted.__name__.strip("_"), strict_schema(wanted.model_json_schema()))
    messages = [Message("system", system), Message("user", fenced(data))]
    problem = ""
    for _ in range(2):
        left = max(0.0, ends - asyncio.get_running_loop().time())
        text = await chat.complete(messages, seconds=left, max_tokens=max_tokens, form=form)
        found = read_answer(text, wanted)
        if not isinstance(found, str):
            return found
        problem = found
        messages += [
            Message("assistant", text[:_ECHOED]),
            Message("user", f"This is not what was asked for: {problem}. Reply with only the corrected JSON object."),
        ]
    raise ChatError(chat.model, f"the answer does not fit, also after it was sent back ({problem})")


def fenced(data: Mapping[str, Any]) -> str:
    """`data` as one line of JSON between fences. Lone surrogates are written as escapes."""
    text = json.dumps(data, ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in text):
        text = json.dumps(data)
    return f"```json\n{text}\n```"


def read_answer(text: str, wanted: type[Answer]) -> Answer | str:
    """The first JSON object in `text`, validated; or what is wrong with it, in words that hold nothing of it.

    What stands before and after it is ignored: fences, a greeting, a train of thought up to `</think>`.
    """
    spoken = text.rpartition("</think>")[2]
    start = spoken.find("{")
    if start < 0:
        return "there is no JSON object in it"
    try:
        found, _ = json.JSONDecoder().raw_decode(spoken, start)
        return wanted.model_validate(found)
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False, include_context=False)
        return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'it'}: {item['msg']}" for item in wrong[:_PROBLEMS])
    except (ValueError, RecursionError):
        return "the JSON is broken or cut off"


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A pydantic schema as strict servers want it: every property required, no other one, no limits, no defaults."""
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
