"""`webrag demo`, `up` and `ui`: the platform on the command line. Dagster is imported only when one of them runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.files import Proof
from webrag_core.cli.output import Json
from webrag_core.errors import InvalidInputError
from webrag_core.extras import DAGSTER, SERVE, is_installed, require_extra

if TYPE_CHECKING:
    from webrag_core.config.serving import ServingSettings


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the CLI."""
    app.command()(demo)
    app.command()(up)
    app.command()(ui)


def demo(
    quotes: Annotated[int, typer.Option(min=1, help="Quotes to print.")] = 3,
    proof: Proof = False,
    as_json: Json = False,
) -> None:
    """Ask a frozen real website one question, through Dagster where it is installed."""
    from evals.walks.suites import DEMO_SITE
    from webrag_core.cli.answer import print_answer
    from webrag_core.cli.ask import print_prose
    from webrag_core.cli.log import leave_warnings_to_the_result
    from webrag_core.cli.output import out, print_json, print_line
    from webrag_core.config import load_settings

    leave_warnings_to_the_result()
    run_id = None
    if is_installed(DAGSTER):
        from webrag_dagster.instance import use_instance

        use_instance()
        load_settings()  # what is wrong in them is said before Dagster is imported, which takes seconds
        from webrag_dagster.demo import run_demo

        result, prose, run_id = run_demo(DEMO_SITE)
    else:
        from webrag_dagster.demo import answer_demo

        result, prose = answer_demo(DEMO_SITE)
    if as_json:
        print_json({**result.model_dump(mode="json"), "prose": prose.model_dump(mode="json"), "run_id": run_id})
        return
    print_answer(result, quotes=quotes, proof=proof)
    print_line("")
    print_line("The same question, answered in prose (webrag ask)", style="bold")
    print_line("")
    print_prose(prose, proof=proof)
    place = (
        f"make ui (or webrag up), then http://127.0.0.1:3000/assets/answers or /runs/{run_id}"
        if run_id
        else "pip install 'webrag[dagster]', then webrag up --demo-site"
    )
    out.print(f"\nIn the UI   {place}", markup=False, highlight=False)


def up(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the UI on 127.0.0.1.")] = 3000,
    demo_site: Annotated[
        bool,
        typer.Option(
            "--demo-site",
            help="Read the frozen Python documentation, unless WEBRAG_WARC names another site.",
        ),
    ] = False,
    page: Annotated[
        bool,
        typer.Option(
            "--page/--no-page",
            help="Serve the page to ask on too, as `webrag serve` does, on MCP_PORT; other commands use it.",
        ),
    ] = True,
) -> None:
    """Dagster's UI and daemon, and the page to ask on, until Ctrl-C."""
    require_extra(DAGSTER, "`webrag up`")
    from evals.walks.suites import python_site
    from webrag_core.config import load_settings
    from webrag_core.http_guard import require_free
    from webrag_core.store.embedded import embedded_url
    from webrag_core.store.server_resources import ServerResources
    from webrag_dagster.instance import HOST, hold, refuse_stray_env_file, storage_folder, use_instance
    from webrag_dagster.processes.ui_guard import accepted_hosts, closed_to_others
    from webrag_dagster.processes.up import run

    refuse_stray_env_file()
    accepted_hosts(load_settings(), HOST)  # here, or the web server would end again and again
    hold(storage_folder(use_instance()), port)
    require_free(HOST, port)
    if demo_site and load_settings().webrag_warc is None and (site := python_site()) is not None:
        os.environ["WEBRAG_WARC"] = str(site.resolve())
    settings = load_settings()
    pages = f"the frozen site {settings.webrag_warc.name}" if settings.webrag_warc else "the live web"
    shown = "" if settings.webrag_ui_token is None else "/?token=$WEBRAG_UI_TOKEN"
    made = closed_to_others(settings, HOST).webrag_ui_token
    if made is not None and not shown:
        shown = f"/?token={made.get_secret_value()}"
    typer.echo("starting the database and Dagster; the address follows when they answer", err=True)

    def listening() -> None:
        typer.echo(f"http://{HOST}:{port}{shown}  Dagster; pages come from {pages}; Ctrl-C ends it", err=True)

    def start_database() -> None:
        if settings.database_url is None:
            embedded_url(settings.webrag_home, ServerResources.chosen(settings))  # stays up as long as the supervisor

    raise typer.Exit(run(port, start_database, listening, with_page=page and can_serve_page(settings)))


def can_serve_page(settings: ServingSettings) -> bool:
    """Whether the page to ask on can be served beside the UI; what it lacks is printed."""
    from webrag_core.http_guard import require_free

    if not is_installed(SERVE):
        return False
    try:
        require_free(settings.mcp_host, settings.mcp_port, "MCP_PORT")
    except InvalidInputError as error:
        typer.echo(f"the page to ask on is not served: {error.message}", err=True)
        return False
    return True


def ui(
    workspace: Annotated[
        Path, typer.Option("--workspace", "-w", exists=True, dir_okay=False, help="Dagster's workspace.yaml.")
    ] = Path("workspace.yaml"),
    host: Annotated[str, typer.Option(help="Address to listen on; beyond loopback WEBRAG_UI_HOSTS is needed.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 3000,
) -> None:
    """Dagster's UI alone, for deployments.

    It is closed to pages of other sites. `webrag up` starts it with everything it needs.
    """
    require_extra(DAGSTER, "`webrag ui`")
    from webrag_core.config import load_settings
    from webrag_dagster.instance import refuse_stray_env_file, use_instance
    from webrag_dagster.processes.ui import serve
    from webrag_dagster.processes.ui_guard import closed_to_others

    refuse_stray_env_file()
    use_instance()
    settings = closed_to_others(load_settings(), host)
    serve(settings, workspace, host, port)
