"""What a chat endpoint says, for `provider_server.serving`, and settings that lead there."""

from __future__ import annotations

import json
from typing import Any

from tests.provider_server import Call, Reply
from webrag_core.config import Settings

KEY = "sk-Very-Secret-0123456789"


def said(content: Any, *, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A completion whose message holds `content`."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def streamed(content: str, *, size: int = 7, cut: bool = False, usage: dict[str, int] | None = None) -> Reply:
    """The same as a stream of server-sent events, `size` characters each; `cut` = without its second half. `usage`
    comes last, as with `include_usage`."""
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    if cut:
        parts = parts[: len(parts) // 2]
    events = [_event({"role": "assistant", "content": ""}), *(_event({"content": part}) for part in parts)]
    counted = [] if usage is None else [f"data: {json.dumps(_chunk([]) | {'usage': usage})}\n\n"]
    closing = [] if cut else [_event({}, finish="stop"), *counted, "data: [DONE]\n\n"]
    return Reply(None, content_type="text/event-stream", pieces=[*events, *closing], cut=cut)


def _event(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps(_chunk([choice]))}\n\n"


def _chunk(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices}


def analysis(*sub_queries: str, **more: Any) -> dict[str, Any]:
    """A completion that holds an analysis, valid unless `more` says otherwise."""
    found = {
        "sub_queries": list(sub_queries),
        "query_type": "how_to",
        "key_concepts": ["tea"],
        "rewrites": [],
        **more,
    }
    return said(json.dumps(found))


def chat_settings(url: str | None, **more: Any) -> Settings:
    """Analysis by the model `m` behind `url`."""
    given = {"decomposition_mode": "llm", "orchestration_llm_model": "m", "orchestration_llm_timeout": 20.0, **more}
    return Settings(orchestration_llm_base_url=url, **given)


def sent_data(call: Call) -> dict[str, Any]:
    """The object between the fences of the user's turn."""
    first, line, last = call.body["messages"][1]["content"].split("\n")
    assert (first, last) == ("```json", "```")
    found: dict[str, Any] = json.loads(line)
    return found
