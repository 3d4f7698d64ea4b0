"""`webrag …`: thin commands over the layers. Exit codes: 0 done, 1 failed, 2 wrong usage."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated

import typer
from typer.models import CommandInfo

from webrag_core.cli import addresses
from webrag_core.cli.answer import answer
from webrag_core.cli.ask import ask, plan
from webrag_core.cli.backup import add_backup_commands
from webrag_core.cli.corpus import add_corpus_commands
from webrag_core.cli.failures import report_error
from webrag_core.cli.feedback import feedback_app
from webrag_core.cli.graph import graph_app
from webrag_core.cli.history import add_history_commands
from webrag_core.cli.lifecycle import add_lifecycle_commands
from webrag_core.cli.log import LogFormat, set_log_format, set_up_log
from webrag_core.cli.mcp import add_mcp_command
from webrag_core.cli.models import model_app
from webrag_core.cli.output import Json, out, print_json
from webrag_core.cli.panels import Panels
from webrag_core.cli.progress import ProgressStyle, set_style
from webrag_core.cli.search import add_search_command
from webrag_core.cli.serve import add_serve_command
from webrag_core.cli.sources import source_app
from webrag_core.cli.tokens import token_app
from webrag_core.cli.watches import watch_app
from webrag_core.config import load_settings
from webrag_core.corpus_home import ENV_FILE
from webrag_core.errors import WebragError
from webrag_core.origin import asked_by
from webrag_core.showing.visible_output import filter_terminals
from webrag_core.trace import traced

app = typer.Typer(
    name="webrag",
    cls=Panels,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Ask websites questions; get verbatim, citable evidence and the reason why the search stopped.",
    epilog="[dim]webrag COMMAND --help explains a command. Exit codes: 0 done, 1 failed, 2 wrong usage.[/dim]",
)
database_app = typer.Typer(no_args_is_help=True, help="The database behind the corpus: its address, its schema.")
app.add_typer(database_app, name="db")
app.add_typer(model_app, name="model")
app.add_typer(source_app, name="source")
app.add_typer(watch_app, name="watch")
app.add_typer(token_app, name="tokens")
app.add_typer(graph_app, name="graph")
app.add_typer(feedback_app, name="feedback")
add_corpus_commands(app)
add_lifecycle_commands(app)
add_backup_commands(app)
add_search_command(app)
add_history_commands(app)
add_mcp_command(app)
add_serve_command(app)
app.command()(ask)
app.command()(plan)
app.command()(answer)


def _print_version(requested: bool) -> None:
    if requested:
        sys.stdout.write(f"webrag {version('webrag')}\n")
        raise typer.Exit


_SERVERS = ("mcp", "serve", "up", "ui")
"""What they do has the traces of those who call them."""


@app.callback()
def options(
    context: typer.Context,
    env_file: Annotated[
        Path | None,
        typer.Option(help="File of settings beside the environment, which wins; unset = WEBRAG_ENV_FILE."),
    ] = None,
    progress: Annotated[
        ProgressStyle,
        typer.Option(help="What long work shows on stderr: a live line on a terminal, plain lines elsewhere (auto)."),
    ] = "auto",
    log: Annotated[
        LogFormat, typer.Option(help="Form of the log on stderr: lines for people, or an object with trace id a line.")
    ] = "text",
    here: Annotated[
        bool, typer.Option("--here", help="Run the command in this process, though `webrag serve` could run it.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of `webrag` itself."""
    set_style(progress)
    set_log_format(log)
    if env_file is not None:
        os.environ[ENV_FILE] = str(env_file.absolute())
    if context.invoked_subcommand not in _SERVERS:
        context.with_resource(traced(os.environ.get("TRACEPARENT")))
        context.with_resource(asked_by("cli"))


@database_app.command("url")
def database_url(as_json: Json = False) -> None:
    """Print the address of the database, for psql and similar tools. Starts the embedded one."""
    from webrag_core.store.embedded import embedded_url
    from webrag_core.store.server_resources import ServerResources

    settings = load_settings()
    url = settings.database_url or embedded_url(settings.webrag_home, ServerResources.chosen(settings))
    if as_json:
        print_json({"url": url})
    else:
        sys.stdout.write(url + "\n")


@database_app.command("migrate")
def database_migrate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be applied, change nothing.")] = False,
    backup: Annotated[bool, typer.Option(help="Before a change, write what is there to a file in the home.")] = True,
    as_json: Json = False,
) -> None:
    """Bring the schema up to date after a backup (every command does that too, without one)."""
    from webrag_core.cli.backup import migrate_after_backup
    from webrag_core.store.migrate import migrations

    waiting, saved = asyncio.run(migrate_after_backup(load_settings(), keep=backup, dry_run=dry_run))
    names = [migration.name for migration in migrations()]
    if as_json:
        print_json({"migrations": names, "pending" if dry_run else "applied": waiting, "backup": saved})
        return
    for name in waiting:
        out.print(f"{'to be applied' if dry_run else 'applied'}: {name}")
    if saved is not None:
        out.print(f"what was there before: {saved}", markup=False, highlight=False)
    if not dry_run or not waiting:
        out.print(f"up to date: {names[-1]}")


@cache
def register_plugins() -> None:
    """Let the packages above the core add their commands."""
    for plugin in sorted(entry_points(group="webrag.commands"), key=lambda entry: entry.name):
        plugin.load()(app)


def choose_commands(arguments: Sequence[str]) -> None:
    """Keep the command of the core that is called, alone, and else add those of the packages above: to find these and
    to read the options of all of them takes longer than most commands think."""
    called: list[CommandInfo] = []
    if isinstance(app, typer.Typer) and arguments and arguments[0] not in _SERVERS:
        called = [info for info in app.registered_commands if info.callback and _name(info) == arguments[0]]
    if called:
        app.registered_commands[:] = called
        app.registered_groups.clear()
    else:
        register_plugins()


def _name(info: CommandInfo) -> str:
    return info.name or str(getattr(info.callback, "__name__", ""))


def main() -> None:
    """Run the command line with its log; what is written to a terminal is filtered."""
    filter_terminals()
    set_up_log()
    addresses.begin()
    choose_commands(sys.argv[1:])
    try:
        app()
    except WebragError as error:
        sys.exit(report_error(error, as_json="--json" in sys.argv))
