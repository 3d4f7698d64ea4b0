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

from webrag_core.config import Settings
from webrag_core.errors import WebragError
from webrag_core.page_text import one_line
from webrag_core.web.api import asking, reading
from webrag_core.web.api.asking import error_reply
from webrag_core.web.api.openapi import describe
from webrag_core.web.api.operations import Api, routes
from webrag_core.web.api.replies import ErrorReply
from webrag_core.web.limits import LimitBody, hung_up
from webrag_core.web.problems import DEFECT, status_of
from webrag_core.web.running import Open, RunningAnswers

logger = logging.getLogger(__name__)

BASE = "/api"
OPERATIONS = (*asking.OPERATIONS, *reading.OPERATIONS)
MOST_BYTES = 1024 * 1024
_RETRY_SECONDS = "30"
_CODES = {404: "unknown_path", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type"}


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
            HTTPException: _http_problem,
            ClientDisconnect: hung_up,
            WebragError: _problem,
            Exception: _defect,
        },
    )
    app.router.redirect_slashes = False
    return app


def _reply(status: int, reply: ErrorReply, headers: dict[str, str] | None = None) -> Response:
    return Response(reply.model_dump_json(), status, headers, media_type="application/json")


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    reply = ErrorReply.of(_CODES.get(error.status_code, "http_error"), error.detail)
    return _reply(error.status_code, reply, dict(error.headers or {}))


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, WebragError)
    status = status_of(error)
    if status >= 500:
        logger.warning("%s failed: %s", request.scope["route"].name, one_line(error.message))
    return _reply(status, error_reply(error), {"Retry-After": _RETRY_SECONDS} if status == 503 else None)


async def _defect(request: Request, error: Exception) -> Response:
    return _reply(500, ErrorReply.of("internal_error", DEFECT))
