"""`webrag serve`: the page to ask on, with REST and the MCP server on the same port."""

from __future__ import annotations

from typing import Annotated

import typer

from webrag_core.cli.output import complain
from webrag_core.config import Settings, load_settings
from webrag_core.extras import SERVE, require_extra


def add_serve_command(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="Where to listen; unset = MCP_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Unset = MCP_PORT.")] = None,
) -> None:
    """Serve a page to ask on in a browser, REST (/api) for programs and the tools (/mcp) for language models."""
    require_extra(SERVE, "`webrag serve`")
    from webrag_core.web.serve import serve as serve_pages

    settings = load_settings(**{k: v for k, v in (("mcp_host", host), ("mcp_port", port)) if v is not None})
    serve_pages(settings, lambda: complain(f"ask at {address(settings)}/ (Ctrl-C ends the server)", style="bold"))


def address(settings: Settings) -> str:
    """Where a browser on this machine finds the server."""
    host = settings.mcp_host
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.mcp_port}"
