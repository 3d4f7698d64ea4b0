"""`webrag feedback`: say what is right or wrong about an answer, and decide about it."""

from __future__ import annotations

import asyncio
import getpass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from webrag_core.cli.database import on_database
from webrag_core.cli.gaps import golden_gap
from webrag_core.cli.output import Json, out, print_json, print_line, print_table
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_core.readable import counted

if TYPE_CHECKING:
    from webrag_core.feedback.models import Feedback

_RECORD = "record"


class _AnswersOrCommands(TyperGroup):
    """`webrag feedback 12 …` is `webrag feedback record 12 …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # the type of `ctx` is typer's own
        """A first word that is a number is that of an answer."""
        numbered = bool(args) and args[0].isdecimal()
        parsed: list[str] = super().parse_args(ctx, [_RECORD, *args] if numbered else args)
        return parsed


feedback_app = typer.Typer(
    cls=_AnswersOrCommands,
    no_args_is_help=True,
    help="Judge an answer (webrag feedback ANSWER --kind …).",
)
Ids = Annotated[list[int], typer.Argument(metavar="ID...", help="Numbers as `webrag feedback list` shows them.")]


@feedback_app.command(_RECORD)
def record_command(
    answer: Annotated[int, typer.Argument(help="Number of the answer.")],
    kind: Annotated[str, typer.Option(help="helpful, wrong, missing, better_source or wrong_route.")],
    sentence: Annotated[int | None, typer.Option(help="About this sentence of it.")] = None,
    citation: Annotated[int | None, typer.Option(help="About this quote of it.")] = None,
    value: Annotated[
        int | None, typer.Option(help="1 or 2 for helpful, -1 or -2 for the others; unset = 1 or -1.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="In your own words, for the operator.")] = None,
    better_url: Annotated[str | None, typer.Option(help="A stored page that answers; with --quote.")] = None,
    quote: Annotated[str | None, typer.Option(help="What it says, letter for letter in its Markdown.")] = None,
    version: Annotated[int | None, typer.Option(help="Version of that page; unset = the current one.")] = None,
    span: Annotated[
        tuple[int, int] | None, typer.Option(help="Instead of --quote: offsets in --version, START END.")
    ] = None,
    actor: Annotated[str | None, typer.Option(help="Who says so; unset = you, as operator.")] = None,
    as_json: Json = False,
) -> None:
    """Say what is right or wrong about an answer. A better source is checked against the stored page at once."""
    from webrag_core.feedback.models import Better, NewFeedback
    from webrag_core.feedback.store import record

    if better_url is None and (quote is not None or version is not None or span is not None):
        raise InvalidInputError("--quote, --version and --span need --better-url")
    start, end = span or (None, None)
    better = None if better_url is None else Better(better_url, quote, version, start, end)
    new = NewFeedback(
        answer_id=answer,
        kind=kind,
        actor=getpass.getuser() if actor is None else actor,
        actor_kind="operator" if actor is None else "person",
        sentence=sentence,
        citation=citation,
        value=value,
        text=text,
        better=better,
    )
    new.check()

    stored = on_database(lambda database: record(database, new))
    if as_json:
        print_json(stored)
        return
    print_line(f"Feedback {stored.id} on answer {stored.answer_id}: {stored.kind} ({stored.value:+d})")
    if stored.suggested is not None:
        where = f"{stored.suggested.url} version {stored.suggested.version}"
        print_line(f"Stands in {where}, characters {stored.suggested.char_start}–{stored.suggested.char_end}")
        print_line(f"`webrag feedback accept {stored.id}` makes it a golden question")


feedback_app.command("gap")(golden_gap)


@feedback_app.command("list")
def list_command(
    answer: Annotated[int | None, typer.Option(help="Only on this answer.")] = None,
    state: Annotated[str | None, typer.Option(help="Only new, accepted or rejected.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum rows, the newest first.")] = 50,
    as_json: Json = False,
) -> None:
    """List feedback, the newest first."""
    from typing import get_args

    from webrag_core.feedback.models import State
    from webrag_core.feedback.store import list_feedback

    known: State | None = next((item for item in get_args(State) if item == state), None)
    if state is not None and known is None:
        raise InvalidInputError(f"--state is {', '.join(get_args(State))}")

    rows = on_database(lambda database: list_feedback(database, answer_id=answer, state=known, limit=limit))
    if as_json:
        print_json({"feedback": [row.model_dump(mode="json") for row in rows]})
        return
    print_table(
        ("id", "answer", "about", "kind", "value", "state", "weight", "who", "says"),
        (
            (
                row.id,
                row.answer_id,
                _about(row),
                row.kind,
                f"{row.value:+d}",
                row.state,
                f"{row.weight:g}",
                f"{row.actor} ({row.actor_kind})",
                _says(row),
            )
            for row in rows
        ),
    )


@feedback_app.command()
def accept(ids: Ids, as_json: Json = False) -> None:
    """Accept feedback: it counts, and a better source becomes evidence of a golden question."""
    _decide(ids, accepted=True, as_json=as_json)


@feedback_app.command()
def reject(ids: Ids, as_json: Json = False) -> None:
    """Reject feedback: it counts nothing, and is removed by `webrag prune` in the end."""
    _decide(ids, accepted=False, as_json=as_json)


@feedback_app.command()
def goldens(as_json: Json = False) -> None:
    """Write the golden questions of what is accepted, and say how to evaluate on them."""
    from webrag_core.feedback.goldens import GoldenFiles, write_goldens
    from webrag_core.store.database import Database

    async def work() -> GoldenFiles:
        settings = load_settings()
        async with await Database.open(settings) as database:
            return await write_goldens(database, settings)

    files = asyncio.run(work())
    command = f"webrag eval retrieval --questions {files.questions} --documents {files.documents}"
    if as_json:
        paths = {"questions": str(files.questions), "documents": str(files.documents)}
        print_json({**paths, "golden_questions": files.golden_questions, "pages": files.pages, "evaluate": command})
        return
    questions, pages = counted(files.golden_questions, "golden question"), counted(files.pages, "page")
    print_line(f"{questions} among {pages}: {files.questions}")
    if files.golden_questions:
        print_line(command)


@feedback_app.command()
def withdraw(as_json: Json = False) -> None:
    """Go back to the weights that were in force before the last release."""
    from webrag_core.feedback.releases import withdraw as go_back
    from webrag_core.retrieval.weights import SHIPPED

    weights = go_back(load_settings(), by=getpass.getuser())
    if as_json:
        print_json({"weights": weights.by_name(), "digest": weights.digest, "is_shipped": weights == SHIPPED})
        return
    out.print("in force: " + ("the weights that ship" if weights == SHIPPED else f"release {weights.digest}"))


def _decide(ids: list[int], *, accepted: bool, as_json: bool) -> None:
    from webrag_core.feedback.goldens import write_goldens
    from webrag_core.feedback.store import decide
    from webrag_core.store.database import Database

    async def work() -> list[Feedback]:
        settings = load_settings()
        async with await Database.open(settings) as database:
            rows = await decide(database, ids, accept=accepted)
            await write_goldens(database, settings)
            return rows

    rows = asyncio.run(work())
    if as_json:
        print_json({"feedback": [row.model_dump(mode="json") for row in rows]})
        return
    for row in rows:
        print_line(f"Feedback {row.id}: {row.state}, weight {row.weight:g}")


def _about(feedback: Feedback) -> str:
    if feedback.sentence is not None:
        return f"sentence {feedback.sentence}"
    return "all of it" if feedback.citation is None else f"quote {feedback.citation}"


def _says(feedback: Feedback) -> str:
    source = (
        ""
        if feedback.suggested is None
        else f"{feedback.suggested.url}: {' '.join(feedback.suggested.quote.split())[:80]}"
    )
    return "; ".join(part for part in (source, (feedback.text or "")[:80]) if part)
