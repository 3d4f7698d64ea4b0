"""Refuse a message that is too long to be read, by its id: its sender waits for an answer.

Clients write the id first or last. It is taken only from a request, and only where it stands at the top level beyond
doubt: the id of a reply is one of ours.
"""

from __future__ import annotations

import re

from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError

LONGEST_MESSAGE = 64 * 1024 * 1024
END_BYTES = 500
"""How much of each end of a message is looked at."""

_MEMBER = rb'"(?:jsonrpc|id|method)"\s*:\s*(?:"[^"\\]*"|\d{1,15})'
_HEAD = re.compile(rb"\s*\{\s*((?:" + _MEMBER + rb"\s*,\s*)*)")
_TAIL = re.compile(rb"((?:,\s*" + _MEMBER + rb"\s*)*)\}\s*\Z")
_VALUE = re.compile(rb'"(jsonrpc|id|method)"\s*:\s*(?:"([^"\\]*)"|(\d+))')


def refusal(head: bytes, tail: bytes) -> JSONRPCError:
    """Answer the message that begins with `head` and ends with `tail`."""
    problem = f"the message is longer than {LONGEST_MESSAGE} bytes and was not read"
    error = ErrorData(code=INVALID_REQUEST, message=problem)
    return JSONRPCError(jsonrpc="2.0", id=id_of(head, tail), error=error)


def id_of(head: bytes, tail: bytes) -> str | int | None:
    """The id of the request that begins with `head` and ends with `tail`; None where it is in doubt."""
    members: dict[bytes, str | int] = {}
    for match in (_HEAD.match(head), _TAIL.search(tail)):
        for name, text, number in _VALUE.findall(match[1] if match else b""):
            members[name] = int(number) if number else text.decode("utf-8", "replace")
    return members.get(b"id") if b"method" in members else None
