"""One HTTP server for every face that has one: where it may listen, which hosts it answers to, when connections close.

Connections whose request does not arrive, or whose answer is not read, must not use up the file descriptors.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from webrag_core.access_token import SERVE_TOKEN, local_token
from webrag_core.config import Settings
from webrag_core.config.serving import ServingSettings
from webrag_core.errors import InvalidInputError
from webrag_core.garbage import collect_rarely_in_loop
from webrag_core.http_guard import Authority, RequireOwnHost, check_token, is_loopback, parsed_hosts, require_free
from webrag_core.store.embedded import exit_on_sigterm

_SHUTDOWN_SECONDS = 10
HEALTH = "/health"
_TURN_SECONDS = 0.001  # of a thread at work while another waits; by default five times as much


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits against clients that come and never go; 1,024 descriptors suffice for them."""

    request_seconds: float = 30.0  # for a request to arrive, head and body
    most_connections: int = 384  # further ones push out those that wait for a request
    backlog: int = 256  # connections that are accepted at once
    most_idle_sessions: int = 64  # one takes about 36 KB


DEFAULT_LIMITS = Limits()


def own_hosts_only(
    app: ASGIApp, settings: ServingSettings, *, links: bool = False, unlinked: Collection[str] = ()
) -> ASGIApp:
    """Wrap `app` in the check of host and origin, see `RequireOwnHost`."""
    return RequireOwnHost(
        app,
        _allowed_hosts(settings),
        setting="MCP_ALLOWED_HOSTS",
        loopback=is_loopback(settings.mcp_host),
        links=links,
        unlinked=unlinked,
        open_paths=[HEALTH],
    )


def closed_to_others(settings: Settings) -> Settings:
    """`settings` with a token: other users of this machine reach loopback, too. Unchanged where one is set, where the
    operator opened the server to them, and beyond loopback (`check_bind`). Raises InvalidInputError."""
    if settings.mcp_auth_token is not None or settings.webrag_serve_open or not is_loopback(settings.mcp_host):
        return settings
    return settings.model_copy(update={"mcp_auth_token": local_token(settings.webrag_home, SERVE_TOKEN)})


def check_bind(settings: ServingSettings) -> None:
    """Raise InvalidInputError for an unprotected bind beyond loopback, and for tokens that are easily guessed."""
    check_token(settings.mcp_read_token, "MCP_READ_TOKEN")
    if settings.mcp_read_token is not None and settings.mcp_auth_token is None:
        raise InvalidInputError("MCP_READ_TOKEN needs MCP_AUTH_TOKEN: without that everybody may do everything")
    if is_loopback(settings.mcp_host):
        return
    token = settings.mcp_auth_token
    missing = [] if token is not None else ["MCP_AUTH_TOKEN (the bearer token that clients must send)"]
    if not _allowed_hosts(settings):
        missing.append("MCP_ALLOWED_HOSTS (the accepted host names)")
    if missing:
        raise InvalidInputError(f"listening on {settings.mcp_host} needs {' and '.join(missing)}")
    check_token(token, "MCP_AUTH_TOKEN")


def _allowed_hosts(settings: ServingSettings) -> frozenset[Authority]:
    return parsed_hosts(settings.mcp_allowed_hosts, "MCP_ALLOWED_HOSTS")


def server_config(app: ASGIApp, settings: ServingSettings, limits: Limits = DEFAULT_LIMITS) -> uvicorn.Config:
    """Configure the web server for an application."""
    connections = Connections(limits.request_seconds, limits.most_connections)
    return uvicorn.Config(
        connections.around(app),
        host=settings.mcp_host,
        port=settings.mcp_port,
        http=connections.protocol,
        log_level=settings.mcp_log_level.lower(),
        access_log=False,
        server_header=False,
        proxy_headers=False,  # they would replace the address of the connection
        ws="none",
        limit_concurrency=limits.most_connections + limits.backlog,  # then 503
        backlog=limits.backlog,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )


class _Server(uvicorn.Server):
    """Calls `listening` once it listens: its own message at start-up is below the level of our log."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Start. Raises InvalidInputError where the address was taken since `require_free`; the log says why."""
        try:
            await super().startup(sockets)
        except SystemExit as error:
            where = f"{self.config.host}:{self.config.port}"
            raise InvalidInputError(f"{where} cannot be listened at; --port chooses another port") from error
        if self.started:
            self._listening()
            sys.setswitchinterval(_TURN_SECONDS)
            collect_rarely_in_loop()


def serve_app(make: Callable[[Settings], ASGIApp], settings: Settings, listening: Callable[[Settings], None]) -> None:
    """Serve the application that `make` makes of the settings, closed to other users of this machine, until a signal;
    call `listening` with these settings when it listens. Raises InvalidInputError before."""
    settings = closed_to_others(settings)
    app = make(settings)
    require_free(settings.mcp_host, settings.mcp_port)
    exit_on_sigterm()  # uvicorn raises the signal again when it is done
    asyncio.run(_Server(server_config(app, settings), lambda: listening(settings)).serve())


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
