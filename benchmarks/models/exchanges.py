"""An endpoint on 127.0.0.1 that passes requests on to a model's server and notes each of them."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from benchmarks.local_server import LocalHandler, local_server

_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was asked for (the name of a schema, or the last part of the path), its HTTP status, seconds, tokens, and
    whether the reply is a JSON object; None where none was asked for."""

    purpose: str
    status: int
    seconds: float
    tokens_in: int
    tokens_out: int
    is_object: bool | None


@contextmanager
def passing_on(server: str) -> Iterator[tuple[str, list[Exchange]]]:
    """The base URL of the endpoint, with `/v1`, and the exchanges so far, as long as the block lasts."""
    exchanges: list[Exchange] = []

    class Handler(LocalHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            begun = time.monotonic()
            request = urllib.request.Request(server + self.path, sent, {"content-type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=_SECONDS) as reply:
                    status, body = reply.status, reply.read()
            except urllib.error.HTTPError as refusal:
                status, body = refusal.code, refusal.read()
            except (OSError, http.client.HTTPException):  # the model's server was stopped meanwhile
                self.close_connection = True
                return
            exchanges.append(_exchange(self.path, json.loads(sent), status, time.monotonic() - begun, body))
            with suppress(ConnectionError):  # the client did not wait so long
                self.reply(status, "application/json", body)

    with local_server(Handler) as address:
        yield f"{address}/v1", exchanges


def _exchange(path: str, request: dict[str, Any], status: int, seconds: float, body: bytes) -> Exchange:
    schema = (request.get("response_format") or {}).get("json_schema")
    reply = json.loads(body) if status == 200 else {}
    usage = reply.get("usage") or {}
    is_object = None
    if "choices" in reply and schema is not None:
        is_object = _is_object(reply["choices"][0]["message"].get("content") or "")
    purpose = schema["name"] if schema is not None else path.rsplit("/", 1)[-1]
    return Exchange(
        purpose, status, seconds, usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), is_object
    )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
