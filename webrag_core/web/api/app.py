"""The application below `/api`: its routes, and every failure as `{"error": {"code", "message"}}`."""

from __future__ import annotations

import json
import logging

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from webrag_core.application.refusals import Refusal, RefusedError
from webrag_core.config import Settings
from webrag_core.errors import WebragError
from webrag_core.page_text import one_line
from webrag_core.web.api import asking, attaching, reading, sharing, watching
from webrag_core.web.api.openapi import describe
from webrag_core.web.api.operations import Api, routes
from webrag_core.web.limits import LimitBody, hung_up
from webrag_core.web.running import Open, RunningAnswers

logger = logging.getLogger(__name__)

BASE = "/api"
OPERATIONS = (*asking.OPERATIONS, *reading.OPERATIONS, *attaching.OPERATIONS, *watching.OPERATIONS, *sharing.OPERATIONS)
MOST_BYTES = 1024 * 1024


def api_app(settings: Settings, services: Open, running: RunningAnswers) -> Starlette:
    """Create the application; who may ask is checked around it."""
    document = json.dumps(describe(OPERATIONS, BASE)).encode()

    async def openapi(request: Request) -> Response:
        return Response(document, media_type="application/json")

    app = Starlette(
        routes=[
            *routes(OPERATIONS, Api(settings, services, running)),
            Route("/openapi.json", openapi, methods=["GET"]),
        ],
        middleware=[Middleware(LimitBody, most=MOST_BYTES, forms=False)],
        exception_handlers={
            HTTPException: _refused,
            RefusedError: _refused,
            ClientDisconnect: hung_up,
            WebragError: _problem,
            Exception: _refused,
        },
    )
    app.router.redirect_slashes = False
    return app


async def _refused(request: Request, error: Exception) -> Response:
    return Refusal.of(error).response()


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, WebragError)
    refusal = Refusal.of(error)
    if refusal.status >= 500:
        logger.warning("%s failed: %s", request.scope["route"].name, one_line(error.message))
    return refusal.response()
