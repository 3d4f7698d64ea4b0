"""Lines of stdin that are no message: repaired where that is safe, else answered, since their sender waits.

A byte order mark goes. Lone surrogates, halves of characters that a client cut, become question marks. What
is still no message gets an error with its id, where that is beyond doubt.
"""

from __future__ import annotations

import json

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)

from webrag_core.mcp_server.long_messages import END_BYTES, id_of

_MARK = "\ufeff"
_BATCH = "batches are not taken: send one message on each line"
_NO_MESSAGE = "this is no message of JSON-RPC 2.0"


def read(line: str) -> str | JSONRPCError | None:
    """The message on a line, repaired; the error to answer; None for a blank line."""
    text = line.strip().removeprefix(_MARK).strip()
    if not text:
        return None
    if _is_message(text):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raw = text.encode("utf-8", "replace")
        return _error(PARSE_ERROR, "this is no JSON", id_of(raw[:END_BYTES], raw[-END_BYTES:]))
    if isinstance(value, list):
        return _error(INVALID_REQUEST, _BATCH, None)
    try:
        # halves that belong together are one character by now; what is left of them becomes a question mark
        repaired = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    except RecursionError:
        repaired = ""
    if _is_message(repaired):
        return repaired
    number = value.get("id") if isinstance(value, dict) and isinstance(value.get("method"), str) else None
    known = number if isinstance(number, str) or type(number) is int else None
    if isinstance(number, float) and number.is_integer():
        known = int(number)
    return _error(INVALID_REQUEST, _NO_MESSAGE, known)


def _is_message(text: str) -> bool:
    """Whether it is a message. A request with an id of another type, which would be taken for a notification, is
    none."""
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:  # pydantic's too
        return False
    return not isinstance(message, JSONRPCNotification) or '"id"' not in text or json.loads(text).get("id") is None


def _error(code: int, problem: str, number: str | int | None) -> JSONRPCError:
    if isinstance(number, str):
        number = number.encode("utf-8", "replace").decode()
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=problem))
