"""Close connections whose request does not arrive, or whose answer is not read: they must not use up the file
descriptors."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

Peer = tuple[str, int]


class Connections:
    """The connections of one server.

    A request must arrive within `seconds`, head and body, and a client that reads nothing of an answer for as long is
    closed, too. When there are more than `most` connections, each new one closes the one that has waited longest for a
    request, else the oldest stream of events: its client can come again. Wrap the application in `around` and let
    uvicorn use `protocol`; that of h11 bounds the bytes of a head, too.
    """

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._open: dict[Peer, asyncio.Transport] = {}
        self._waiting: dict[Peer, asyncio.TimerHandle] = {}  # oldest first
        self._streams: dict[Peer, None] = {}  # oldest first

    @property
    def protocol(self) -> type[asyncio.Protocol]:
        """Return the protocol class for `uvicorn.Config(http=…)`."""
        connections = self

        class Watched(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                connections._opened(transport.get_extra_info("peername")[:2], transport)

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                connections._closed(self.transport.get_extra_info("peername")[:2])

        return Watched

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return `app`, reporting which requests have arrived. It must see the address of the connection as client."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            peer = tuple(scope["client"])
            if not any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"]):
                self._arrived(peer)  # there is no body, and not every application looks for one

            async def received() -> Message:
                message = await receive()
                if not message.get("more_body", False):
                    self._arrived(peer)
                return message

            async def sent(message: Message) -> None:
                if message["type"] == "http.response.start" and _is_stream(message):
                    self._streams[peer] = None
                try:
                    async with asyncio.timeout(self._seconds):
                        await send(message)
                except TimeoutError:
                    self._close(peer)

            try:
                await app(scope, received, sent)
            finally:
                self._streams.pop(peer, None)
                self._wait(peer)

        return watched

    def _opened(self, peer: Peer, transport: asyncio.Transport) -> None:
        if len(self._open) >= self._most and (self._waiting or self._streams):
            self._close(next(iter(self._waiting or self._streams)))
        self._open[peer] = transport
        self._wait(peer)

    def _closed(self, peer: Peer) -> None:
        self._open.pop(peer, None)
        self._streams.pop(peer, None)
        self._arrived(peer)

    def _wait(self, peer: Peer) -> None:
        """Wait for the next request of a connection."""
        self._arrived(peer)
        if peer in self._open:
            self._waiting[peer] = asyncio.get_running_loop().call_later(self._seconds, self._expire, peer)

    def _expire(self, peer: Peer) -> None:
        """Close a connection whose time is over, unless its request came while the event loop was busy: what reads it
        stands in line already."""
        timer = self._waiting[peer]

        def close() -> None:
            if self._waiting.get(peer) is timer:
                self._close(peer)

        asyncio.get_running_loop().call_soon(close)

    def _arrived(self, peer: Peer) -> None:
        timer = self._waiting.pop(peer, None)
        if timer is not None:
            timer.cancel()

    def _close(self, peer: Peer) -> None:
        transport = self._open.get(peer)
        self._closed(peer)
        if transport is not None:
            transport.abort()


def _is_stream(start: Message) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/event-stream") for name, value in start["headers"])
