"""`webrag mcp`: the core as tools for language models, over stdio or HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from webrag_core.cli.output import complain
from webrag_core.cli.serve import address, query, who_may
from webrag_core.config import Settings, load_settings
from webrag_core.extras import MCP, require_extra


def add_mcp_command(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(mcp)


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of stdio.")] = False,
    host: Annotated[str | None, typer.Option(help="Where to listen; unset = MCP_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Unset = MCP_PORT.")] = None,
) -> None:
    """Serve the tools to language models, over stdio or HTTP."""
    require_extra(MCP, "`webrag mcp`")
    settings = load_settings(**{k: v for k, v in (("mcp_host", host), ("mcp_port", port)) if v is not None})
    if http:
        from webrag_core.mcp_server.http import serve as serve_http

        def listening(closed: Settings) -> None:
            complain(f"tools at {address(closed)}/mcp{query(settings, closed)} (Ctrl-C ends the server)")
            complain(who_may(settings, closed))

        serve_http(settings, listening)
        return
    from webrag_core.mcp_server.stdio import serve
    from webrag_core.mcp_server.tools import make_server

    raise typer.Exit(serve(make_server(settings)))
