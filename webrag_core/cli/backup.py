"""`webrag backup|restore`, and what `webrag db migrate` does before it changes anything."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.output import Json, complain, print_json, print_line
from webrag_core.config import load_settings
from webrag_core.readable import counted

if TYPE_CHECKING:
    from webrag_core.backup.dump import BackupReport
    from webrag_core.backup.load import RestoreReport
    from webrag_core.config import Settings

_FOLDER = "backups"


def add_backup_commands(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (backup, restore):
        app.command()(command)


def backup(
    file: Annotated[Path, typer.Argument(help="File to write, which must not be there; zip by its kind.")],
    with_dagster: Annotated[
        bool, typer.Option("--with-dagster", help="Dagster's history too: runs, events, logs, schedules' states.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the whole corpus to one file, as it is at one moment. Everything else works meanwhile.

    It holds all pages, answers, vectors and the settings without secrets.
    """
    from webrag_core.backup.dump import back_up
    from webrag_core.store.database import Database

    async def work() -> BackupReport:
        settings = load_settings()
        async with await Database.open(settings) as database:
            return await back_up(database, settings, file, with_dagster=with_dagster)

    report = asyncio.run(work())
    if as_json:
        print_json(asdict(report))
    else:
        history = f", {counted(report.dagster_files, 'file')} of Dagster's history" if with_dagster else ""
        print_line(f"{report.rows:,} rows of {report.tables} tables{history}, {report.bytes:,} bytes: {report.file}")


def restore(
    file: Annotated[Path, typer.Argument(help="File that `webrag backup` wrote.")],
    removals: Annotated[
        Path | None,
        typer.Option(
            help="`removals-….json` of the home that the backup was made of: what it lists is removed again. One beside"
            " the file, or in the home, is used anyway.",
            show_default=False,
        ),
    ] = None,
    with_dagster: Annotated[
        bool, typer.Option("--with-dagster", help="Dagster's history too, where the backup has it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Restore a backup into an empty home (WEBRAG_HOME), and verify it. Exits with 1 when it is not whole.

    Links to answers are left out, and what was removed on request since goes again.
    """
    from webrag_core.backup.load import restore as restore_backup

    report: RestoreReport = asyncio.run(restore_backup(load_settings(), file, removals, with_dagster=with_dagster))
    if as_json:
        print_json({**asdict(report), "removed": [removal.model_dump(mode="json") for removal in report.removed]})
    else:
        print_line(
            f"{report.rows:,} rows of {report.tables} tables: {report.documents:,} pages, {report.versions:,} texts,"
            f" verified with {len(report.violations)} violations"
        )
        for violation in report.violations:
            complain(f"{violation.rule}: {violation.where}: {violation.found}", style="red")
        for removal in report.removed:
            print_line(f"Removed again, as after the backup was made: {removal.kind} {removal.target}")
        if report.links:
            print_line(f"Left out: {counted(report.links, 'link')} to answers; share them again")
        for warning in report.warnings:
            complain(f"Warning: {warning}")
        if with_dagster:
            print_line(f"{counted(report.dagster_files, 'file')} of Dagster's history")
        if report.settings:
            print_line("The backup was made with other settings: " + ", ".join(report.settings))
    if report.violations:
        raise typer.Exit(1)


async def migrate_after_backup(settings: Settings, *, keep: bool, dry_run: bool) -> tuple[list[str], Path | None]:
    """Apply what is missing, after a backup of what is there; with `dry_run` change nothing. Returns the names of the
    migrations that were missing, and the file of the backup, None where none was made: there was nothing to apply or to
    keep. Raises StoreError as `Database.open`.
    """
    from webrag_core.backup.dump import back_up
    from webrag_core.store.database import Database
    from webrag_core.store.migrate import pending

    database = await Database.reach(settings)
    async with database.long_job() as connection:
        waiting = [migration.name for migration in await pending(connection)]
        cursor = await connection.execute("SELECT to_regclass('documents') IS NOT NULL")
        is_filled = await cursor.fetchone() == (True,)
    saved = None
    if waiting and is_filled and keep and not dry_run:
        saved = _before(settings.webrag_home, waiting[0])
        await back_up(database, settings, saved)
    if not dry_run:
        async with await Database.open(settings):
            pass
    return waiting, saved


def _before(home: Path, migration: str) -> Path:
    folder = home / _FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    moment = datetime.now(UTC)  # to the millisecond: a command that was killed may have made one in this second
    return folder / f"before-{Path(migration).stem}-{moment:%Y%m%d-%H%M%S}-{moment.microsecond // 1000:03}.zip"
