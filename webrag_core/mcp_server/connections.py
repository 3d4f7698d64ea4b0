"""Close connections whose request does not arrive: half-sent requests must not use up the file descriptors."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

Peer = tuple[str, int]


class Connections:
    """The connections of one server.

    A request must arrive within `seconds`, head and body. Of more than `most_waiting` connections without a complete
    request the oldest is closed. Wrap the application in `around` and let uvicorn use `protocol`; that of h11 bounds
    the bytes of a head, too.
    """

    def __init__(self, seconds: float, most_waiting: int) -> None:
        self._seconds = seconds
        self._most_waiting = most_waiting
        self._open: dict[Peer, asyncio.Transport] = {}
        self._waiting: dict[Peer, asyncio.TimerHandle] = {}  # oldest first

    @property
    def protocol(self) -> type[asyncio.Protocol]:
        """Return the protocol class for `uvicorn.Config(http=…)`."""
        connections = self

        class Watched(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                peer = transport.get_extra_info("peername")[:2]
                connections._open[peer] = transport
                connections._wait(peer)

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                peer = self.transport.get_extra_info("peername")[:2]
                del connections._open[peer]
                connections._arrived(peer)

        return Watched

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return `app`, reporting which requests have arrived. It must see the address of the connection as client."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            peer = tuple(scope["client"])

            async def received() -> Message:
                message = await receive()
                if not message.get("more_body", False):
                    self._arrived(peer)
                return message

            try:
                await app(scope, received, send)
            finally:
                self._wait(peer)

        return watched

    def _wait(self, peer: Peer) -> None:
        """Wait for the next request of a connection."""
        self._arrived(peer)
        if peer not in self._open:
            return
        self._waiting[peer] = asyncio.get_running_loop().call_later(self._seconds, self._close, peer)
        if len(self._waiting) > self._most_waiting:
            self._close(next(iter(self._waiting)))

    def _arrived(self, peer: Peer) -> None:
        timer = self._waiting.pop(peer, None)
        if timer is not None:
            timer.cancel()

    def _close(self, peer: Peer) -> None:
        self._arrived(peer)
        self._open[peer].abort()
