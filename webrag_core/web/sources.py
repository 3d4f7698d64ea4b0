"""The sources, what they hold and how fresh it is; and the pages of one source. `attaching` changes them."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application.reach import Reach
from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.application.services import Services
from webrag_core.corpus.source_pages import PAGE_STATES, list_summaries, source_pages, source_summary
from webrag_core.corpus.sources import find_source, source_names
from webrag_core.errors import InvalidInputError
from webrag_core.page_text import visible
from webrag_core.retrieval.example_questions import example_questions
from webrag_core.showing.coverage_figure import coverage_figure
from webrag_core.web.attaching import CADENCES
from webrag_core.web.paths import source_path
from webrag_core.web.query import field, page_number, pager
from webrag_core.web.rendering import page

SOURCES = "/sources"
_SOURCES_A_PAGE = 50
_PAGES_A_PAGE = 50


async def show_sources(request: Request) -> Response:
    """All sources, by key."""
    services: Services = await request.app.state.services()
    number = page_number(request.query_params)
    offset = _SOURCES_A_PAGE * (number - 1)
    async with services.corpus.database.connection() as connection:
        keys = await Reach.of(request.scope).keys(connection)
        rows = await list_summaries(connection, keys, limit=_SOURCES_A_PAGE + 1, offset=offset)
        names = await source_names(connection, [row.key for row in rows])
    return page(
        request,
        "sources",
        sources=rows[:_SOURCES_A_PAGE],
        names=names,
        running={row.key for row in rows if (run := services.sites.get(row.key)) and not run.reading.is_over},
        pager=pager(SOURCES, {}, page=number, size=_SOURCES_A_PAGE, rows=len(rows)),
    )


async def show_source(request: Request) -> Response:
    """One source with its pages by address, those of one state or all, with words those that have them in it."""
    services: Services = await request.app.state.services()
    key = visible(request.path_params["key"])
    Reach.of(request.scope).require(key)
    named = field(request.query_params, "state")
    state = next((state for state in PAGE_STATES if state == named), None)
    words = field(request.query_params, "words")
    number = page_number(request.query_params)
    offset = _PAGES_A_PAGE * (number - 1)
    async with services.corpus.database.connection() as connection:
        try:
            source = await source_summary(connection, key)
        except InvalidInputError as error:
            raise RefusedError(Refusal(404, "not_stored", f"There is no source {key}")) from error
        names = await source_names(connection, [key])
        questions = await example_questions(connection, [key])
        kept = await find_source(connection, key)
        rows = await source_pages(connection, key, state=state, words=words, limit=_PAGES_A_PAGE + 1, offset=offset)
    query = {"state": state or "", "words": words}
    run = services.sites.get(key)
    return page(
        request,
        "source",
        source=source,
        coverage=coverage_figure(
            source.states, source.map_entries, lambda state: f"{source_path(key)}?state={state}#pages"
        ),
        shown_name=names.get(key),
        kept=kept,
        questions=questions.get(key, []),
        cadences=CADENCES,
        reading=None if run is None else run.reading,
        pages=rows[:_PAGES_A_PAGE],
        state=state,
        words=words,
        pager=pager(source_path(key), query, page=number, size=_PAGES_A_PAGE, rows=len(rows)),
    )


ROUTES = [
    Route(SOURCES, show_sources, methods=["GET"]),
    Route(f"{SOURCES}/{{key:path}}", show_source, methods=["GET"]),
]
