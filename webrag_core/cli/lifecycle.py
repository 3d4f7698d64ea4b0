"""`webrag forget|prune`: delete data from the corpus, on request or by age."""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.output import Json, print_json, print_line, print_table
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from webrag_core.corpus.forget import Removal
    from webrag_core.store.database import Database

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
    from webrag_core.feedback.removal import remove
    from webrag_core.store.database import Database

    async def work(*, really: bool) -> Removal:
        settings = load_settings()
        async with await Database.open(settings) as database:
            by = f"{getpass.getuser()}: webrag forget"
            meant = await _meant(database, target)
            return await remove(database, settings, meant, removed_by=by, dry_run=not really)

    if not yes and not dry_run:
        confirm_removal(lambda: asyncio.run(work(really=False)), as_json=as_json)
    removal = asyncio.run(work(really=not dry_run))
    if as_json:
        print_json(removal)
    else:
        _show(removal)


async def _meant(database: Database, target: str) -> str:
    """`target`, or the page that it means where it has no scheme and is no source."""
    from webrag_core.corpus.sources import find_source

    if "://" in target or "/" not in target:
        return target
    async with database.connection() as connection:
        try:
            return (await find_source(connection, target)).key
        except InvalidInputError:
            return with_scheme(target)


def prune(dry_run: DryRun = False, as_json: Json = False) -> None:
    """Delete what the retention settings no longer keep."""
    from webrag_core.corpus.retention import prune as delete_old
    from webrag_core.store.database import Database

    async def work() -> dict[str, int]:
        settings = load_settings()
        async with await Database.open(settings) as database:
            return await delete_old(database, settings, dry_run=dry_run)

    deleted = asyncio.run(work())
    if as_json:
        print_json({"dry_run": dry_run, "deleted": deleted})
    else:
        print_table(("category", "would be deleted" if dry_run else "deleted"), list(deleted.items()))


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
