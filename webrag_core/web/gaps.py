"""What the corpus could not answer, and what a person does about it: golden questions, or pages to read."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webrag_core.application.attaching import ReadPages
from webrag_core.application.closing_gaps import GoldenGap
from webrag_core.application.reading import ListGaps
from webrag_core.application.refusals import Refusal
from webrag_core.application.services import Services
from webrag_core.errors import WebragError
from webrag_core.foreign_values import LARGEST_NUMBER, whole_number
from webrag_core.web.feedback import ACTOR
from webrag_core.web.paths import source_path
from webrag_core.web.rendering import page

GAPS = "/gaps"


async def show_gaps(request: Request) -> Response:
    """What could not be answered in the last weeks, with the passages near it and the pages that may be lacking."""
    return await _gaps_page(request)


async def make_golden(request: Request) -> Response:
    """Make the questions of a gap golden questions with the passage that was chosen."""
    form, services = await request.form(), await _services(request)
    numbers = {name: whole_number(str(form.get(name, "")), 1, LARGEST_NUMBER) for name in ("citation", "feedback")}
    answers = tuple(whole_number(str(value), 1, LARGEST_NUMBER) for value in form.getlist("answers"))
    try:
        suggestions = await GoldenGap.of(answers=answers, **numbers).accept(
            services.corpus.database, services.settings, actor=ACTOR
        )
    except WebragError as error:
        return await _gaps_page(request, error)
    return RedirectResponse(f"{GAPS}?golden={suggestions.golden_questions}", 303)


async def read_pages(request: Request) -> Response:
    """Read the pages that were ticked, and lead to the page of their source, which shows how it goes."""
    form, services = await request.form(), await _services(request)
    try:
        runs = await ReadPages.of(urls=tuple(map(str, form.getlist("urls")))).start(services)
    except WebragError as error:
        return await _gaps_page(request, error)
    return RedirectResponse(source_path(runs[0].reading.source) if len(runs) == 1 else "/sources", 303)


async def _gaps_page(request: Request, error: WebragError | None = None) -> Response:
    services = await _services(request)
    listed = await ListGaps.of().read(services.corpus.database)
    refusal = None if error is None else Refusal.of(error)
    return page(
        request,
        "gaps",
        refusal,
        gaps=listed.gaps,
        golden=whole_number(request.query_params.get("golden", ""), 0, LARGEST_NUMBER),
        problem="" if refusal is None else refusal.message,
    )


async def _services(request: Request) -> Services:
    services: Services = await request.app.state.services()
    return services


ROUTES = [
    Route(GAPS, show_gaps, methods=["GET"]),
    Route(f"{GAPS}/golden", make_golden, methods=["POST"]),
    Route(f"{GAPS}/pages", read_pages, methods=["POST"]),
]
