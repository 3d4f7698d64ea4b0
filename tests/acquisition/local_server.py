"""A local server that sends what a test says, and a gate that may talk to it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from webrag_core.acquisition.gate import NetworkGate, Resolver
from webrag_core.config import load_settings

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]
Page = bytes | Handler


class Site:
    """A server on 127.0.0.1 that sends what its pages say, byte by byte, then closes."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = dict(pages)
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.port = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if await reader.readexactly(4) != b"GET ":  # as when TLS is spoken to a plain server
                writer.write(reply(status="400 Bad Request"))
                return
            path, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
            path = path.removesuffix(" HTTP/1.1")
            self.requests.append((path, dict(line.lower().split(": ", 1) for line in lines)))
            page = self.pages[path]
            if isinstance(page, bytes):
                writer.write(page)
                await writer.drain()
            else:
                await page(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the gate hung up, as it should
        finally:
            writer.close()


@asynccontextmanager
async def serving(pages: Mapping[str, Page], tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site(pages)
    server = await asyncio.start_server(site.handle, "127.0.0.1", 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site


def reply(body: bytes = b"hello", *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    size = f"content-length: {len(body) if length is None else length}"
    return "\r\n".join([f"HTTP/1.1 {status}", size, *headers, "", ""]).encode("latin-1") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return reply(b"", f"location: {location}", status=status)


def resolver(names: Mapping[str, Sequence[str]], asked: list[str] | None = None) -> Resolver:
    async def resolve(host: str, port: int) -> Sequence[str]:
        if asked is not None:
            asked.append(host)
        if host not in names:
            raise OSError("no such name")
        return names[host]

    return resolve


def gate_to(*open_: str, names: Mapping[str, Sequence[str]] | None = None, **settings: object) -> NetworkGate:
    chosen = {"webrag_fetch_timeout": 300.0, "webrag_max_body_bytes": 100_000, **settings}
    return NetworkGate(load_settings(webrag_allow_hosts=",".join(open_), **chosen), resolver=resolver(names or {}))
