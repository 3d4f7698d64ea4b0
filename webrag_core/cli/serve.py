"""`webrag serve`: the page to ask on, with REST and the MCP server on the same port."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer
from typer.core import TyperGroup

from webrag_core.access_token import PARAMETER, SERVE_TOKEN
from webrag_core.cli.output import complain
from webrag_core.config import Settings, load_settings
from webrag_core.config.serving import ServingSettings
from webrag_core.extras import SERVE, require_extra


def add_serve_command(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(serve)


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Where to listen; unset = MCP_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Unset = MCP_PORT.")] = None,
) -> None:
    """Serve a page to ask on in a browser, REST (/api) for programs and the tools (/mcp) for language models."""
    require_extra(SERVE, "`webrag serve`")
    from webrag_core.cli.running_server import announced
    from webrag_core.cli.served import command_runner, described
    from webrag_core.web.serve import runs_commands
    from webrag_core.web.serve import serve as serve_pages

    chosen = load_settings(**{k: v for k, v in (("mcp_host", host), ("mcp_port", port)) if v is not None})

    commands = context.find_root().command
    assert isinstance(commands, TyperGroup)
    complain("opening the corpus; the address comes next")  # a new one takes seconds
    with ExitStack() as stack:

        def listening(settings: Settings) -> None:
            complain(f"ask at {address(settings)}/{query(chosen, settings)} (Ctrl-C ends the server)", style="bold")
            complain(who_may(chosen, settings))
            if settings.webrag_use_server and runs_commands(settings):
                try:
                    stack.enter_context(announced(settings.webrag_home, described(chosen, settings)))
                except OSError as error:
                    complain(f"other commands do not use this server: {error}")

        serve_pages(chosen, listening, command_runner(commands, chosen))


def query(chosen: Settings, settings: Settings) -> str:
    """The end of the printed address: the token of the home; one that the operator chose is not printed."""
    token = settings.mcp_auth_token
    return "" if token is None or chosen.mcp_auth_token is not None else f"?{PARAMETER}={token.get_secret_value()}"


def who_may(chosen: Settings, settings: Settings) -> str:
    """Who may use the server, in a sentence."""
    if settings.mcp_auth_token is None:
        return "Every user of this machine may read, ask and judge: WEBRAG_SERVE_OPEN is set."
    place = "MCP_AUTH_TOKEN" if chosen.mcp_auth_token is not None else str(settings.webrag_home / SERVE_TOKEN)
    return f"Whoever has the token ({place}) sees all questions and answers, and may ask, stop and judge."


def address(settings: ServingSettings) -> str:
    """Where a browser on this machine finds the server."""
    host = settings.mcp_host
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.mcp_port}"
