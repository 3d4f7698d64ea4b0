"""Streamable HTTP: who may bind, who may ask, by which name; the token's way from end to end."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import psycopg
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.command_line import Webrag, webrag_here
from tests.mcp_server.clients import MODES, Person, called, text_of
from tests.mcp_server.tea_site import PAGES, QUESTION, SEED, HeldSite, tea_settings, tea_site
from tests.waiting import await_until, wait_until
from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.http_server import DEFAULT_LIMITS, Limits, check_bind, server_config
from webrag_core.mcp_server.http import http_app

__all__ = ["webrag_here"]

TOKEN = "correct-horse-battery-staple"
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def bare(**settings: object) -> Settings:
    return Settings(**settings)  # type: ignore[arg-type]


@asynccontextmanager
async def served(
    settings: Settings, acquirer: Acquirer | None = None, limits: Limits = DEFAULT_LIMITS
) -> AsyncIterator[str]:
    """Base URL of a server on a port of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(server_config(http_app(settings, acquirer or tea_site(), limits), settings, limits))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with httpx2.AsyncClient() as client:

            async def is_healthy() -> bool:
                return server.started and (await client.get(f"{base}/health")).status_code == 200

            await await_until(is_healthy)
        yield base
    finally:
        server.should_exit = True
        await running


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_client_with_the_token_is_served(database_url: str, mode: str) -> None:
    async def work() -> None:
        async with served(tea_settings(database_url, mcp_auth_token=TOKEN)) as base:
            headers = {"authorization": f"Bearer {TOKEN}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                transport = streamable_http_client(f"{base}/mcp", http_client=http)
                async with Client(transport, mode=mode, elicitation_callback=Person()) as client:
                    messages: list[str | None] = []

                    async def progress(done: float, total: float | None, message: str | None) -> None:
                        messages.append(message)

                    arguments = {"urls": SEED, "question": QUESTION, "research_mode": "auto"}
                    result = await client.call_tool("answer", arguments, progress_callback=progress)
                    assert "eighty degrees" in text_of(result)
                    assert "fetching the requested pages" in messages
                async with Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=mode) as client:
                    assert f"Documents: {len(PAGES)}" in text_of(await called(client, "status"))

    asyncio.run(work())


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_ends_there_too(database_url: str, mode: str) -> None:
    site = HeldSite(dict(PAGES), held=frozenset(["/"]))

    async def work() -> None:
        async with (
            served(tea_settings(database_url), site) as base,
            Client(f"{base}/mcp", mode=mode, elicitation_callback=Person()) as client,
        ):
            asking = asyncio.create_task(called(client, "answer", urls=SEED, question=QUESTION))
            await site.waiting.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await await_until(is_cancelled)

    async def is_cancelled() -> bool:
        async with await psycopg.AsyncConnection.connect(database_url) as connection:
            rows = await (await connection.execute("SELECT state, reason FROM answer_runs")).fetchall()
            return rows == [("failed", "cancelled")]

    asyncio.run(work())


def test_without_the_token_nothing_is_served_but_health(database_url: str) -> None:
    wrong = [
        None,
        "",
        "Bearer",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"bearer{TOKEN}",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN.upper()}",
        "Bearer \xe9",
    ]

    async def work() -> None:
        async with served(tea_settings(database_url, mcp_auth_token=TOKEN)) as base, httpx2.AsyncClient() as client:
            for header in wrong:
                headers = {**ACCEPT, **({} if header is None else {"authorization": header})}
                encoded = {name: value.encode("latin-1") for name, value in headers.items()}
                answer = await client.post(f"{base}/mcp", json=HELLO, headers=encoded)
                assert answer.status_code == 401, header
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert TOKEN not in answer.text
            both = [*ACCEPT.items(), ("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")]
            assert (await client.post(f"{base}/mcp", json=HELLO, headers=both)).status_code == 401
            health = await client.get(f"{base}/health")
            assert (health.status_code, health.json()) == (200, {"status": "ok"})
            assert (await client.get(f"{base}/")).status_code == 401

    asyncio.run(work())


