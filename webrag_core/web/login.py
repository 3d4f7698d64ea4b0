"""Who may use the server where a token is set: programs send it with each request, people type it once."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_core.access import READ_ONLY, Access, Tokens, narrowed
from webrag_core.access_token import PARAMETER
from webrag_core.application.reach import Reach
from webrag_core.application.refusals import UNAUTHORIZED, Refusal
from webrag_core.http_guard import shown_token
from webrag_core.source_tokens import digest

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
_SEARCH = "/search"
_NARROWED = frozenset((_SEARCH, "/sources", "/history", "/history/at", "/history/diff", "/history/changes", TOOLS))
_NARROWED_FOLDERS = ("/api/", "/sources/", "/pages/")
"""Paths, and folders of them, whose handlers keep to the reach of a request. A token of some sources opens no other."""


class Sessions:
    """People who showed a token, by the random value of their cookie. Restarting the server ends all sessions, and
    revoking a token those that it opened."""

    def __init__(self, tokens: Tokens, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = tokens
        self._clock = clock
        self._ends: dict[str, tuple[float, str]] = {}  # and the token's digest; the oldest first

    def open(self, token: str) -> str | None:
        """Return the cookie's value for a right token; None for any other."""
        sha256 = digest(token.encode())
        if self._tokens.access(sha256) is None:
            return None
        while len(self._ends) >= _MOST_SESSIONS:
            del self._ends[next(iter(self._ends))]
        value = secrets.token_urlsafe(32)
        self._ends[value] = (self._clock() + SECONDS, sha256)
        return value

    def close(self, value: str) -> None:
        """End a session."""
        self._ends.pop(value, None)

    def access_of(self, scope: Scope) -> Access | None:
        """What a request may do: by its bearer token, or that in the address of `/mcp` or of a feed, as some clients
        send nothing else, or by the cookie of an open session; None = nothing."""
        connection = HTTPConnection(scope)
        token = shown_token(scope)
        if connection.headers.getlist("authorization") or (token is not None and _takes_token(scope)):
            return self._tokens.access(digest(token or b""))
        ends, sha256 = self._ends.get(connection.cookies.get(COOKIE, ""), (0.0, ""))
        return self._tokens.access(sha256) if ends > self._clock() else None


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
        access = self._sessions.access_of(scope)
        if access is not None:
            await self._admitted(access, scope)(scope, receive, send)
        elif is_visit:
            target = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            await RedirectResponse(f"{LOGIN}?next={quote(target, safe='')}", 303)(scope, receive, send)
        else:
            await UNAUTHORIZED.response()(scope, receive, send)

    def _admitted(self, access: Access, scope: Scope) -> ASGIApp:
        """What answers a request of somebody who is known."""
        reach = access.reach
        if not access.writes and not _is_reading(scope, reach):
            return READ_ONLY.response()
        if reach.is_everything:
            return self._app
        if scope["path"] == "/":
            return RedirectResponse(_SEARCH, 303)
        if scope["path"] not in _NARROWED and not scope["path"].startswith(_NARROWED_FOLDERS):
            return Refusal.of(reach.error).response()
        return narrowed(self._app, reach)

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


def _is_reading(scope: Scope, reach: Reach) -> bool:
    """Whether a request starts and stores nothing: no GET of a page or of `/api` does, and of the tools none that keeps
    to a reach."""
    if scope["path"] == TOOLS:
        return not reach.is_everything
    return scope["method"] in ("GET", "HEAD") or scope["path"] in _READING
