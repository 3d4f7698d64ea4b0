"""What is watched: the list, and the forms that add to it and take from it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webrag_core.application.refusals import Refusal
from webrag_core.application.services import Services
from webrag_core.application.watching import AddWatch, ListWatches, RemoveWatch
from webrag_core.errors import WebragError
from webrag_core.foreign_values import LARGEST_NUMBER, whole_number
from webrag_core.web.query import field, page_number, pager, typed_url
from webrag_core.web.rendering import page

WATCHES = "/watches"
_A_PAGE = 50
_STEP = ">"
"""Between the headings of a path, as a person types them."""


async def show_watches(request: Request) -> Response:
    """All watches by number, below a form for a new one."""
    return await _list(request)


async def add(request: Request) -> Response:
    """Watch a page (`url`, with `section` one of its sections), a question, or the question of an answer."""
    form = await request.form()
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    url, question = field(fields, "url"), field(fields, "question")
    try:
        wanted = AddWatch.of(
            page=typed_url(url) if url else None,
            section=tuple(part.strip() for part in field(fields, "section").split(_STEP) if part.strip()),
            question=question or None,
            answer=whole_number(fields.get("answer", ""), 1, LARGEST_NUMBER),
            pace="daily" if fields.get("pace") == "daily" else "at_once",
        )
        services: Services = await request.app.state.services()
        await wanted.run(services)
    except WebragError as error:
        return await _list(request, error)
    return RedirectResponse(WATCHES, 303)


async def remove(request: Request) -> Response:
    """Watch something no longer."""
    await request.form()  # refused where it is too long
    services: Services = await request.app.state.services()
    try:
        await RemoveWatch.of(number=request.path_params["number"]).run(services)
    except WebragError as error:
        return await _list(request, error)
    return RedirectResponse(WATCHES, 303)


async def _list(request: Request, error: WebragError | None = None) -> Response:
    services: Services = await request.app.state.services()
    number = page_number(request.query_params)
    listed = await ListWatches.of(limit=_A_PAGE, offset=_A_PAGE * (number - 1)).read(services.corpus.database)
    refusal = None if error is None else Refusal.of(error)
    rows = listed.total - _A_PAGE * (number - 1)
    return page(
        request,
        "watches",
        refusal,
        watches=listed.watches,
        is_told=services.settings.alerts_somewhere,
        problem="" if refusal is None else refusal.message,
        pager=pager(WATCHES, {}, page=number, size=_A_PAGE, rows=rows),
    )


ROUTES = [
    Route(WATCHES, show_watches, methods=["GET"]),
    Route(WATCHES, add, methods=["POST"]),
    Route(f"{WATCHES}/{{number:int}}/remove", remove, methods=["POST"]),
]
