"""`webrag source …`: attach, list, pause, resume and remove site sections."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.database import changed, on_database
from webrag_core.cli.lifecycle import confirm_removal
from webrag_core.cli.output import Json, complain, print_json, print_line, print_table

if TYPE_CHECKING:
    from webrag_core.corpus.sources import Source
    from webrag_core.store.database import Database

source_app = typer.Typer(no_args_is_help=True, help="Site sections that are kept: add, list, pause, resume, remove.")

Acquirers = Literal["http", "firecrawl", "browser"]
SourceName = Annotated[str, typer.Argument(help="Host or host/section; a host means all of its sources.")]


@source_app.command()
def add(
    url: Annotated[str, typer.Argument(help="Start page. Its section: its folder, or the only name in its path.")],
    pages: Annotated[int, typer.Option(help="Page limit.")] = 500,
    prefix: Annotated[str | None, typer.Option(help="Path prefix of the section instead, such as /docs/.")] = None,
    acquirer: Annotated[
        Acquirers | None,
        typer.Option(help="Who fetches: http, firecrawl, or browser, which renders; default: as the settings say."),
    ] = None,
    all_text: Annotated[
        bool, typer.Option("--all-text", help="Keep everything that its pages show, navigation and footers included.")
    ] = False,
    refresh_hours: Annotated[
        float | None, typer.Option("--hours", help="Hours between refreshes; default: as the settings say.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What people call it; default: the title of its start page.")] = None,
    owner: Annotated[
        list[str] | None, typer.Option(help="Whom alerts name: an e-mail address, or team:name (repeatable).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Attach a site section. `webrag refresh` fetches its pages; `webrag up` refreshes those that are due.

    A host may have several sections; a page belongs to the one with the longest prefix. A source that a YAML file of
    the platform declares is changed there.
    """
    from webrag_core.application.upkeep import AddSource

    start = with_scheme(url)
    wanted = AddSource.of(
        url=start,
        pages=pages,
        prefix=prefix,
        acquirer=acquirer,
        all_text=all_text,
        refresh_hours=refresh_hours,
        name=name,
        owners=owner or None,
    )
    source = changed(wanted.change)
    for warning in source.warnings:
        complain(warning)
    if as_json:
        print_json(source.model_dump(exclude={"place", "warnings"}))
    else:
        print_line(
            f"attached {source.source}: pages below {source.place}, from {source.seed_url};"
            f" `webrag refresh {source.source}` fetches them",
        )


@source_app.command("list")
def list_all(as_json: Json = False) -> None:
    """All sources: attached ones, and hosts of pages that answer runs and `ingest` stored."""
    from webrag_core.corpus.sources import list_sources

    async def listed(database: Database) -> list[Source]:
        async with database.connection() as connection:
            return await list_sources(connection)

    sources = on_database(listed)
    if as_json:
        print_json({"sources": [asdict(source) for source in sources]})
        return
    print_table(
        (
            "source",
            "name",
            "attached at",
            "page limit",
            "state",
            "map entries",
            "hours between refreshes",
            "declared in",
        ),
        [
            [
                "–" if value is None else value
                for value in (
                    s.key,
                    s.name,
                    s.seed_url,
                    s.page_limit,
                    "paused" if s.paused else "active" if s.attached else "not attached",
                    s.map_entries,
                    s.refresh_hours,
                    s.declared_in,
                )
            ]
            for s in sources
        ],
    )


@source_app.command()
def pause(source: SourceName, as_json: Json = False) -> None:
    """Pause a source: schedules and `webrag refresh` without arguments skip it."""
    _set_paused(source, paused=True, as_json=as_json)


@source_app.command()
def resume(source: SourceName, as_json: Json = False) -> None:
    """Resume a paused source."""
    _set_paused(source, paused=False, as_json=as_json)


@source_app.command()
def remove(
    source: Annotated[str, typer.Argument(help="Key of the source, as `webrag source list` shows it.")],
    forget: Annotated[bool, typer.Option("--forget", help="Remove its pages too, for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --forget: do not ask for confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Detach a source. Its pages stay searchable, with the source around its section, unless --forget."""
    from webrag_core.application.upkeep import RemoveSource

    wanted = RemoveSource.of(source=source, forget=forget, by=f"{getpass.getuser()}: webrag source remove")
    if forget and not yes:
        confirm_removal(lambda: changed(wanted.removal(dry_run=True).change), as_json=as_json)
    removed = changed(wanted.change)
    if as_json:
        print_json(removed)
    else:
        pages = f"{removed.removed.get('documents', 0)} pages are removed" if forget else "its pages stay stored"
        print_line(f"{removed.source} is detached; {pages}")


def _set_paused(source: str, *, paused: bool, as_json: bool) -> None:
    from webrag_core.application.upkeep import PauseSources

    result = changed(PauseSources.of(source=source, paused=paused).change)
    if as_json:
        print_json(result)
    else:
        for key in result.sources:
            print_line(f"{key} is {result.state}")
