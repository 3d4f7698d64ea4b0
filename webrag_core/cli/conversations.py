"""`webrag answers conversations|conversation`: answers whose questions follow each other, listed and opened again."""

from __future__ import annotations

from typing import Annotated

import typer

from webrag_core.cli.database import on_database
from webrag_core.cli.output import Json, print_json, print_line, print_table
from webrag_core.page_text import one_line


def conversations(
    limit: Annotated[int, typer.Option(help="Maximum rows, the latest first.")] = 50,
    before: Annotated[int | None, typer.Option(help="Only those whose latest answer has a lower number.")] = None,
    as_json: Json = False,
) -> None:
    """List conversations of more than one question. `webrag ask … --follows ID` goes on from an answer."""
    from webrag_core.application.reading import ListConversations

    listed = on_database(ListConversations.of(limit=limit, before=before).read)
    if as_json:
        print_json(listed)
        return
    print_table(
        ("answer", "questions", "latest", "began with", "latest question"),
        [
            (
                row.latest_answer,
                row.turns,
                f"{row.latest_at:%Y-%m-%d %H:%M}",
                one_line(row.question),
                one_line(row.latest_question),
            )
            for row in listed.conversations
        ],
    )


def conversation(
    number: Annotated[int, typer.Argument(metavar="ID", help="Number of any answer of the conversation.")],
    as_json: Json = False,
) -> None:
    """Open the conversation that an answer is of."""
    from webrag_core.application.reading import OpenConversation

    opened = on_database(OpenConversation.of(number=number).read)
    if as_json:
        print_json(opened)
        return
    for turn in opened.turns:
        after = "" if turn.follows is None else f" (after {turn.follows})"
        question = one_line(turn.wording or turn.query)
        print_line(f"{turn.answer_id:>4}  {turn.percent():>4}  {question}{after}", style="bold")
        if turn.wording is not None:
            print_line(f"            read as: {one_line(turn.query)}", style="dim")
    print_line(f"webrag answers show {opened.turns[-1].answer_id} opens the latest", style="dim")
