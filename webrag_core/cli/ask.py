"""`webrag ask|plan`: an answer in prose, every sentence with its proof, and what would be done for it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webrag_core.cli.addresses import way_out, with_scheme
from webrag_core.cli.database import begin_to_open, on_corpus
from webrag_core.cli.files import HtmlFile, MarkdownFile, Proof, write_readable
from webrag_core.cli.output import (
    NOT_ANSWERED,
    FailUnlessAnswered,
    Intents,
    Json,
    Time,
    check_time,
    check_writable,
    complain,
    console,
    only_here,
    print_json,
    print_line,
)
from webrag_core.cli.progress import Show, show_progress
from webrag_core.cli.wanted_evidence import Constraints, Intent, MaxAge, Since, Until, Years, seconds_of
from webrag_core.errors import GuardrailsViolationError, InvalidInputError, WebragError

if TYPE_CHECKING:
    from webrag_core.answering.models import Answer
    from webrag_core.application.operations import Ask
    from webrag_core.application.services import Services
    from webrag_core.history.models import TimeAxis

Forms = Literal["explain", "steps", "compare", "lookup", "list", "timeline"]
"""As `routing.question.Form`, in that order, which is not imported for help alone."""
Urls = Annotated[
    list[str] | None,
    typer.Option("--url", metavar="URL", help="A page to start from; repeatable. Unset = what is stored."),
]
Sources = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="SOURCE", help="A stored source to ask; repeatable. Unset = all."),
]
At = Annotated[
    str | None, typer.Option("--at", metavar="DATE", help="Answer from what the pages said then (2024-05-17).")
]
Form = Annotated[Forms | None, typer.Option("--form", help="Form of the answer; unset = as the question wants it.")]
Follows = Annotated[
    int | None,
    typer.Option(
        "--follows", metavar="ID", help="The answer that the question goes on from: its question completes it."
    ),
]
Carry = Annotated[
    bool, typer.Option("--carry/--no-carry", help="With --follows: carry words of the earlier question over.")
]
Budget = Annotated[int | None, typer.Option("--budget", help="Maximum rounds of following links; 0 = none.")]


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    url: Urls = None,
    source: Sources = None,
    at: At = None,
    time: Time = "seen",
    since: Since = None,
    until: Until = None,
    year: Years = None,
    form: Form = None,
    budget: Budget = None,
    intent: Intent = None,
    constraint: Constraints = None,
    max_age: MaxAge = None,
    follows: Follows = None,
    carry: Carry = True,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Without an answer: print all of the nearest passages.")
    ] = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="One JSON object a line while the answer comes into being.")
    ] = False,
    proof: Proof = False,
    fail_unless_answered: FailUnlessAnswered = False,
    as_json: Json = False,
) -> None:
    """Answer in sentences of the pages, each proved by its quote.

    Without --url, and with dates (--at, --since, --until, --year), nothing
    is fetched: the answer comes from what is stored. A page's date is its
    last modification, else its publication. `webrag plan` shows beforehand what would be done.
    """
    if as_json and stream:
        raise InvalidInputError("--json prints one object, --stream one a line: choose one of them")
    for file in filter(None, (html, markdown)):
        check_writable(file)
    if stream:
        only_here()

    def answered(show: Show) -> Answer:
        begin_to_open(reads=True)
        import_module("webrag_core.answering.manager")  # while the database starts
        from webrag_core.answering.events import Done

        wanted = question_of(
            question,
            url,
            source,
            at,
            time,
            budget,
            form,
            intent,
            constraint,
            max_age,
            since,
            until,
            year,
            follows,
            carry,
        )

        async def work(services: Services) -> Answer:
            show("stored", None)
            if not stream:
                return await wanted.run(services, show)
            async for event in wanted.stream(services):
                print_json(event)
                sys.stdout.flush()
            assert isinstance(event, Done)
            return event.answer

        return on_corpus(work, "answer")

    try:
        with show_progress() as show:
            answer = answered(show)
    except WebragError as error:
        if not as_json and not stream:
            raise
        status = "blocked" if isinstance(error, GuardrailsViolationError) else "failed"
        message = error.message + way_out(error.code)
        print_json({"status": status, "error": {"code": error.code, "message": message}})
        complain(f"error: {message} [{error.code}]", style="red")
        raise typer.Exit(error.exit_code) from error
    try:
        write_readable(answer, html, markdown)
    except InvalidInputError as error:
        number = answer.answer_id
        raise InvalidInputError(f"{error.message}; the answer is stored: webrag answers show {number}") from error
    if as_json:
        print_json(answer)
    elif not stream:
        print_prose(answer, show_all=show_all, proof=proof)
    if fail_unless_answered and answer.status != "answered":
        raise typer.Exit(NOT_ANSWERED)


def plan(
    question: Annotated[str, typer.Argument(help="The question.")],
    url: Urls = None,
    source: Sources = None,
    at: At = None,
    time: Time = "seen",
    since: Since = None,
    until: Until = None,
    year: Years = None,
    form: Form = None,
    budget: Budget = None,
    intent: Intent = None,
    constraint: Constraints = None,
    max_age: MaxAge = None,
    follows: Follows = None,
    carry: Carry = True,
    as_json: Json = False,
) -> None:
    """Show how `ask` would answer: agents, tasks, limits. Run nothing."""
    from webrag_core.showing.plan_lines import limits_line, plan_lines
    from webrag_core.showing.wording import sentence_case

    wanted = question_of(
        question, url, source, at, time, budget, form, intent, constraint, max_age, since, until, year, follows, carry
    )

    made = on_corpus(wanted.plan)
    if as_json:
        print_json(made)
        return
    print_line(made.question, style="bold")
    print_line(f"{sentence_case(made.rationale)}", style="dim")
    for line in plan_lines(made):
        print_line(f"  {line}")
    if len(made.parts) > 1:
        print_line(f"Parts: {' | '.join(made.parts)}")
    print_line(f"Made by {made.made_by}; {limits_line(made)}. Nothing was run.", style="dim")
    for warning in made.warnings:
        print_line(f"Warning: {warning}", style="yellow")


def question_of(
    text: str,
    url: list[str] | None,
    source: list[str] | None,
    at: str | None,
    time: TimeAxis,
    budget: int | None,
    form: Forms | None = None,
    intent: Intents | None = None,
    constraint: list[str] | None = None,
    max_age: str | None = None,
    since: str | None = None,
    until: str | None = None,
    year: list[int] | None = None,
    follows: int | None = None,
    carry: bool = True,
) -> Ask:
    """The operation that options describe. Raises InvalidInputError, also for --time without --at."""
    from webrag_core.application.operations import Ask

    check_time(time, at)
    return Ask.of(
        question=text,
        urls=tuple(map(with_scheme, url or ())),
        sources=tuple(source or ()),
        at=at,
        time=time,
        since=since,
        until=until,
        years=tuple(year or ()),
        expansion_budget=budget,
        form=form,
        intent=intent,
        constraints=tuple(constraint or ()),
        max_age=seconds_of(max_age),
        follows=follows,
        carry=carry,
    )


def print_prose(answer: Answer, *, show_all: bool = False, proof: bool = False) -> None:
    """Print an answer; of its passages the first, unless `show_all`."""
    from webrag_core.showing.terminal import print_view
    from webrag_core.showing.view import view

    more = f"webrag answers show {answer.answer_id} --all"
    print_view(view(answer), console(), show_all=show_all, proof=proof, more=more)
