"""Serve the page to ask on, REST and the MCP server."""

from __future__ import annotations

from webrag_core.config import Settings
from webrag_core.mcp_server.http import serve_app
from webrag_core.web.app import web_app


def serve(settings: Settings) -> None:
    """Serve until a signal. Raises InvalidInputError before anything listens, see `web_app`."""
    serve_app(web_app(settings), settings)
