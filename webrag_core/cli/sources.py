"""`webrag source …`: site sections that are kept whole and fresh."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from webrag_core.cli.output import Json, out, print_json, print_table
from webrag_core.config import load_settings

source_app = typer.Typer(no_args_is_help=True, help="Sources: attach a site section, list, pause.")

Key = Annotated[str, typer.Argument(help="Host of the source, as `webrag source list` shows it.")]


@source_app.command()
def add(
    url: Annotated[str, typer.Argument(help="Where the section begins; what lies below its folder belongs to it.")],
    pages: Annotated[int, typer.Option(min=0, help="Pages that it may hold.")] = 500,
    as_json: Json = False,
) -> None:
    """Attach a site section. `webrag refresh` then takes in its pages and keeps them fresh.

    A source that a YAML file of the platform declares is changed there.
    """
    from webrag_core.corpus.sources import attach_source
    from webrag_core.store.database import Database

    async def work() -> None:
        async with await Database.open(load_settings()) as database, database.connection() as connection:
            key = await attach_source(connection, url, pages)
        if as_json:
            print_json({"source": key, "pages": pages})
        else:
            out.print(f"attached {key}; `webrag refresh {key}` takes in its pages", markup=False, highlight=False)

    asyncio.run(work())


@source_app.command("list")
def list_all(as_json: Json = False) -> None:
    """All sources: attached ones, and those that answer runs and `ingest` brought."""
    from webrag_core.corpus.sources import list_sources
    from webrag_core.store.database import Database

    async def work() -> None:
        async with await Database.open(load_settings()) as database, database.connection() as connection:
            found = await list_sources(connection)
        if as_json:
            print_json({"sources": [asdict(source) for source in found]})
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
                for s in found
            ],
        )

    asyncio.run(work())


@source_app.command()
def pause(
    key: Key,
    resume: Annotated[bool, typer.Option("--resume", help="Take it in again.")] = False,
    as_json: Json = False,
) -> None:
    """Leave a source out of refreshes that name none."""
    from webrag_core.corpus.sources import pause_source
    from webrag_core.store.database import Database

    async def work() -> None:
        async with await Database.open(load_settings()) as database, database.connection() as connection:
            await pause_source(connection, key, paused=not resume)
        state = "active" if resume else "paused"
        if as_json:
            print_json({"source": key, "state": state})
        else:
            out.print(f"{key} is {state}", markup=False, highlight=False)

    asyncio.run(work())
