"""`webrag watch …`: be told of what changes on a page, in a section, or in the answer to a question."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.output import Json, complain, print_json, print_line, print_table
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from webrag_core.watches.models import Watch

watch_app = typer.Typer(
    no_args_is_help=True, help="Pages, sections and questions whose changes are told: add, list, remove, check."
)


@watch_app.command()
def add(
    page: Annotated[str | None, typer.Argument(help="Address of a page.")] = None,
    section: Annotated[
        list[str] | None, typer.Option(help="Only this section of it: its heading; repeat for a path of headings.")
    ] = None,
    question: Annotated[str | None, typer.Option(help="Instead of a page: a question to the stored pages.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only this stored source is asked; repeat for more.")] = None,
    answer: Annotated[int | None, typer.Option(help="Instead: the question of this stored answer.")] = None,
    daily: Annotated[bool, typer.Option("--daily", help="At most one message in 24 hours, with all news.")] = False,
    as_json: Json = False,
) -> None:
    """Watch something. What is stored of it now is what later texts and answers are compared with."""
    from webrag_core.application.watching import AddWatch
    from webrag_core.store.database import Database

    if page is not None and len(page.split()) > 1:
        raise InvalidInputError(f"{page!r} is no address; a question goes behind --question")

    async def work() -> Watch:
        wanted = AddWatch.of(
            page=None if page is None else with_scheme(page),
            section=tuple(section or ()),
            question=question,
            sources=tuple(source or ()),
            answer=answer,
            pace="daily" if daily else "at_once",
        )
        async with await Database.open(load_settings()) as database:
            return await wanted.add(database)

    watch = asyncio.run(work())
    if as_json:
        print_json(watch.model_dump(mode="json"))
    else:
        print_line(f"watch {watch.watch_id}: {watch.subject}")


@watch_app.command("list")
def list_all(as_json: Json = False) -> None:
    """All watches, with the last look and the last message of each."""
    from webrag_core.store.database import Database
    from webrag_core.watches.store import list_watches

    async def work() -> list[Watch]:
        async with await Database.open(load_settings()) as database, database.connection() as connection:
            return await list_watches(connection)

    watches = asyncio.run(work())
    if as_json:
        print_json({"watches": [watch.model_dump(mode="json") for watch in watches]})
        return
    print_table(
        ("watch", "of", "told", "state", "last look", "last message", "declared in"),
        [
            [
                "–" if value is None else value
                for value in (
                    watch.watch_id,
                    watch.subject,
                    watch.pace.replace("_", " "),
                    "missing" if watch.gone else None,
                    None if watch.looked_at is None else f"{watch.looked_at:%Y-%m-%d %H:%M}",
                    None if watch.sent_at is None else f"{watch.sent_at:%Y-%m-%d %H:%M}",
                    watch.declared_in,
                )
            ]
            for watch in watches
        ],
    )


@watch_app.command()
def remove(
    number: Annotated[int, typer.Argument(help="Number of the watch, as `webrag watch list` shows it.")],
    as_json: Json = False,
) -> None:
    """Watch something no longer."""
    from webrag_core.application.watching import RemoveWatch
    from webrag_core.store.database import Database

    async def work() -> Watch:
        wanted = RemoveWatch.of(number=number)
        async with await Database.open(load_settings()) as database:
            return await wanted.remove(database)

    watch = asyncio.run(work())
    if as_json:
        print_json({"watch": watch.watch_id, "state": "removed"})
    else:
        print_line(f"watch {watch.watch_id} is removed: {watch.subject}")


@watch_app.command()
def check(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the news, send nothing, and tell of it again later.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare what is watched with what is stored now; print what is new, and send it to where alerts go.

    The platform does that by itself after each refresh. Questions are put to the stored pages again.
    """
    from webrag_core.application.services import Services
    from webrag_core.application.watching import CheckWatches
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.watches.messages import headline, lines_of
    from webrag_core.watches.rounds import WatchRound

    async def work() -> WatchRound:
        async with Corpus.open(load_settings()) as corpus:
            return await CheckWatches.of(dry_run=dry_run).run(Services.over(corpus))

    round_of_all = asyncio.run(work())
    for problem in round_of_all.problems:
        complain(problem)
    if as_json:
        print_json(round_of_all.model_dump(mode="json"))
        return
    for news in round_of_all.news:
        print_line(headline(news))
        for line in lines_of(news):
            print_line(f"  {line}")
    if not round_of_all.news:
        print_line(f"no news; {round_of_all.compared} watches were compared")
