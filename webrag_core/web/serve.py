"""Serve the page to ask on, REST and the MCP server."""

from __future__ import annotations

from collections.abc import Callable

from webrag_core.config import Settings
from webrag_core.http_server import serve_app
from webrag_core.web.app import web_app


def serve(settings: Settings, listening: Callable[[Settings], None]) -> None:
    """Serve until a signal; call `listening` with the settings that hold when it listens, their token among them.

    Raises InvalidInputError before that, see `web_app`.
    """
    serve_app(web_app, settings, listening)
