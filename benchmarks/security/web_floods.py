"""Clients that come in thousands, half send, never read or never go: others must still be served, in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx2

from benchmarks.security.web_attacks import Attack

_SERVED_SECONDS = 10.0
_JSON = "Content-Type: application/json\r\n"
_CHUNKED = "Transfer-Encoding: chunked\r\n"
Streams = list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]


async def _open(port: int, sent: bytes, count: int, limit: int = 2**16) -> Streams:
    """That many connections, each with `sent` on its way."""
    streams: Streams = []
    for _ in range(count):
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=limit)
            writer.write(sent)
            streams.append((reader, writer))
    return streams


@asynccontextmanager
async def _flooded(port: int, sent: bytes, count: int) -> AsyncIterator[Streams]:
    streams = await _open(port, sent, count)
    try:
        yield streams
    finally:
        for _, writer in streams:
            writer.transport.abort()


async def _is_served(client: httpx2.AsyncClient) -> str:
    """Why an ordinary client, which tries twice, is not served now; empty when it is. A page that reads the database
    may be refused for a moment, if the server says when to come again."""
    begun = time.monotonic()
    problem = ""
    for _ in range(2):
        try:
            async with httpx2.AsyncClient(base_url=client.base_url, timeout=_SERVED_SECONDS) as other:
                for path in ("/health", "/login", "/"):
                    response = await other.get(path)
                    if response.status_code != 200 and not (path == "/" and "retry-after" in response.headers):
                        return f"status {response.status_code} of {path}"
                return ""
        except httpx2.TransportError as error:
            problem = f"{type(error).__name__} after {time.monotonic() - begun:.1f} s"
    return problem


async def floods(client: httpx2.AsyncClient, url: str) -> list[Attack]:
    """Each flood, and an ordinary client meanwhile. A page at `url` never comes: runs that begin there go on."""
    port = client.base_url.port or 80
    host = f"Host: 127.0.0.1:{port}\r\n"
    json_head = f"POST /api/ask HTTP/1.1\r\n{host}{_JSON}"
    begun = {
        "1,000 connections that send nothing": (b"", 1_000),
        "1,000 half heads": (f"GET / HTTP/1.1\r\n{host}X-A: ".encode(), 1_000),
        "600 half bodies": (f"{json_head}Content-Length: 500\r\n\r\n{{".encode(), 600),
        "600 bodies in pieces that do not end": (
            f"{json_head}{_CHUNKED}\r\n1\r\n{{\r\n".encode(),
            600,
        ),
        "300 heads of 60 kB": (f"GET / HTTP/1.1\r\n{host}X-A: ".encode() + b"a" * 60_000, 300),
        "300 heads of 2,000 fields": (f"GET / HTTP/1.1\r\n{host}".encode() + b"X: y\r\n" * 2_000 + b"\r\n", 300),
        "500 streams of events": (f"GET /RUN/events HTTP/1.1\r\n{host}\r\n".encode(), 500),
        "1,000 streams of events": (f"GET /RUN/events HTTP/1.1\r\n{host}\r\n".encode(), 1_000),
        "200 searches at once": (f"GET /search?q=alert HTTP/1.1\r\n{host}\r\n".encode(), 200),
        "200 searches of REST at once": (
            f'POST /api/search HTTP/1.1\r\n{host}{_JSON}Content-Length: 21\r\n\r\n{{"question": "alert"}}'.encode(),
            200,
        ),
        "500 requests at once that nobody reads": (f"GET / HTTP/1.1\r\n{host}\r\n".encode() * 20, 500),
        "300 connections of garbage": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, 300),
        "300 times two lengths": (f"{json_head}Content-Length: 1\r\nContent-Length: 9\r\n\r\n{{}}".encode(), 300),
        "300 times length and pieces": (
            f"{json_head}Content-Length: 5\r\n{_CHUNKED}\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n".encode(),
            300,
        ),
    }
    attacks = []
    for name, (sent, count) in begun.items():
        run = ""
        if "streams" in name:
            started = await client.post("/ask", data={"question": "What raises an alert?", "url": url})
            run = started.headers["location"]
        async with _flooded(port, sent.replace(b"/RUN", run.encode()), count):
            attacks.append(Attack("floods", name, await _is_served(client)))
        if run:
            await client.post(f"{run}/stop", data={})
        await asyncio.sleep(0.2)
        attacks.append(Attack("floods", f"{name}, afterwards", await _is_served(client)))
    return attacks


async def slow(port: int, seconds: float) -> list[Attack]:
    """Connections that never send, or never read, are closed after about `seconds` each."""
    host = f"Host: 127.0.0.1:{port}\r\n"
    begun = {
        "nothing": b"",
        "half a head": f"GET / HTTP/1.1\r\n{host}X-A: ".encode(),
        "half a body": f"POST /ask HTTP/1.1\r\n{host}Content-Length: 50\r\n\r\nquestion".encode(),
        "half a JSON body": f"POST /api/ask HTTP/1.1\r\n{host}{_JSON}Content-Length: 9\r\n\r\n{{".encode(),
        "a request and silence": f"GET /health HTTP/1.1\r\n{host}\r\n".encode(),
        "a head that drips": f"GET / HTTP/1.1\r\n{host}X-A: ".encode(),
        "a body that drips": f"POST /api/ask HTTP/1.1\r\n{host}{_JSON}Content-Length: 9000\r\n\r\n".encode(),
    }
    return await asyncio.gather(*(_closed(port, name, sent, seconds) for name, sent in begun.items()))


async def _closed(port: int, name: str, sent: bytes, seconds: float) -> Attack:
    """Open a connection and wait until the server closes it. With a drip the request goes on, and never ends."""
    ((reader, writer),) = await _open(port, sent, 1)
    since = time.monotonic()
    with suppress(ConnectionResetError, BrokenPipeError):
        while time.monotonic() - since < 3 * seconds + 5:
            if "drips" in name:
                writer.write(b"a")
                await writer.drain()
            with suppress(TimeoutError):
                if not await asyncio.wait_for(reader.read(65_536), seconds / 20):
                    break
    waited = time.monotonic() - since
    writer.transport.abort()
    return Attack("slow", name, f"open after {waited:.0f} s" if waited > 2 * seconds + 4 else "")
