"""One application on one port: the pages for people, `/api` for programs, `/mcp` for language models."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from webrag_core.access import Tokens
from webrag_core.acquisition.acquirer import Acquirer
from webrag_core.application.command_calls import CommandRunner
from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.application.services import Services
from webrag_core.application.sharing import SHARED
from webrag_core.config import Settings
from webrag_core.errors import StoreError, WebragError
from webrag_core.http_guard import is_loopback
from webrag_core.http_server import DEFAULT_LIMITS, HEALTH, Limits, check_bind, own_hosts_only
from webrag_core.mcp_server.http import tools_app
from webrag_core.mcp_server.tools import make_server
from webrag_core.page_text import one_line
from webrag_core.web import (
    answers,
    asking,
    attaching,
    feedback,
    feeds,
    gaps,
    graph,
    page_history,
    searching,
    sharing,
    signing_in,
    sources,
    status,
    stored_page,
    watches,
)
from webrag_core.web.api.app import BASE, api_app
from webrag_core.web.api.operations import Api
from webrag_core.web.commands import PATH as COMMANDS
from webrag_core.web.commands import commands_app
from webrag_core.web.limits import LimitBody, LimitPath, SafeHeaders, hung_up
from webrag_core.web.login import LOGIN, MACHINES, TOOLS, RequireLogin, Sessions
from webrag_core.web.rendering import DRAWING, STATIC_FOLDER, page, refused
from webrag_core.web.running import RunningAnswers
from webrag_core.web.shared_answer import shared_app
from webrag_core.web.turns import TakeTurns

logger = logging.getLogger(__name__)

STATIC = "/static"
_FOR_EVER = "public, max-age=31536000, immutable"


class _Static(StaticFiles):
    """Static files, whose address changes with their content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = _FOR_EVER
        return response


def web_app(
    settings: Settings,
    acquirer: Acquirer | None = None,
    limits: Limits = DEFAULT_LIMITS,
    commands: CommandRunner | None = None,
) -> ASGIApp:
    """Create the application: `/` and the pages that it links to, `/shared`, `/api`, `/mcp` and `/health`; on loopback,
    where there are `commands`, `/commands` for the command line of this machine.

    Raises InvalidInputError as `mcp_server.http.http_app`, whose rules for hosts, origins and the token hold here, too.
    """
    check_bind(settings)
    server = make_server(settings, acquirer)
    tools = tools_app(server, settings, limits)

    async def services() -> Services:
        if server.core is None:
            raise StoreError("the server is not open")
        return await server.core.services()

    running = RunningAnswers(services, settings.webrag_max_pages, settings.mcp_tool_timeout)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with server.session_manager.run(), running:
            yield

    pages = Starlette(
        routes=[
            *asking.ROUTES,
            *feeds.ROUTES,
            *answers.ROUTES,
            *sharing.ROUTES,
            *feedback.ROUTES,
            *gaps.ROUTES,
            *stored_page.ROUTES,
            *searching.ROUTES,
            *sources.ROUTES,
            *attaching.ROUTES,
            *page_history.ROUTES,
            *graph.ROUTES,
            *watches.ROUTES,
            *status.ROUTES,
            *signing_in.ROUTES,
            Mount(STATIC, _Static(directory=STATIC_FOLDER, packages=[DRAWING])),
        ],
        middleware=[
            Middleware(LimitBody),
            Middleware(
                TakeTurns,
                seconds=settings.mcp_tool_timeout,
                open_paths=(f"{STATIC}/", LOGIN),
                streams=(asking.EVENTS, attaching.EVENTS),
            ),
        ],
        exception_handlers={
            HTTPException: _unserved,
            RefusedError: _unserved,
            ClientDisconnect: hung_up,
            WebragError: _problem,
            Exception: _defect,
        },
    )
    tokens = Tokens.of(settings)
    sessions = None if tokens is None else Sessions(tokens)
    pages.state.services, pages.state.running, pages.state.sessions = services, running, sessions
    of_this_machine = []
    if commands is not None and is_loopback(settings.mcp_host):
        of_this_machine = [Mount(COMMANDS, commands_app(Api(settings, services, running), commands))]
    site: ASGIApp = Starlette(
        routes=[
            Route(TOOLS, tools, methods=None),
            Route(HEALTH, tools),
            Mount(SHARED, shared_app(services)),
            Mount(BASE, api_app(settings, services, running)),
            *of_this_machine,
            Mount("/", pages),
        ],
        lifespan=lifespan,
    )
    if sessions is not None:
        site = RequireLogin(site, sessions, [HEALTH, LOGIN], (f"{STATIC}/", f"{SHARED}/"))
    return SafeHeaders(LimitPath(own_hosts_only(site, settings, links=True, unlinked=MACHINES)))


async def _unserved(request: Request, error: Exception) -> Response:
    refusal = Refusal.of(error)
    return page(request, "problem", refusal, title=refusal.message, text="")


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, WebragError)
    refusal = Refusal.of(error)
    if refusal.status >= 500:
        logger.warning("%s failed: %s", request.scope["route"].path, one_line(error.message))
    return refused(request, refusal)


async def _defect(request: Request, error: Exception) -> Response:
    return refused(request, Refusal.of(error))
