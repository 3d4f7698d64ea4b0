"""The endpoints that change which sites are kept, and tell how far the reading of one is. It goes on when the client
hangs up."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from webrag_core.application.attaching import (
    AttachSite,
    ReadPages,
    ReadSource,
    SiteReadings,
    SourceProgress,
    StopReading,
)
from webrag_core.application.services import run_apart
from webrag_core.application.site_preview import PreviewSite, SitePreview
from webrag_core.application.site_runs import SiteReading, SiteRun
from webrag_core.application.upkeep import PausedSources, PauseSources, RemovedSource, RemoveSource
from webrag_core.web.api.operations import Api, Operation, wants_events

_PING_SECONDS = 15


async def preview(api: Api, request: Request, body: PreviewSite) -> SitePreview:
    """Look at a site."""
    return await run_apart(body.run(await api.services()))


async def read_site(api: Api, request: Request, body: AttachSite | ReadSource) -> SiteReading | Response:
    """Begin to read a source; tell how far it is where events are wanted."""
    run = await body.start(await api.services())
    if wants_events(request):
        return EventSourceResponse(_events(run), ping=_PING_SECONDS)
    return run.reading


async def read_pages(api: Api, request: Request, body: ReadPages) -> SiteReadings:
    """Begin to read pages that are lacking."""
    return await body.run(await api.services())


async def progress(api: Api, request: Request, wanted: SourceProgress) -> SiteReading:
    """Tell how far it is; costs no turn, as nothing is read from the database."""
    return await wanted.run(await api.services())


async def stop(api: Api, request: Request, body: StopReading) -> SiteReading:
    """Stop it."""
    return await body.run(await api.services())


async def _events(run: SiteRun) -> AsyncIterator[ServerSentEvent]:
    async for reading in run.watch():
        yield ServerSentEvent(reading.model_dump_json(), event=reading.state)


OPERATIONS = (
    Operation(
        "POST",
        "/sources/preview",
        "preview",
        "Look at a site before it is attached; nothing is stored",
        PreviewSite,
        SitePreview,
        preview,
        refusals=(422, 502),
    ),
    Operation(
        "POST",
        "/sources",
        "attach",
        "Attach a section of a site and begin to read its pages",
        AttachSite,
        SiteReading,
        read_site,
        status=201,
        events=SiteReading,
    ),
    Operation(
        "POST",
        "/sources/refresh",
        "refresh",
        "Read the pages of a source again",
        ReadSource,
        SiteReading,
        read_site,
        events=SiteReading,
        refusals=(404,),
    ),
    Operation(
        "POST",
        "/gaps/pages",
        "read_pages",
        "Read pages that a site map names and that are lacking",
        ReadPages,
        SiteReadings,
        read_pages,
        status=201,
    ),
    Operation(
        "GET",
        "/sources/reading",
        "reading",
        "Tell how far the reading of a source is",
        SourceProgress,
        SiteReading,
        progress,
        refusals=(404,),
    ),
    Operation(
        "POST",
        "/sources/stop",
        "stop",
        "Stop the reading of a source; what is stored stays",
        StopReading,
        SiteReading,
        stop,
        refusals=(404,),
    ),
    Operation(
        "POST",
        "/sources/pause",
        "pause",
        "Leave sources out of refreshes, or take them in again",
        PauseSources,
        PausedSources,
        refusals=(404,),
    ),
    Operation(
        "DELETE",
        "/sources",
        "detach",
        "Detach a source; its pages stay, unless they are to be forgotten",
        RemoveSource,
        RemovedSource,
        refusals=(404,),
    ),
)