def test_a_page_in_a_browser_cannot_reach_it_by_another_name(database_url: str) -> None:
    async def work() -> None:
        settings = tea_settings(database_url, mcp_allowed_hosts="rag.example")
        async with served(settings) as base, httpx2.AsyncClient() as client:

            async def status(**headers: str) -> int:
                answer = await client.post(f"{base}/mcp", json=HELLO, headers={**ACCEPT, **headers})
                return answer.status_code

            assert await status(host="evil.example") == 421
            assert await status(host="127.0.0.1.evil.example:80") == 421
            assert await status(host=f"{base.removeprefix('http://')}.evil.example") == 421
            assert await status(host="127.0.0.1:1") == 421
            assert await status(origin="http://localhost:3000") == 403
            assert await status(**{"sec-fetch-site": "cross-site"}) == 403
            assert await status(origin="https://evil.example") == 403
            assert await status(origin="null") == 403
            assert await status() not in (401, 403, 421)
            assert await status(host=base.replace("http://127.0.0.1", "LOCALHOST")) not in (401, 403, 421)
            assert await status(host="rag.example", origin="https://rag.example") not in (401, 403, 421)
            big = await client.post(f"{base}/mcp", content=b"x" * 5_000_000, headers=ACCEPT)
            assert big.status_code == 413

    asyncio.run(work())


async def opened(client: httpx2.AsyncClient, base: str) -> str:
    """Open a session as clients of the older protocol do; return its id."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = await client.post(f"{base}/mcp", json=request, headers=ACCEPT)
    assert answer.status_code == 200
    return str(answer.headers["mcp-session-id"])


def test_the_sessions_idle_longest_end(database_url: str) -> None:
    async def work() -> None:
        limits = Limits(most_idle_sessions=4)
        async with served(tea_settings(database_url), None, limits) as base, httpx2.AsyncClient(timeout=60) as client:

            async def status(session: str) -> int:
                headers = {**ACCEPT, "mcp-session-id": session}
                return (await client.post(f"{base}/mcp", json=HELLO, headers=headers)).status_code

            listening, first, second, ended = [await opened(client, base) for _ in range(4)]
            stream = {"accept": "text/event-stream", "mcp-session-id": listening}
            async with client.stream("GET", f"{base}/mcp", headers=stream) as notifications:
                assert notifications.status_code == 200
                headers = {**ACCEPT, "mcp-session-id": ended}
                assert (await client.delete(f"{base}/mcp", headers=headers)).status_code == 200
                later = [await opened(client, base) for _ in range(2)]
                assert await status(second) == 200  # used after all others
                later.append(await opened(client, base))
                assert await status(first) == 404
                assert [await status(one) for one in (second, later[0], later[-1], listening)] == [200] * 4
                assert await status(ended) == 404
                assert await status("unknown") == 404

    asyncio.run(work())


HALF = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "
BEGUN = {
    "nothing": b"",
    "a head": HALF,
    "a second head": b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n" + HALF,
    "a body": HALF + b"b\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
}


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def begin(base: str, begun: bytes) -> Stream:
    """Send a part of a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(base.rpartition(":")[2]))
    writer.write(begun)
    await writer.drain()
    return reader, writer


async def ended(stream: Stream) -> None:
    """Wait until the server closes."""
    reader, writer = stream
    with suppress(ConnectionResetError):
        await reader.read()
    writer.close()


