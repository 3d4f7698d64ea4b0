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
from webrag_core.readable import counted

if TYPE_CHECKING:
    from webrag_core.corpus.forget import Removal
    from webrag_core.feedback.scrub import ScrubReport

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the counts, remove nothing.")]


def add_lifecycle_commands(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (forget, prune):
        app.command()(command)


def forget(
    target: Annotated[
        str | None, typer.Argument(help="URL of a page, key of a source, or number of an answer.", show_default=False)
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    dry_run: DryRun = False,
    to_scrub: Annotated[
        bool,
        typer.Option(
            "--scrub", help="Take it off the disk too, and out of Dagster's records; alone: what was removed before."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove a page, a source or an answer, with all made of it.

    A removed page is not stored again until `webrag ingest URL` asks for it. Backups that were made before keep it; a
    restore leaves it out where the list `removals-….json` of this corpus is at hand (`webrag restore --removals`).
    """
    from webrag_core.application.upkeep import Forget, Scrub

    by = f"{getpass.getuser()}: webrag forget"
    if target is None and (dry_run or not to_scrub):
        raise InvalidInputError("name what to remove: the URL of a page, the key of a source, the number of an answer")
    if target is not None and not yes and not dry_run:
        trial = Forget.of(target=target, by=by, dry_run=True)
        confirm_removal(lambda: changed(trial.change), as_json=as_json)
    if to_scrub and not dry_run:
        _show_scrub(changed(Scrub.of(target=target, by=by).change), as_json=as_json)
        return
    removal = changed(Forget.of(target=target, by=by, dry_run=dry_run).change)
    if as_json:
        print_json(removal)
    else:
        _show(removal)


def _show_scrub(report: ScrubReport, *, as_json: bool) -> None:
    """Print what was reached and what was not."""
    if as_json:
        print_json(report)
        return
    if report.removal is not None:
        _show(report.removal)
    print_line(
        f"Taken off the disk: all {report.tables} tables and the log of the database are written anew,"
        f" {counted(report.terms, 'word')} that no page uses any more deleted from the vocabulary of the search"
    )
    for name, number in report.records.items():
        if number:
            print_line(f"Deleted from Dagster's records: {number} {name.replace('_', ' ')}")
    for holder in report.not_reached:
        print_line(f"Not reached: {holder}")


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
