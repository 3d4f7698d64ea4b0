"""`webrag forget|prune`: delete data from the corpus, on request or by age."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.database import changed
from webrag_core.cli.output import Json, print_json, print_line, print_table
from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from webrag_core.corpus.forget import Removal

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the counts, remove nothing.")]


def add_lifecycle_commands(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (forget, prune):
        app.command()(command)


def forget(
    target: Annotated[str, typer.Argument(help="URL of a page, key of a source, or number of an answer.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Remove a page, a source or an answer, with all made of it.

    A removed page is not stored again until `webrag ingest URL` asks for it.
    """
    from webrag_core.application.upkeep import Forget

    wanted = Forget.of(target=target, by=f"{getpass.getuser()}: webrag forget", dry_run=dry_run)
    if not yes and not dry_run:
        confirm_removal(lambda: changed(wanted.model_copy(update={"dry_run": True}).change), as_json=as_json)
    removal = changed(wanted.change)
    if as_json:
        print_json(removal)
    else:
        _show(removal)


def prune(dry_run: DryRun = False, as_json: Json = False) -> None:
    """Delete what the retention settings no longer keep."""
    from webrag_core.application.upkeep import Prune

    pruned = changed(Prune.of(dry_run=dry_run).change)
    if as_json:
        print_json(pruned)
    else:
        print_table(("category", "would be deleted" if dry_run else "deleted"), list(pruned.deleted.items()))


def confirm_removal(count: Callable[[], Removal], *, as_json: bool) -> None:
    """Show what would be removed, and ask. Raises InvalidInputError where nobody can be asked."""
    if as_json or not sys.stdin.isatty():
        raise InvalidInputError(
            "confirm the removal with --yes, or see what it would remove with `webrag forget … --dry-run`"
        )
    _show(count())
    typer.confirm("Remove this for good?", abort=True)


def _show(removal: Removal) -> None:
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in removal.counts.items())
    done = "would be removed" if removal.dry_run else "removed"
    print_line(f"{removal.kind} {removal.target}: {counts} {done}")
