"""`webrag mcp` over stdio, with the SDK's client: both protocols, nothing but protocol on stdout."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from mcp import Client

from tests.conftest import FROZEN_SITE
from tests.mcp_server.clients import called, sections_of, stdio, text_of
from tests.provider_server import Provider, Reply, serving
from tests.waiting import wait_until
from webrag_core.mcp_server.long_messages import LONGEST_MESSAGE, refusal
from webrag_core.showing.untrusted import SECTIONS

pytestmark = pytest.mark.alone

ASYNCIO = "https://docs.python.org/3.11/library/asyncio.html"
QUEUES = "https://docs.python.org/3.11/library/asyncio-queue.html"
QUESTION = "Are asyncio queues thread-safe, and how can get() be given a timeout?"
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
GUARANTEED = {"PRESENTATION GUIDE", "SOURCES", "CITATIONS", "STATS", "FOLLOW-UP OPTIONS"}


def call(number: int, name: str, arguments: dict[str, str]) -> dict[str, object]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.mark.slow
def test_every_tool_over_stdio(database_url: str, tmp_path: Path) -> None:
    async def work() -> None:
        async with Client(stdio(database_url, tmp_path, WEBRAG_WARC=str(FROZEN_SITE))) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["answer", "search", "status", "history", "ingest", "attach"]
            assert all(tool.output_schema is None for tool in tools)

            messages: list[str | None] = []

            async def progress(done: float, total: float | None, message: str | None) -> None:
                messages.append(message)

            arguments = {"urls": ASYNCIO, "question": QUESTION, "research_mode": "deep"}
            result = await client.call_tool("answer", arguments, progress_callback=progress)
            assert not result.is_error
            assert result.structured_content is None
            sections = sections_of(text_of(result))
            assert set(sections) >= GUARANTEED
            assert list(sections) == [name for name in SECTIONS if name in sections]
            assert f"[1] Queues — Python 3.11.2 documentation — {QUEUES}" in sections["SOURCES"]
            assert "not thread-safe" in sections["CITATIONS"]
            assert "asyncio-queue.html (depth 1" in sections["EXPANSION TRACE"]
            assert messages[0] == "fetching the requested pages"
            assert any(line and line.startswith("round 1: ") for line in messages)

            sections = sections_of(text_of(await called(client, "search", question="queue timeout")))
            assert set(sections) >= GUARANTEED
            assert QUEUES in sections["SOURCES"]
            assert QUEUES in text_of(await called(client, "status"))
            ingested = text_of(await called(client, "ingest", urls=[ASYNCIO, ASYNCIO + "x"]))
            assert "(already stored" in ingested
            assert "not_found" in ingested

    asyncio.run(work())


def opened(process: subprocess.Popen[str], *lines: dict[str, object] | str) -> None:
    """Send the older protocol's greeting, then these lines."""
    assert process.stdin is not None
    greeting = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for line in (*greeting, *lines):
        process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
    process.stdin.flush()


@contextmanager
def server(database_url: str, folder: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The installed `webrag mcp` without a client."""
    parameters = stdio(database_url, folder, **environment)
    with subprocess.Popen(
        [parameters.command, *parameters.args],
        cwd=folder,
        env={**os.environ, **(parameters.env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield process


def states(database_url: str) -> list[tuple[str, str | None]]:
    with psycopg.connect(database_url) as connection:
        return connection.execute("SELECT state, reason FROM answer_runs ORDER BY id").fetchall()


def held_answer(site: Provider, number: int) -> tuple[str, dict[str, object]]:
    """The site's address, and a call for an answer that waits for it."""
    host = site.url.removeprefix("http://").partition("/")[0]
    return host, call(number, "answer", {"urls": f"http://{host}/", "question": "tea"})


def test_nothing_but_protocol_on_stdout_and_hanging_up_leaves_no_answer_running(
    database_url: str, tmp_path: Path
) -> None:
    """Even where libraries print: the loudest log level, a failing page, the embedded tokenizer's first use."""
    with serving(Reply({}, hold=True)) as site:
        host, hanging = held_answer(site, 5)
        with server(database_url, tmp_path, MCP_LOG_LEVEL="DEBUG", WEBRAG_ALLOW_HOSTS=host) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            opened(
                process,
                call(2, "search", {"question": "tea"}),
                call(3, "answer", {"urls": "http://127.0.0.1/", "question": "tea"}),
                "this is no JSON",
                {"jsonrpc": "2.0", "id": 4, "method": "no/such"},
            )
            answered = set()
            while not answered >= {1, 2, 3, 4, None}:  # None: the line that is no JSON
                message = json.loads(process.stdout.readline())
                assert message["jsonrpc"] == "2.0"
                answered.add(message.get("id"))
            before = states(database_url)
            process.stdin.write(json.dumps(hanging) + "\n")
            process.stdin.flush()
            wait_until(lambda: bool(site.calls))
            assert states(database_url) == [*before, ("running", None)]
            process.stdin.close()
            rest = process.stdout.read()
            assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
        assert process.returncode == 0
    assert states(database_url) == [*before, ("failed", "cancelled")]


@pytest.mark.slow
def test_a_signal_leaves_no_answer_running(database_url: str, tmp_path: Path) -> None:
    with serving(Reply({}, hold=True)) as site:
        host, hanging = held_answer(site, 2)
        with server(database_url, tmp_path, WEBRAG_ALLOW_HOSTS=host) as process:
            opened(process, hanging)
            wait_until(lambda: bool(site.calls))
            assert states(database_url) == [("running", None)]
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 128 + signal.SIGTERM
    assert states(database_url) == [("failed", "cancelled")]


@pytest.mark.slow
def test_a_message_that_is_too_long_is_refused_by_its_id_and_the_next_is_answered(
    database_url: str, tmp_path: Path
) -> None:
    filler = "a" * (LONGEST_MESSAGE + 1)
    params = {"name": "search", "arguments": {"question": filler}}
    last = {"method": "tools/call", "params": params, "jsonrpc": "2.0", "id": "last"}
    with server(database_url, tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        opened(process, call(2, "search", {"question": filler}), last, filler, call(5, "status", {}))
        answers = [json.loads(process.stdout.readline()) for _ in range(5)]
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0
    refused = [answer["id"] for answer in answers if "is longer than" in answer.get("error", {}).get("message", "")]
    assert refused == [2, "last", None]
    assert {answer["id"] for answer in answers if "result" in answer} == {1, 5}


@pytest.mark.parametrize(
    ("head", "tail", "number"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"a', b'"}}\n', 7),
        (b'{"method":"tools/call","params":{"a', b'"},"jsonrpc":"2.0","id":"x"}\n', "x"),
        (b'{"jsonrpc":"2.0","id":7,"result":{"a', b'"}}\n', None),
        (b'{"method":"tools/call","params":{"id":7,"a', b'"}}\n', None),
        (b'{"method":"tools/call","params":{"a', b'","id":7}}\n', None),
        (b'{"method":"tools/call","params":{"a', b'\\",\\"id\\":7}"}}\n', None),
        (b"aaaa", b"aaaa", None),
    ],
)
def test_only_the_id_of_a_request_is_taken_from_the_ends_of_a_message(
    head: bytes, tail: bytes, number: str | int | None
) -> None:
    assert refusal(head, tail).id == number
