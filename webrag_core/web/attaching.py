"""The pages on which a site is attached: what is there, how far the reading is, and the switches of a source."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from psycopg import AsyncConnection
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webrag_core.application.attaching import AttachSite, ReadSource, StopReading
from webrag_core.application.parameters import DEFAULT_PAGES
from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.application.services import Services, run_apart
from webrag_core.application.site_preview import PreviewSite, SitePreview
from webrag_core.application.site_runs import SiteReading, SiteRun
from webrag_core.application.upkeep import PauseSources, RemoveSource
from webrag_core.corpus.source_pages import source_summary
from webrag_core.corpus.sources import Source, find_source
from webrag_core.errors import InvalidInputError, NotStoredError, WebragError
from webrag_core.foreign_values import whole_number
from webrag_core.web.paths import source_path
from webrag_core.web.query import field
from webrag_core.web.rendering import fragment, page

ATTACH = "/attach"
EVENTS = re.compile(rf"{ATTACH}/events")
"""Path of the stream of events, which stays open."""
CADENCES: Mapping[str, str] = {
    "": "as the settings say",
    "1": "every hour",
    "6": "every 6 hours",
    "24": "every day",
    "168": "every week",
    "720": "every month",
}
"""Hours between refreshes to choose from, and their words."""
_MOST_PAGES = 1_000_000
_BY = "web: sources"


async def show_form(request: Request) -> Response:
    """The form for the address of a site, which the query may fill in."""
    return _form(request, _fields(request.query_params))


async def look(request: Request) -> Response:
    """What is at an address, with the form that attaches it. Nothing is stored."""
    fields = _fields(await request.form())
    try:
        preview = await run_apart(PreviewSite.of(**_section(fields)).run(await _services(request)))
    except WebragError as error:
        return _form(request, fields, error=error)
    return _form(request, fields, preview=preview)


async def attach(request: Request) -> Response:
    """Attach it, begin to read its pages, and lead to the page of the source, which shows how it goes."""
    fields = _fields(await request.form())
    try:
        wanted = AttachSite.of(**_section(fields), refresh_hours=fields["hours"] or None, name=fields["name"] or None)
        run = await wanted.start(await _services(request))
    except WebragError as error:
        return _form(request, fields, error=error)
    return _to_source(run.reading.source)


async def keep(request: Request) -> Response:
    """Keep an attached source with another cadence, limit of pages or name."""
    fields, services = _fields(await request.form()), await _services(request)
    async with services.corpus.database.connection() as connection:
        source = await _stored_source(connection, fields["source"])
    await AttachSite.of(
        url=source.start_url,
        pages=source.page_limit if _pages(fields) is None else _pages(fields),
        prefix=source.path_prefix,
        acquirer=source.acquirer,
        all_text=source.all_text,
        refresh_hours=fields["hours"] or None,
        name=fields["name"] or None,
    ).run(services)
    return _to_source(source.key)


async def read_again(request: Request) -> Response:
    """Read the pages of a source again."""
    fields = _fields(await request.form())
    run = await ReadSource.of(source=fields["source"]).start(await _services(request))
    return _to_source(run.reading.source)


async def stop(request: Request) -> Response:
    """Stop the reading of a source; what is stored stays."""
    fields = _fields(await request.form())
    try:
        reading = await run_apart(StopReading.of(source=fields["source"]).run(await _services(request)))
    except NotStoredError:
        return _to_source(fields["source"])
    return _to_source(reading.source)


async def pause(request: Request) -> Response:
    """Pause a source, or resume it."""
    fields, services = _fields(await request.form()), await _services(request)
    async with services.corpus.database.connection() as connection:
        source = await _stored_source(connection, fields["source"])
    await PauseSources.of(source=source.key, paused=not source.paused).run(services)
    return _to_source(source.key)


async def show_removal(request: Request) -> Response:
    """What would go, with the buttons that remove it."""
    services, key = await _services(request), _fields(request.query_params)["source"]
    async with services.corpus.database.connection() as connection:
        source = await _stored_source(connection, key)
        summary = await source_summary(connection, source.key)
    return page(request, "remove_source", source=summary)


async def remove(request: Request) -> Response:
    """Detach a source; with `forget` its pages go, too."""
    fields, services = _fields(await request.form()), await _services(request)
    await RemoveSource.of(source=fields["source"], forget=fields["forget"] == "1", by=_BY).run(services)
    return RedirectResponse("/sources", 303)


async def watch(request: Request) -> Response:
    """How far the reading of a source is, as a stream of HTML fragments: `reading`, at last `done`, a path."""
    services = await _services(request)
    try:
        run = services.sites.the(_fields(request.query_params)["source"])
    except NotStoredError as error:
        raise RefusedError(Refusal(404, "not_stored", error.message)) from error
    return EventSourceResponse(_messages(run), ping=15)


async def _messages(run: SiteRun) -> AsyncIterator[ServerSentEvent]:
    async for reading in run.watch():
        yield ServerSentEvent(reading_fragment(reading), event="reading")
    yield ServerSentEvent(source_path(run.reading.source), event="done")


def reading_fragment(reading: SiteReading) -> str:
    """How far the reading of a source is, as a part of its page."""
    return fragment("site_reading", reading=reading)


def _form(
    request: Request,
    fields: Mapping[str, str],
    *,
    preview: SitePreview | None = None,
    error: WebragError | None = None,
) -> Response:
    refusal = None if error is None else Refusal.of(error)
    return page(
        request,
        "attach",
        refusal,
        fields=fields,
        preview=preview,
        cadences=CADENCES,
        problem="" if refusal is None else refusal.message,
    )


_FIELDS = ("url", "prefix", "pages", "hours", "name", "source", "forget")


def _fields(given: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a form or a query; "" for those that are not there. Files are not read."""
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    return {name: field(texts, name) for name in _FIELDS}


def _section(fields: Mapping[str, str]) -> dict[str, object]:
    """The section that the form for an address means."""
    return {"url": fields["url"], "pages": _pages(fields) or DEFAULT_PAGES, "prefix": fields["prefix"] or None}


def _pages(fields: Mapping[str, str]) -> int | None:
    return whole_number(fields["pages"], 1, _MOST_PAGES)


async def _stored_source(connection: AsyncConnection, key: str) -> Source:
    """The source of this key. Raises RefusedError (404)."""
    try:
        return await find_source(connection, key)
    except InvalidInputError as error:
        raise RefusedError(Refusal(404, "not_stored", f"There is no source {key}")) from error


async def _services(request: Request) -> Services:
    services: Services = await request.app.state.services()
    return services


def _to_source(key: str) -> Response:
    return RedirectResponse(source_path(key), 303)


ROUTES = [
    Route(ATTACH, show_form, methods=["GET"]),
    Route(ATTACH, attach, methods=["POST"]),
    Route(f"{ATTACH}/look", look, methods=["POST"]),
    Route(f"{ATTACH}/keep", keep, methods=["POST"]),
    Route(f"{ATTACH}/read", read_again, methods=["POST"]),
    Route(f"{ATTACH}/stop", stop, methods=["POST"]),
    Route(f"{ATTACH}/pause", pause, methods=["POST"]),
    Route(f"{ATTACH}/remove", show_removal, methods=["GET"]),
    Route(f"{ATTACH}/remove", remove, methods=["POST"]),
    Route(f"{ATTACH}/events", watch, methods=["GET"]),
]
