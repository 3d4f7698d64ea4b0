"""The page behind a shared link: one answer with its quotes and sources, and no way to anything else.

It is an application of its own: what is open to everybody has one route.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from webrag_core.answering.models import Answer
from webrag_core.answering.stored import load_answer
from webrag_core.application.services import Services
from webrag_core.errors import WebragError
from webrag_core.history.shares import answer_of_token
from webrag_core.showing.elements import Element, Note, Section
from webrag_core.showing.html import Links, write_html
from webrag_core.showing.view import view
from webrag_core.text_work import beside_loop
from webrag_core.web.rendering import fragment

_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Cache-Control": "no-store",
}
_SHOWN = frozenset({"answer", "listed", "evidence", "likely", "nearest", "missing", "disagreements"})
_AT_ONCE = 4
_MOST_WAITING = 64
_SECONDS = 30.0


def shared_app(services: Callable[[], Awaitable[Services]]) -> Starlette:
    """Create the application, which is mounted at the path of shared links."""
    turns = asyncio.Semaphore(_AT_ONCE)
    waiting = 0

    async def show(request: Request) -> Response:
        nonlocal waiting
        if waiting >= _MOST_WAITING:
            return _busy()
        waiting += 1
        try:
            async with asyncio.timeout(_SECONDS), turns:
                answer = await _answer(await services(), request.path_params["token"])
                if answer is None:
                    return _nothing()
                return await beside_loop(_page, answer)
        except (TimeoutError, WebragError):
            return _busy()
        finally:
            waiting -= 1

    async def unknown(request: Request, error: Exception) -> Response:
        return _nothing()

    app = Starlette(routes=[Route("/{token}", show, methods=["GET"])], exception_handlers={HTTPException: unknown})
    app.router.redirect_slashes = False
    return app


async def _answer(services: Services, token: str) -> Answer | None:
    """The answer as it is stored now: without what was forgotten since."""
    async with services.corpus.database.connection() as connection:
        number = await answer_of_token(connection, token)
        return None if number is None else await load_answer(connection, number)


def _page(answer: Answer) -> Response:
    text = fragment("shared", question=answer.wording or answer.question, body=write_html(_parts(answer), Links()))
    return HTMLResponse(text, headers=_HEADERS)


def _parts(answer: Answer) -> Sequence[Element]:
    """What it says and what proves it; not how it was made, nor its number."""
    return [
        part
        for part in view(answer)
        if (part.key in _SHOWN if isinstance(part, Section) else not isinstance(part, Note) or part.kind == "fact")
    ]


def _nothing() -> Response:
    """The same for a token that is wrong, has ended or was revoked, and for every other path."""
    return HTMLResponse(fragment("shared", question="This link shows nothing", body=""), 404, headers=_HEADERS)


def _busy() -> Response:
    return HTMLResponse(
        fragment("shared", question="Please try again in a moment", body=""),
        503,
        headers={**_HEADERS, "Retry-After": "5"},
    )
