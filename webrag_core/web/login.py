"""Who may use the server where a token is set: programs send it with each request, people type it once."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Collection
from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_core.application.refusals import UNAUTHORIZED

COOKIE = "webrag_session"
LOGIN = "/login"
SECONDS = 12 * 3600
_MOST_SESSIONS = 1_000
MACHINES = ("/api", "/mcp")
"""Paths, and all below them, whose clients get 401 instead of the form. No link opens them."""
_BELOW_MACHINES = tuple(f"{path}/" for path in MACHINES)


class Sessions:
    """People who typed the token, by the random value of their cookie. Restarting the server ends all sessions."""

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = token.encode()
        self._clock = clock
        self._ends: dict[str, float] = {}  # the oldest first

    def open(self, token: str) -> str | None:
        """Return the cookie's value for the right token, compared in constant time; None for any other."""
        if not hmac.compare_digest(token.encode(), self._token):
            return None
        while len(self._ends) >= _MOST_SESSIONS:
            del self._ends[next(iter(self._ends))]
        value = secrets.token_urlsafe(32)
        self._ends[value] = self._clock() + SECONDS
        return value

    def close(self, value: str) -> None:
        """End a session."""
        self._ends.pop(value, None)

    def is_open(self, value: str) -> bool:
        """True for a session that has not ended."""
        return self._ends.get(value, 0.0) > self._clock()

    def is_authorized(self, connection: HTTPConnection) -> bool:
        """True for the bearer token, and for the cookie of an open session."""
        bearers = connection.headers.getlist("authorization")
        if bearers:
            return len(bearers) == 1 and hmac.compare_digest(bearers[0].encode("latin-1"), b"Bearer " + self._token)
        return self.is_open(connection.cookies.get(COOKIE, ""))


class RequireLogin:
    """ASGI middleware: let those through whom `sessions` knows, send people to the form and programs away (401)."""

    def __init__(self, app: ASGIApp, sessions: Sessions, open_paths: Collection[str], open_folder: str) -> None:
        self._app = app
        self._sessions = sessions
        self._open_paths = frozenset(open_paths)
        self._open_folder = open_folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; lifespan events pass."""
        if scope["type"] != "http" or self._is_open(scope["path"]) or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        if scope["method"] == "GET" and not f"{scope['path']}/".startswith(_BELOW_MACHINES):
            target = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            await RedirectResponse(f"{LOGIN}?next={quote(target, safe='')}", 303)(scope, receive, send)
            return
        await UNAUTHORIZED.response()(scope, receive, send)

    def _is_open(self, path: str) -> bool:
        return path in self._open_paths or path.startswith(self._open_folder)

    def _is_known(self, scope: Scope) -> bool:
        return self._sessions.is_authorized(HTTPConnection(scope))