def test_requests_that_do_not_arrive_are_closed_and_slow_answers_not(database_url: str) -> None:
    site = HeldSite(dict(PAGES), held=frozenset(["/"]))

    async def work() -> None:
        limits = Limits(request_seconds=1.5)  # longer than the event loop is ever busy
        async with (
            served(tea_settings(database_url), site, limits) as base,
            Client(f"{base}/mcp", elicitation_callback=Person()) as client,
        ):
            asking = asyncio.create_task(called(client, "answer", urls=SEED, question=QUESTION))
            await site.waiting.wait()
            for stream in [await begin(base, part) for part in BEGUN.values()]:
                await ended(stream)
            site.released.set()
            assert not (await asking).is_error

    asyncio.run(work())


@pytest.mark.slow
def test_many_clients_at_once_are_all_served(database_url: str) -> None:
    async def work() -> None:
        async with served(tea_settings(database_url)) as base:
            asked = b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            streams = await asyncio.gather(*(begin(base, asked) for _ in range(300)))
            for reader, writer in streams:
                assert (await reader.read()).startswith(b"HTTP/1.1 200")
                writer.close()

    asyncio.run(work())


def test_many_half_sent_requests_leave_room_for_others(database_url: str) -> None:
    async def work() -> None:
        async with served(tea_settings(database_url), None, Limits(request_seconds=600, most_connections=4)) as base:
            streams = [await begin(base, HALF) for _ in range(40)]
            for stream in streams[:36]:
                await ended(stream)
            async with httpx2.AsyncClient() as client:
                assert (await client.get(f"{base}/health")).status_code == 200
            reader, writer = streams[-1]
            assert not reader.at_eof()
            writer.close()

    asyncio.run(work())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_a_public_bind_needs_token_and_names(host: str) -> None:
    for settings in (
        bare(mcp_host=host),
        bare(mcp_host=host, mcp_auth_token=TOKEN),
        bare(mcp_host=host, mcp_allowed_hosts="rag.example"),
        bare(mcp_host=host, mcp_allowed_hosts="rag.example", mcp_auth_token="  "),
        bare(mcp_host=host, mcp_allowed_hosts=" , ", mcp_auth_token=TOKEN),
        bare(mcp_host=host, mcp_allowed_hosts="rag.example", mcp_auth_token="short"),
    ):
        with pytest.raises(InvalidInputError) as refused:
            http_app(settings)
        assert TOKEN not in refused.value.message
    check_bind(bare(mcp_host=host, mcp_allowed_hosts="rag.example", mcp_auth_token=TOKEN))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_needs_nothing(host: str) -> None:
    check_bind(bare(mcp_host=host))


def test_the_token_is_in_no_text_of_the_settings() -> None:
    settings = bare(mcp_auth_token=TOKEN)
    assert TOKEN not in repr(settings)
    assert TOKEN not in str(settings.model_dump())


@pytest.mark.parametrize("command", [("serve",), ("mcp", "--http")], ids=" ".join)
def test_a_port_in_use_is_said_before_the_corpus_is_opened(
    webrag_here: Webrag, tmp_path: Path, command: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = webrag_here(*command, "--port", port, WEBRAG_HOME=str(tmp_path / "home"))
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use" in done.stderr
    assert "choose another port with --port [address_in_use]" in done.stderr
    assert "Errno" not in done.stderr
    assert "new corpus" not in done.stderr


@pytest.mark.alone
@pytest.mark.slow
def test_the_command_refuses_and_stops_in_order(database_url: str, tmp_path: Path, webrag_here: Webrag) -> None:
    refused = webrag_here("mcp", "--http", "--host", "0.0.0.0")
    assert refused.returncode == 2
    assert "MCP_AUTH_TOKEN" in refused.stderr
    webrag = Path(sys.executable).with_name("webrag")
    environment = {**os.environ, "DATABASE_URL": database_url}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        [webrag, "mcp", "--http", "--port", str(port)], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL
    ) as process:

        def is_healthy() -> bool:
            try:
                return httpx2.get(f"http://127.0.0.1:{port}/health").status_code == 200
            except httpx2.TransportError:
                assert process.poll() is None
                return False

        wait_until(is_healthy)
        process.terminate()
        assert process.wait() == 128 + 15
