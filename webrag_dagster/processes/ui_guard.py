"""What Dagster's web server answers: requests of its own pages, in the form in which those ask.

By itself it has no log-in and executes GraphQL, mutations included, from the address of any GET and of any form's
POST: a page of any site that the user visits could launch, delete and read.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Collection

from pydantic import SecretStr
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webrag_core.access_token import UI_TOKEN, local_token
from webrag_core.config import Settings
from webrag_core.config.platform import PlatformSettings
from webrag_core.errors import InvalidInputError
from webrag_core.http_guard import Authority, RequireOwnHost, check_token, is_loopback, parsed_hosts
from webrag_dagster.page_addresses import PREFIX

HOSTS = "WEBRAG_UI_HOSTS"
COOKIE = "webrag_ui"
OPEN = "/server_info"
"""Answered without the token: Dagster's version, for health checks."""
_FILES = ("logs", "notebook", "dagit", "download_debug", PREFIX)
_HEADERS = {
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

logger = logging.getLogger(__name__)


def closed_to_others(settings: Settings, bind: str) -> Settings:
    """`settings` with a token for the UI on `bind`: other users of this machine reach loopback, too. Unchanged where
    one is set, where the operator opened it to them, and beyond loopback. Raises InvalidInputError."""
    if settings.webrag_ui_token is not None or settings.webrag_serve_open or not is_loopback(bind):
        return settings
    return settings.model_copy(update={"webrag_ui_token": local_token(settings.webrag_home, UI_TOKEN)})


def accepted_hosts(settings: PlatformSettings, bind: str) -> frozenset[Authority]:
    """Return the accepted `Host` headers besides loopback, for a server that listens on `bind`.

    Raises InvalidInputError for a bad setting, and for a bind beyond loopback without host names.
    """
    hosts = parsed_hosts(settings.webrag_ui_hosts, HOSTS)
    token = settings.webrag_ui_token
    check_token(token, "WEBRAG_UI_TOKEN")
    if not is_loopback(bind):
        if not hosts:
            raise InvalidInputError(f"listening on {bind} needs {HOSTS} (the accepted host names)")
        if token is None:
            logger.warning("the UI on %s asks for no WEBRAG_UI_TOKEN: whoever reaches it controls all runs", bind)
    return hosts


def guarded(app: ASGIApp, hosts: Collection[Authority], token: SecretStr | None) -> ASGIApp:
    """Wrap Dagster's application."""
    inner: ASGIApp = RequireOwnForm(app)
    if token is not None:
        inner = RequireUiToken(inner, token.get_secret_value())
    return ProtectiveHeaders(RequireOwnHost(inner, hosts, setting=HOSTS, links=True))


class RequireOwnForm:
    """Refuse what the UI's own pages never send: GraphQL by GET, POST of anything but JSON, other methods.

    Links of other sites open pages, not files. Web sockets pass.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; all but HTTP requests pass."""
        refusal = _refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)


def _refusal(scope: Scope) -> Response | None:
    headers = Headers(scope=scope)
    first = scope["path"].strip("/").partition("/")[0].lower()
    if scope["method"] == "POST":
        types = [value.partition(";")[0].strip() for value in headers.getlist("content-type")]
        if types != ["application/json"]:  # what a form of another site cannot send
            return PlainTextResponse("POST needs content type application/json", 415)
    elif scope["method"] not in ("GET", "HEAD"):
        return PlainTextResponse("only GET, HEAD and POST are answered", 405, {"Allow": "GET, HEAD, POST"})
    elif first == "graphql":
        return PlainTextResponse("GraphQL is answered by POST only", 405, {"Allow": "POST"})
    elif first in _FILES and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return PlainTextResponse("links of other sites open pages only", 403)
    return None


class RequireUiToken:
    """Require the token: `?token=…` once, which sets a cookie, or `Authorization: Bearer …`."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()
        self._bearer = b"Bearer " + self._token
        # not the token itself: browsers send cookies to every port of a host
        self._cookie = hmac.digest(self._token, b"webrag ui", "sha256").hex().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; lifespan events pass."""
        if scope["type"] not in ("http", "websocket") or scope["path"] == OPEN:
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        if scope["type"] == "http" and scope["method"] == "GET" and self._is_visit(connection):
            await self._admission(scope)(scope, receive, send)
        elif self._is_known(connection):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "unauthorized"})
        else:
            text = (
                "unauthorized: open the address that `webrag up` printed, or this one once with ?token= and the value"
                " of WEBRAG_UI_TOKEN (unset: that of the file ui-token in WEBRAG_HOME)"
            )
            await PlainTextResponse(text, 401, {"WWW-Authenticate": 'Bearer realm="webrag"'})(scope, receive, send)

    def _is_visit(self, connection: HTTPConnection) -> bool:
        values = connection.query_params.getlist("token")
        return len(values) == 1 and hmac.compare_digest(values[0].encode(), self._token)

    def _is_known(self, connection: HTTPConnection) -> bool:
        bearer = "".join(connection.headers.getlist("authorization")).encode("latin-1")
        cookie = connection.cookies.get(COOKIE, "").encode()
        return hmac.compare_digest(bearer, self._bearer) or hmac.compare_digest(cookie, self._cookie)

    def _admission(self, scope: Scope) -> Response:
        """Set the cookie and go to the same page without the token in its address."""
        page = RedirectResponse("/" + scope["path"].lstrip("/\\"), 303)
        secure = scope["scheme"] == "https"
        page.set_cookie(COOKIE, self._cookie.decode(), httponly=True, samesite="strict", secure=secure)
        return page


class ProtectiveHeaders:
    """Add headers to every response: no frames on other sites, no sniffing, no referrer, no window handle."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.append("Content-Security-Policy", "frame-ancestors 'self'")  # beside Dagster's own
            await send(message)

        await self._app(scope, receive, send_with_headers)
