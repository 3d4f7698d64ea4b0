"""Who may use the server where a token is set: programs send it with each request, people type it once."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Collection
from typing import Literal
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_core.access_token import PARAMETER
from webrag_core.application.refusals import UNAUTHORIZED, Refusal
from webrag_core.http_guard import shown_token

COOKIE = "webrag_session"
LOGIN = "/login"
SECONDS = 12 * 3600
_MOST_SESSIONS = 1_000
TOOLS = "/mcp"
FEED = "/feed.atom"
"""How the path of a feed ends."""
MACHINES = ("/api", "/commands", TOOLS)
"""Paths, and all below them, whose clients get 401 instead of the form. No link opens them."""
_BELOW_MACHINES = tuple(f"{path}/" for path in MACHINES)
_READING = ("/api/search", LOGIN, "/logout")
"""Paths of which POST starts and stores nothing."""
_READ_ONLY = Refusal(403, "read_only", "this token reads what is stored; it asks, fetches and judges nothing")

Right = Literal["all", "read"]


class Sessions:
    """People who showed a token, by the random value of their cookie. Restarting the server ends all sessions."""

    def __init__(self, token: str, read_token: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens: dict[Right, bytes] = {"all": token.encode()}
        if read_token is not None:
            self._tokens["read"] = read_token.encode()
        self._clock = clock
        self._ends: dict[str, tuple[float, Right]] = {}  # the oldest first

    def open(self, token: str) -> str | None:
        """Return the cookie's value for a right token, compared in constant time; None for any other."""
        right = self._right_of_token(token.encode())
        if right is None:
            return None
        while len(self._ends) >= _MOST_SESSIONS:
            del self._ends[next(iter(self._ends))]
        value = secrets.token_urlsafe(32)
        self._ends[value] = (self._clock() + SECONDS, right)
        return value

    def close(self, value: str) -> None:
        """End a session."""
        self._ends.pop(value, None)

    def right_of(self, scope: Scope) -> Right | None:
        """What a request may do: by its bearer token, or that in the address of `/mcp` or of a feed, as some clients
        send nothing else, or by the cookie of an open session; None = nothing."""
        connection = HTTPConnection(scope)
        token = shown_token(scope)
        if connection.headers.getlist("authorization") or (token is not None and _takes_token(scope)):
            return self._right_of_token(token or b"")
        ends, right = self._ends.get(connection.cookies.get(COOKIE, ""), (0.0, "read"))
        return right if ends > self._clock() else None

    def _right_of_token(self, token: bytes) -> Right | None:
        matching = [right for right, known in self._tokens.items() if hmac.compare_digest(token, known)]
        return matching[0] if matching else None


class RequireLogin:
    """ASGI middleware: let those through whom `sessions` knows, send people to the form and programs away (401).

    A person's GET with the token in its address opens a session and leads to the same address without it.
    """

    def __init__(
        self, app: ASGIApp, sessions: Sessions, open_paths: Collection[str], open_folders: tuple[str, ...]
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._open_paths = frozenset(open_paths)
        self._open_folders = open_folders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event; lifespan events pass."""
        if scope["type"] != "http" or self._is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        is_visit = scope["method"] == "GET" and not _is_machines(scope)
        if is_visit and not _takes_token(scope) and PARAMETER in (query := QueryParams(scope["query_string"])):
            await self._admission(scope, query)(scope, receive, send)
            return
        right = self._sessions.right_of(scope)
        if right == "all" or (right == "read" and _is_reading(scope)):
            await self._app(scope, receive, send)
        elif right == "read":
            await _READ_ONLY.response()(scope, receive, send)
        elif is_visit:
            target = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            await RedirectResponse(f"{LOGIN}?next={quote(target, safe='')}", 303)(scope, receive, send)
        else:
            await UNAUTHORIZED.response()(scope, receive, send)

    def _is_open(self, path: str) -> bool:
        return path in self._open_paths or path.startswith(self._open_folders)

    def _admission(self, scope: Scope, query: QueryParams) -> RedirectResponse:
        """Lead to the address without its token, with a session where the token is right."""
        rest = urlencode([(name, value) for name, value in query.multi_items() if name != PARAMETER])
        target = "/" + quote(scope["path"].lstrip("/\\")) + (f"?{rest}" if rest else "")
        values = query.getlist(PARAMETER)
        session = self._sessions.open(values[0]) if len(values) == 1 else None
        response = RedirectResponse(target, 303)
        if session is not None:
            set_session(response, session, is_secure=scope["scheme"] == "https")
        return response


def set_session(response: RedirectResponse, value: str, *, is_secure: bool) -> None:
    """Set the cookie of a session."""
    response.set_cookie(COOKIE, value, max_age=SECONDS, httponly=True, samesite="strict", secure=is_secure)


def _is_machines(scope: Scope) -> bool:
    return f"{scope['path']}/".startswith(_BELOW_MACHINES)


def _takes_token(scope: Scope) -> bool:
    """Whether the token may stay in the address: clients of these paths keep no session."""
    return scope["path"] == TOOLS or (scope["method"] in ("GET", "HEAD") and scope["path"].endswith(FEED))


def _is_reading(scope: Scope) -> bool:
    """Whether a request starts and stores nothing: no GET of a page or of `/api` does."""
    if scope["path"] == TOOLS:
        return False
    return scope["method"] in ("GET", "HEAD") or scope["path"] in _READING
