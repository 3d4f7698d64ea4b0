"""The history of answers, and one answer beside the stored pages that prove it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.answering.stored import load_answer
from webrag_core.history.answers import list_answers, open_answer
from webrag_core.mcp_server.core import Services
from webrag_core.web.rendering import page

_MOST = 100


async def show_list(request: Request) -> Response:
    """The latest answers, the newest first."""
    services: Services = await request.app.state.services()
    return page(request, "answers", answers=await list_answers(services.corpus.database, limit=_MOST))


async def show_answer(request: Request) -> Response:
    """One answer with the state of its quotes today."""
    services: Services = await request.app.state.services()
    database = services.corpus.database
    number = request.path_params["number"]
    opened = await open_answer(database, number)
    async with database.connection() as connection:
        prose = await load_answer(connection, number) if opened.is_prose else None
    return page(request, "answer", opened=opened, answer=prose)


ROUTES = [
    Route("/answers", show_list, methods=["GET"]),
    Route("/answers/{number:int}", show_answer, methods=["GET"]),
]
