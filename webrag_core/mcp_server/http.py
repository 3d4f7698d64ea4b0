"""Streamable HTTP transport: loopback only, unless a token and host names are set."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.application.refusals import UNAUTHORIZED, Refusal
from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError
from webrag_core.http_guard import Authority, RequireOwnHost, check_token, is_loopback, parsed_hosts
from webrag_core.mcp_server.connections import Connections
from webrag_core.mcp_server.server import WebragServer
from webrag_core.mcp_server.sessions import LimitIdleSessions
from webrag_core.mcp_server.tools import make_server
from webrag_core.store.embedded import exit_on_sigterm

_SHUTDOWN_SECONDS = 10
HEALTH = "/health"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits against clients that come and never go; 1,024 descriptors suffice for them."""

    request_seconds: float = 30.0  # for a request to arrive, head and body
    most_connections: int = 384  # further ones push out those that wait for a request
    backlog: int = 256  # connections that are accepted at once
    most_idle_sessions: int = 64  # one takes about 36 KB


DEFAULT_LIMITS = Limits()


class RequireToken:
    """Require the bearer token, compared in constant time; `/health` is open."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; lifespan events pass."""
        if scope["type"] != "http" or scope["path"] == HEALTH or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        await UNAUTHORIZED.response()(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        values = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(values) == 1 and hmac.compare_digest(values[0], self._expected)


def http_app(settings: Settings, acquirer: Acquirer | None = None, limits: Limits = DEFAULT_LIMITS) -> ASGIApp:
    """Create the application with `/mcp` and `/health`.

    Raises InvalidInputError for a bind beyond loopback without a token and host names, or for a malformed host name.
    """
    check_bind(settings)
    app = own_hosts_only(tools_app(make_server(settings, acquirer), settings, limits), settings)
    token = settings.mcp_auth_token
    return app if token is None else RequireToken(app, token.get_secret_value())


def tools_app(server: WebragServer, settings: Settings, limits: Limits) -> ASGIApp:
    """Create the application with `/mcp` and `/health`, without any check of who asks. It opens the server's core with
    its own lifespan; an application around it runs `server.session_manager` instead."""

    async def health(request: Request) -> Response:
        if server.core is None or not server.core.is_open:
            return Refusal(503, "starting", "the corpus is not open yet").response()
        return JSONResponse({"status": "ok"})

    server.custom_route(HEALTH, methods=["GET"])(health)
    # RequireOwnHost replaces the SDK's check of Host and Origin, which compares prefixes
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools = server.streamable_http_app(host=settings.mcp_host, transport_security=unchecked)
    tools.add_exception_handler(HTTPException, _refused)
    return LimitIdleSessions(tools, limits.most_idle_sessions)


async def _refused(request: Request, error: Exception) -> Response:
    return Refusal.of(error).response()


def own_hosts_only(app: ASGIApp, settings: Settings, *, links: bool = False, unlinked: Collection[str] = ()) -> ASGIApp:
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


def check_bind(settings: Settings) -> None:
    """Raise InvalidInputError for an unprotected bind beyond loopback."""
    if is_loopback(settings.mcp_host):
        return
    token = settings.mcp_auth_token
    missing = [] if token is not None else ["MCP_AUTH_TOKEN (the bearer token that clients must send)"]
    if not _allowed_hosts(settings):
        missing.append("MCP_ALLOWED_HOSTS (the accepted host names)")
    if missing:
        raise InvalidInputError(f"listening on {settings.mcp_host} needs {' and '.join(missing)}")
    check_token(token, "MCP_AUTH_TOKEN")


def _allowed_hosts(settings: Settings) -> frozenset[Authority]:
    return parsed_hosts(settings.mcp_allowed_hosts, "MCP_ALLOWED_HOSTS")


def server_config(app: ASGIApp, settings: Settings, limits: Limits = DEFAULT_LIMITS) -> uvicorn.Config:
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
        """Start. Raises InvalidInputError where the address cannot be listened at; the log says why."""
        try:
            await super().startup(sockets)
        except SystemExit as error:
            where = f"{self.config.host}:{self.config.port}"
            raise InvalidInputError(f"{where} cannot be listened at; --port chooses another port") from error
        if self.started:
            self._listening()


def serve(settings: Settings, listening: Callable[[], None], acquirer: Acquirer | None = None) -> None:
    """Serve `/mcp` until a signal. Raises InvalidInputError before anything listens, see `http_app`."""
    serve_app(http_app(settings, acquirer), settings, listening)


def serve_app(app: ASGIApp, settings: Settings, listening: Callable[[], None]) -> None:
    """Serve an application until a signal; call `listening` when it listens."""
    exit_on_sigterm()  # uvicorn raises the signal again when it is done
    asyncio.run(_Server(server_config(app, settings), listening).serve())
