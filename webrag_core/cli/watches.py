"""`webrag watch …`: be told of what changes on a page, in a section, or in the answer to a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.database import on_corpus, on_database
from webrag_core.cli.output import Json, complain, print_json, print_line, print_table
from webrag_core.errors import InvalidInputError
from webrag_core.readable import counted

if TYPE_CHECKING:
    from webrag_core.store.database import Database
    from webrag_core.watches.rounds import WatchRound

watch_app = typer.Typer(
    no_args_is_help=True, help="Pages, sections and questions whose changes are told: add, list, remove, check."
)


_FIRST_TEXT = (
    "no text of this page is stored yet: the first one that is stored is what later ones are compared with"
    " (`webrag ingest URL` stores it)"
)
_FIRST_ANSWER = "`webrag watch check` puts the question for the first time; later answers are compared with that one"


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

    if page is not None and len(page.split()) > 1:
        raise InvalidInputError(f"{page!r} is no address; a question goes behind --question")

    wanted = AddWatch.of(
        page=None if page is None else with_scheme(page),
        section=tuple(section or ()),
        question=question,
        sources=tuple(source or ()),
        answer=answer,
        pace="daily" if daily else "at_once",
    )
    watch = on_database(wanted.add)
    if as_json:
        print_json(watch.model_dump(mode="json"))
    else:
        print_line(f"watch {watch.watch_id}: {watch.subject}")
        if watch.state == "waiting":
            print_line(_FIRST_ANSWER if watch.url is None else _FIRST_TEXT)


@watch_app.command("list")
def list_all(as_json: Json = False) -> None:
    """All watches, with the last look and the last message of each."""
    from webrag_core.application.watching import WatchList
    from webrag_core.watches.store import list_watches

    async def work(database: Database) -> WatchList:
        async with database.connection() as connection:
            watches = await list_watches(connection)
        return WatchList(watches=watches, total=len(watches))

    listed = on_database(work)
    if as_json:
        print_json(listed.model_dump(mode="json"))
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
                    watch.state,
                    None if watch.looked_at is None else f"{watch.looked_at:%Y-%m-%d %H:%M}",
                    None if watch.sent_at is None else f"{watch.sent_at:%Y-%m-%d %H:%M}",
                    watch.declared_in,
                )
            ]
            for watch in listed.watches
        ],
    )


@watch_app.command()
def remove(
    number: Annotated[int, typer.Argument(help="Number of the watch, as `webrag watch list` shows it.")],
    as_json: Json = False,
) -> None:
    """Watch something no longer."""
    from webrag_core.application.watching import RemoveWatch

    watch = on_database(RemoveWatch.of(number=number).remove)
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
    from webrag_core.application.watching import CheckWatches
    from webrag_core.watches.messages import headline, lines_of

    round_of_all = on_corpus(CheckWatches.of(dry_run=dry_run).run)
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
        print_line(_quiet(round_of_all))


def _quiet(made: WatchRound) -> str:
    """A round without news, in one line."""
    if not made.watches:
        return "nothing is watched: `webrag watch add` adds a page, a section or a question"
    if not made.compared:
        return f"no news: no page of {counted(made.watches, 'watch', 'watches')} has a new text since the last look"
    return f"no news: {made.compared} of {counted(made.watches, 'watch', 'watches')} compared with new texts"
