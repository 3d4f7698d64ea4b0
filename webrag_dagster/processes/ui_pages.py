"""The pages that materializations link to, served beside Dagster's own: answers to read, pictures of graphs.

Each is made from the database when it is asked for: no file holds text of pages that may be removed. They hold text of
web pages, so the browser treats each as a site of its own, without scripts and without a network.
"""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import AsyncConnection
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from webrag_core.config import Settings
from webrag_core.errors import InvalidInputError, WebragError
from webrag_dagster.page_addresses import GRAPHS, PREFIX, SOURCE, answer_at

_NEAR = 30  # nodes of a graph that are drawn
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; sandbox"
_LINKS = "allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
_HEADERS = {"Content-Security-Policy": f"{_POLICY} {_LINKS}", "Cache-Control": "no-store"}


class WithPages:
    """Serve the pages; everything else is Dagster's."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI event."""
        parts = scope["path"].strip("/").split("/") if scope["type"] == "http" else []
        if not parts or parts[0] != PREFIX:
            await self._app(scope, receive, send)
            return
        await (await self._page(Request(scope)))(scope, receive, send)

    async def _page(self, request: Request) -> Response:
        path, source = request.scope["path"], request.query_params.get(SOURCE, "")
        try:
            if (answer_id := answer_at(path)) is not None:
                text = await _answer_page(self._settings, answer_id)
            elif path == GRAPHS and source:
                text = await _graph_page(self._settings, source)
            else:
                return PlainTextResponse("there is no such page", 404)
        except InvalidInputError as error:
            return PlainTextResponse(error.message, 404)
        except WebragError as error:
            return PlainTextResponse(error.message, 503)
        return HTMLResponse(text, headers=_HEADERS)


async def _answer_page(settings: Settings, answer_id: int) -> str:
    """An answer in prose as it is stored now. Raises InvalidInputError where none has the number, StoreError."""
    from webrag_core.answering.stored import load_answer
    from webrag_core.showing.html import render_page
    from webrag_core.store.database import Database

    async with await Database.open(settings) as database, database.snapshot() as connection:
        return render_page(await load_answer(connection, answer_id))


async def _graph_page(settings: Settings, source: str) -> str:
    """The graph of a source as it is stored now. Raises InvalidInputError where none is, StoreError."""
    from webrag_core.store.database import Database
    from webrag_dagster.corpus.state import source_pages

    async with await Database.open(settings) as database, database.snapshot() as connection:
        picture = await _draw_source(connection, [page.url for page in await source_pages(connection, source)])
    if picture is None:
        raise InvalidInputError(f"nothing is stored of the graph of {source}")
    return picture


async def _draw_source(connection: AsyncConnection, urls: Sequence[str]) -> str | None:
    """Draw the neighbourhood of the most linked of a source's pages as one HTML page; None without any edges."""
    from webrag_core.indexing.graph.totals import most_linked_page
    from webrag_core.retrieval.graph.picture import render_picture
    from webrag_core.retrieval.graph.tasks import expand_related

    page = await most_linked_page(connection, urls)
    if page is None:
        return None
    return render_picture(await expand_related(connection, [page], k=_NEAR))
