"""The form in which a person types the server's token once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webrag_core.application.refusals import UNAUTHORIZED
from webrag_core.web.login import COOKIE, LOGIN, set_session
from webrag_core.web.rendering import page

_WRONG_SECONDS = 1.0
"""A wrong token is answered late."""


async def show_form(request: Request) -> Response:
    """The form."""
    return page(request, "login", next=_own_path(request.query_params.get("next", "/")), problem="")


async def open_session(request: Request) -> Response:
    """Compare the token; the right one opens a session and leads to where the person wanted to go."""
    form = await request.form()
    target = _own_path(str(form.get("next", "/")))
    sessions = request.app.state.sessions
    value = None if sessions is None else sessions.open(str(form.get("token", "")))
    if sessions is None:
        return RedirectResponse(target, 303)
    if value is None:
        await asyncio.sleep(_WRONG_SECONDS)
        refusal = replace(UNAUTHORIZED, message="This is not the token.")
        return page(request, "login", refusal, next=target, problem=refusal.message)
    response = RedirectResponse(target, 303)
    # behind a proxy that adds TLS only the browser knows the scheme; RequireOwnHost has compared the rest of its Origin
    is_secure = "https" in (request.url.scheme, request.headers.get("origin", "").partition(":")[0])
    set_session(response, value, is_secure=is_secure)
    return response


async def close_session(request: Request) -> Response:
    """End the session."""
    if request.app.state.sessions is not None:
        request.app.state.sessions.close(request.cookies.get(COOKIE, ""))
    response = RedirectResponse(LOGIN, 303)
    response.delete_cookie(COOKIE)
    return response


def _own_path(target: str) -> str:
    """The target, if it is a path on this server: no address of another one, in whatever spelling."""
    is_path = target.startswith("/") and not target.startswith("//") and "\\" not in target and target.isprintable()
    return target if is_path else "/"


ROUTES = [
    Route(LOGIN, show_form, methods=["GET"]),
    Route(LOGIN, open_session, methods=["POST"]),
    Route("/logout", close_session, methods=["POST"]),
]
