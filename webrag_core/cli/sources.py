"""`webrag source …`: attach, list, pause, resume and remove site sections."""

from __future__ import annotations

import asyncio
import getpass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webrag_core.cli.addresses import way_out, with_scheme
from webrag_core.cli.lifecycle import confirm_removal
from webrag_core.cli.output import Json, complain, print_json, print_line, print_table
from webrag_core.config import Settings, load_settings
from webrag_core.errors import FetchError, InvalidInputError, Reason

if TYPE_CHECKING:
    from webrag_core.corpus.forget import Removal
    from webrag_core.corpus.sources import Source

source_app = typer.Typer(no_args_is_help=True, help="Site sections that are kept: add, list, pause, resume, remove.")

Acquirers = Literal["http", "firecrawl", "browser"]
Name = Annotated[str, typer.Argument(help="Host or host/section; a host means all of its sources.")]


@source_app.command()
def add(
    url: Annotated[str, typer.Argument(help="Start page. Its section: its folder, or the only name in its path.")],
    pages: Annotated[int, typer.Option(min=0, help="Page limit.")] = 500,
    prefix: Annotated[str | None, typer.Option(help="Path prefix of the section instead, such as /docs/.")] = None,
    acquirer: Annotated[
        Acquirers | None,
        typer.Option(help="Who fetches: http, firecrawl, or browser, which renders; default: as the settings say."),
    ] = None,
    all_text: Annotated[
        bool, typer.Option("--all-text", help="Keep everything that its pages show, navigation and footers included.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Attach a site section. `webrag refresh` then fetches its pages and keeps them fresh.

    A host may have several sections; a page belongs to the one with the longest prefix. A source that a YAML file of
    the platform declares is changed there.
    """
    from webrag_core.corpus.sources import attach_source, find_source
    from webrag_core.store.database import Database

    async def work() -> None:
        settings = load_settings()
        start = with_scheme(url)
        await _check_address(start, settings)
        async with await Database.open(settings) as database, database.connection() as connection:
            key = await attach_source(connection, start, pages, prefix=prefix, acquirer=acquirer, all_text=all_text)
            source = await find_source(connection, key)
        if as_json:
            settings_of_it = {"seed_url": source.seed_url, "acquirer": source.acquirer, "all_text": source.all_text}
            print_json({"source": source.key, "pages": pages, **settings_of_it})
        else:
            print_line(
                f"attached {source.key}: pages below {source.place}, from {source.start_url};"
                f" `webrag refresh {source.key}` fetches them",
            )

    asyncio.run(work())


@source_app.command("list")
def list_all(as_json: Json = False) -> None:
    """All sources: attached ones, and hosts of pages that answer runs and `ingest` stored."""
    from webrag_core.corpus.sources import list_sources
    from webrag_core.store.database import Database

    async def work() -> None:
        async with await Database.open(load_settings()) as database, database.connection() as connection:
            sources = await list_sources(connection)
        if as_json:
            print_json({"sources": [_as_json(source) for source in sources]})
            return
        print_table(
            ("source", "attached at", "page limit", "state", "map entries", "hours between refreshes", "declared in"),
            [
                [
                    "–" if value is None else value
                    for value in (
                        s.key,
                        s.seed_url,
                        s.page_limit,
                        "paused" if s.paused else "active",
                        s.map_entries,
                        s.refresh_hours,
                        s.declared_in,
                    )
                ]
                for s in sources
            ],
        )

    asyncio.run(work())


@source_app.command()
def pause(name: Name, as_json: Json = False) -> None:
    """Pause a source: schedules and `webrag refresh` without arguments skip it."""
    _set_paused(name, paused=True, as_json=as_json)


@source_app.command()
def resume(name: Name, as_json: Json = False) -> None:
    """Resume a paused source."""
    _set_paused(name, paused=False, as_json=as_json)


@source_app.command()
def remove(
    key: Annotated[str, typer.Argument(help="Key of the source, as `webrag source list` shows it.")],
    forget: Annotated[bool, typer.Option("--forget", help="Remove its pages too, for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --forget: do not ask for confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Detach a source. Its pages stay searchable, with the source around its section, unless --forget."""
    from webrag_core.corpus.sources import detach_source, source_name
    from webrag_core.feedback.removal import remove as remove_pages
    from webrag_core.store.database import Database

    name = source_name(key)

    async def forget_pages(*, really: bool) -> Removal:
        by = f"{getpass.getuser()}: webrag source remove"
        settings = load_settings()
        async with await Database.open(settings) as database:
            return await remove_pages(database, settings, name, removed_by=by, dry_run=not really)

    async def detach() -> None:
        async with await Database.open(load_settings()) as database, database.connection() as connection:
            await detach_source(connection, name)

    removed = {}
    if not forget:
        asyncio.run(detach())
    else:
        if not yes:
            confirm_removal(lambda: asyncio.run(forget_pages(really=False)), as_json=as_json)
        removed = asyncio.run(forget_pages(really=True)).counts
    if as_json:
        print_json({"source": name, "state": "removed", "removed": removed})
    else:
        pages = f"{removed.get('documents', 0)} pages are removed" if forget else "its pages stay stored"
        print_line(f"{name} is detached; {pages}")


def _set_paused(name: str, *, paused: bool, as_json: bool) -> None:
    from webrag_core.corpus.sources import pause_sources
    from webrag_core.store.database import Database

    async def work() -> None:
        async with await Database.open(load_settings()) as database, database.connection() as connection:
            keys = await pause_sources(connection, name, paused=paused)
        state = "paused" if paused else "active"
        if as_json:
            print_json({"sources": keys, "state": state})
        else:
            for key in keys:
                print_line(f"{key} is {state}")

    asyncio.run(work())


async def _check_address(url: str, settings: Settings) -> None:
    """Refuse an address that the network gate blocks. Only warn of a host that does not resolve now.

    Raises FetchError(INVALID_URL), InvalidInputError.
    """
    from webrag_core.acquisition.gate import NetworkGate
    from webrag_core.acquisition.urls import source_key

    if settings.webrag_warc is not None:
        return  # pages come from a file
    try:
        await NetworkGate(settings).admit(url)
    except FetchError as error:
        if error.reason is Reason.BLOCKED_ADDRESS:
            raise InvalidInputError(error.message + way_out(error.code)) from None
        if error.reason is Reason.INVALID_URL:
            raise
        complain(f"{source_key(url)}: {error.message}")


def _as_json(source: Source) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(source)
