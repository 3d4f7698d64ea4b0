"""Serve the page to ask on, REST and the MCP server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from webrag_core.application.command_calls import CommandRunner
from webrag_core.config import Settings
from webrag_core.config.serving import ServingSettings
from webrag_core.http_guard import is_loopback
from webrag_core.http_server import serve_app
from webrag_core.web.app import web_app


def serve(settings: Settings, listening: Callable[[Settings], None], commands: CommandRunner | None = None) -> None:
    """Serve until a signal; call `listening` with the settings that hold when it listens, their token among them. With
    `commands`, run commands for other processes of this machine.

    Raises InvalidInputError before that, see `web_app`.
    """
    serve_app(partial(web_app, commands=commands), settings, listening)


def runs_commands(settings: ServingSettings) -> bool:
    """Whether the server runs commands for other processes: only those of this machine reach it."""
    return is_loopback(settings.mcp_host)
