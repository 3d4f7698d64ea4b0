"""Which connections a server closes: answers that nobody reads, and the oldest streams where connections run out."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx2
import uvicorn
from starlette.types import Receive, Scope, Send

from tests.waiting import await_until
from webrag_core.config import Settings
from webrag_core.http_server import Limits, server_config

ended: list[str] = []


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """`/flood` sends without end, `/events` sends one event and waits, all else answers late without reading."""
    if scope["type"] != "http":
        return
    path = scope["path"]
    kind = b"text/event-stream" if path == "/events" else b"text/plain"
    if path == "/late":
        await asyncio.sleep(1.2)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    if path == "/flood":
        gone = asyncio.create_task(receive())
        while not gone.done():
            await send({"type": "http.response.body", "body": b"a" * 100_000, "more_body": True})
        ended.append(path)
    elif path == "/events":
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
    else:
        await send({"type": "http.response.body", "body": b"done"})


@asynccontextmanager
async def served(limits: Limits) -> AsyncIterator[int]:
    """Port of a server."""
    listening = socket.create_server(("127.0.0.1", 0))
    settings = Settings()  # type: ignore[call-arg]
    server = uvicorn.Server(server_config(app, settings, limits))
    running = asyncio.create_task(server.serve(sockets=[listening]))

    async def is_started() -> bool:
        return server.started

    await await_until(is_started)
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def asked(port: int, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1_000)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    return reader, writer


async def is_ended() -> bool:
    return ended == ["/flood"]


def test_an_answer_that_nobody_reads_is_closed_and_a_late_one_is_not() -> None:
    async def work() -> None:
        async with served(Limits(request_seconds=0.6)) as port, httpx2.AsyncClient() as client:
            _, writer = await asked(port, "/flood")
            late = await client.get(f"http://127.0.0.1:{port}/late")
            assert late.text == "done"
            await await_until(is_ended)
            writer.transport.abort()

    asyncio.run(work())


def test_the_oldest_stream_makes_room() -> None:
    async def work() -> None:
        async with served(Limits(most_connections=3)) as port:
            streams = []
            for _ in range(5):
                reader, writer = await asked(port, "/events")
                await reader.readuntil(b"data: 1")
                streams.append((reader, writer))
            for reader, _ in streams[:2]:
                with suppress(ConnectionResetError):
                    await reader.read(1_000)
                    await reader.read()  # ends, as the server closes
            for reader, writer in streams[2:]:
                assert not reader.at_eof()
                writer.transport.abort()

    asyncio.run(work())
