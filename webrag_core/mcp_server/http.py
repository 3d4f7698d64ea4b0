"""Streamable HTTP transport: loopback only, unless a token and host names are set."""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_core.access import READ_ONLY, Tokens, narrowed
from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.application.refusals import UNAUTHORIZED, Refusal
from webrag_core.config import Settings
from webrag_core.config.serving import ServingSettings
from webrag_core.errors import StoreError
from webrag_core.http_guard import shown_token
from webrag_core.http_server import DEFAULT_LIMITS, HEALTH, Limits, check_bind, own_hosts_only, serve_app
from webrag_core.mcp_server.server import WebragServer
from webrag_core.mcp_server.sessions import LimitIdleSessions
from webrag_core.mcp_server.tools import make_server
from webrag_core.source_tokens import digest


class RequireToken:
    """Require a token, sent as bearer or in the address; `/health` is open."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; lifespan events pass."""
        if scope["type"] != "http" or scope["path"] == HEALTH:
            await self._app(scope, receive, send)
            return
        access = self._tokens.access(digest(shown_token(scope) or b""))
        if access is None:
            await UNAUTHORIZED.response()(scope, receive, send)
        elif access.writes or not access.reach.is_everything:
            await narrowed(self._app, access.reach)(scope, receive, send)
        else:
            await READ_ONLY.response()(scope, receive, send)


def http_app(settings: Settings, acquirer: Acquirer | None = None, limits: Limits = DEFAULT_LIMITS) -> ASGIApp:
    """Create the application with `/mcp` and `/health`.

    Raises InvalidInputError for a bind beyond loopback without a token and host names, or for a malformed host name.
    """
    check_bind(settings)
    app = own_hosts_only(tools_app(make_server(settings, acquirer), settings, limits), settings)
    tokens = Tokens.of(settings)
    return app if tokens is None else RequireToken(app, tokens)


def tools_app(server: WebragServer, settings: ServingSettings, limits: Limits) -> ASGIApp:
    """Create the application with `/mcp` and `/health`, without any check of who asks. It opens the server's core with
    its own lifespan; an application around it runs `server.session_manager` instead."""

    async def health(request: Request) -> Response:
        if server.core is None:
            return Refusal.of(StoreError("the server is not open yet", code="starting")).response()
        try:
            await server.core.require_usable()
        except StoreError as error:
            return Refusal.of(error).response()
        return JSONResponse({"status": "ok"})

    server.custom_route(HEALTH, methods=["GET"])(health)
    # RequireOwnHost replaces the SDK's check of Host and Origin, which compares prefixes
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools = server.streamable_http_app(host=settings.mcp_host, transport_security=unchecked)
    tools.add_exception_handler(HTTPException, _refused)
    return LimitIdleSessions(tools, limits.most_idle_sessions)


async def _refused(request: Request, error: Exception) -> Response:
    return Refusal.of(error).response()


def serve(settings: Settings, listening: Callable[[Settings], None], acquirer: Acquirer | None = None) -> None:
    """Serve `/mcp` until a signal; call `listening` with the settings that hold, their token among them.

    Raises InvalidInputError before anything listens, see `http_app`.
    """
    serve_app(lambda closed: http_app(closed, acquirer), settings, listening)
