"""Lines that are no message are repaired or answered: their sender waits."""

from __future__ import annotations

import json

import pytest
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCError

from webrag_core.mcp_server.unreadable_lines import read

PING = '{"jsonrpc": "2.0", "id": 7, "method": "ping"}'


@pytest.mark.parametrize(
    "line", ['{"jsonrpc": "2.0", "method": "notifications/initialized"}', '{"jsonrpc": "2.0", "id": 1, "result": {}}']
)
def test_notifications_and_results_are_messages(line: str) -> None:
    assert read(line) == line


@pytest.mark.parametrize("line", [f"{PING}\n", f"\ufeff{PING}\r\n", f"  {PING}  "])
def test_a_message_stays_what_it_is_without_a_byte_order_mark(line: str) -> None:
    assert read(line) == PING


def asked(text: str) -> str:
    arguments = f'{{"name": "search", "arguments": {{"question": "{text}"}}}}'
    return f'{{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {arguments}}}'


@pytest.mark.parametrize(
    ("text", "question"),
    [("cut \\ud83d", "cut ?"), ("\\ude00 cut", "? cut"), ("\\ud83d\\ude00 whole \\ud83d", "😀 whole ?")],
)
def test_half_a_character_costs_no_answer(text: str, question: str) -> None:
    message = read(asked(text))
    assert isinstance(message, str)
    assert json.loads(message)["params"]["arguments"]["question"] == question


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        (f"[{PING}]", INVALID_REQUEST, None),
        ("[]", INVALID_REQUEST, None),
        ('{"id": 7, "method": "ping"}', INVALID_REQUEST, 7),
        ('{"jsonrpc": "2.0", "id": 74.0, "method": "ping"}', INVALID_REQUEST, 74),
        ('{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": 3}', INVALID_REQUEST, "a"),
        ('{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', INVALID_REQUEST, None),
        ('{"jsonrpc": "2.0", "id": 7}', INVALID_REQUEST, None),
        ("7", INVALID_REQUEST, None),
        (PING[:-1], PARSE_ERROR, None),
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {', PARSE_ERROR, 7),
        ("hello", PARSE_ERROR, None),
        ("[" * 100_000, PARSE_ERROR, None),
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": ' + '{"a":' * 100_000, PARSE_ERROR, 7),
        ("\ufffd\ufffd", PARSE_ERROR, None),
    ],
)
def test_what_is_no_message_is_answered_with_its_id_where_that_is_beyond_doubt(
    line: str, code: int, number: str | int | None
) -> None:
    error = read(line)
    assert isinstance(error, JSONRPCError)
    assert (error.error.code, error.id) == (code, number)


@pytest.mark.parametrize("line", ["", "\n", "  \r\n", "\ufeff\n"])
def test_a_blank_line_is_nothing(line: str) -> None:
    assert read(line) is None
